# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of an experiment: in words and a table what was measured, for everybody; and the data
that its script plots. Results -> HTML."""

import base64
import hashlib
import json
import os
import re

import text
from grid import MEASURED
from text import escape, plural

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")
ROWS_MOST = 2000


def part(name, comment):
    """A file of the page without comments that have lines of their own, and indentation."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        data = re.sub(comment, "", file.read(), flags=re.M)
    return "".join(line.strip() + "\n" for line in data.split("\n") if line.strip())


def digest(data):
    return "sha256-" + base64.b64encode(hashlib.sha256(data.encode()).digest()).decode()


def facts(results, version):
    experiment = results.experiment
    planned = sum(not run.cell.skipped for run in experiment.runs)
    skipped = sum(bool(cell.skipped) for cell in experiment.cells)
    bad = ['<b class="bad">%d %s</b>' % (results.bad[status], status)
           for status in ("failed", "timed out") if results.bad[status]]
    if skipped:
        bad.append('<b class="bad">%s cannot run here</b>' % plural(skipped, "experiment"))
    return "<p>%s; in random order, seed %d; TeePerf %s</p>\n" % (
        ", ".join(["%d of %d runs of %d experiments" % (len(results.items), planned,
                                                        len(experiment.cells)), *bad]),
        experiment.seed, version)


def machine(results):
    """What experiment.tsv says of it."""
    state = results.experiment.read_state()
    words = [escape(state[key]) + (" cores" if key == "cores" else "")
             for key in ("host", "system", "cores", "processor") if key in state]
    return '<p class="dim">%s</p>\n' % "; ".join(words)


def notes(results):
    if not results.notes:
        return ""
    items = []
    for what, (cell, runs, cells) in results.notes.items():
        of = plural(runs, "run") + ", first of" if runs else plural(cells, "experiment") + ", first"
        items.append('<li>%s <span class="dim">(%s %s)</span></li>\n' %
                     (escape(what), of, escape(cell.name)))
    return ("<details open><summary>%s on what was not measured, or limits it</summary>\n<ul>\n"
            "%s</ul></details>\n" % (plural(len(items), "note"), "".join(items)))


def figure(summary):
    if not summary:
        return '<td class="number"></td>'
    shown = text.seconds(summary.median) if summary.unit == "s" else text.size(summary.median)
    if summary.low is not None and summary.median > 0:
        shown += ' <span class="dim">%+.1f %+.1f %%</span>' % (
            (summary.low / summary.median - 1) * 100, (summary.high / summary.median - 1) * 100)
    return '<td class="number">%s</td>' % shown


def cells(results):
    experiment = results.experiment
    good, bad, traced = {}, {}, set()
    for run, of in results.items:
        if run.kind == MEASURED:
            count = good if of.status == "done" else bad
            count[run.cell] = count.get(run.cell, 0) + 1
        elif "trace_bytes" in of.metrics:
            traced.add(run.cell)
    of_cell = {(of.cell, of.metric): of for of in results.summaries}
    out = ["<details%s><summary>%d experiments</summary><div class=\"scroll\"><table>\n"
           "<caption>medians, and how far the ends of their 95&nbsp;%% bootstrap intervals are "
           "from them</caption>\n<tr><th>task</th><th>variant</th>%s<th>runs</th>"
           "<th class=\"number\">wall time</th><th class=\"number\">user time</th>"
           "<th class=\"number\">system time</th><th class=\"number\">peak memory</th>"
           "<th>deep trace</th></tr>\n" % (
               " open" if len(experiment.cells) <= 12 else "", len(experiment.cells),
               "".join("<th>%s</th>" % name for name in experiment.plan.columns))]
    for cell in experiment.cells[:ROWS_MOST]:
        words = [cell.task.name, cell.variant.name, *(value or "" for value in cell.values)]
        if cell.skipped:
            runs = '<td class="bad">not run</td>'
        elif cell in bad:
            runs = '<td class="bad">%d, %d not done</td>' % (good.get(cell, 0), bad[cell])
        else:
            runs = "<td>%d</td>" % good.get(cell, 0)
        out.append("<tr>%s%s%s<td>%s</td></tr>\n" % (
            "".join("<td>%s</td>" % escape(word) for word in words), runs,
            "".join(figure(of_cell.get((cell, name)))
                    for name in ("wall_time", "user_time", "system_time", "max_rss")),
            escape(cell.name) + "/deep-trace/teeperf.trace" if cell in traced else ""))
    out.append("</table></div>")
    if len(experiment.cells) > ROWS_MOST:
        out.append('<p class="dim">%d more are in summary.csv.</p>' %
                   (len(experiment.cells) - ROWS_MOST))
    return "".join(out) + "</details>\n"


def data(results):
    """What the script reads. Nothing in it can end the element that it is in."""
    experiment = results.experiment
    index = {cell: i for i, cell in enumerate(experiment.cells)}
    names = {name: i for i, name in enumerate(results.figures)}
    found = {
        "columns": experiment.plan.columns,
        "figures": [{"name": name, "unit": unit} for name, unit in results.figures.items()],
        "cells": [{"name": cell.name, "task": cell.task.name, "variant": cell.variant.name,
                   "values": cell.values} for cell in experiment.cells],
        "summaries": [[index[of.cell], names[of.metric], len(of.values), of.median, of.low, of.high,
                       of.values[0], of.values[-1], of.values] for of in results.summaries],
    }
    return json.dumps(found, separators=(",", ":")).replace("<", "\\u003c")


def make(results, version):
    script = "'use strict';\n" + "".join(
        part(name + ".js", r"^\s*(?://.*|/\*(?:.|\n)*?\*/)$") for name in ("scale", "plot", "main"))
    style = part("experiment.css", r"^\s*/\*(?:.|\n)*?\*/$")
    before, behind = part("page.html", r"<!-- SPDX.*?-->\n").split("<!--OVERVIEW-->")
    name = escape(os.path.basename(results.experiment.plan.file))
    return "".join((
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" %
        (digest(script), digest(style)),
        "<title>%s \u2013 TeePerf experiment</title>\n<style>%s</style>\n</head>\n<body>\n" %
        (name, style), before, "<h1>%s</h1>\n" % name, facts(results, version), machine(results),
        notes(results), cells(results), behind,
        "<script type=\"application/json\" id=\"data\">%s</script>\n" % data(results),
        "<noscript><p>The plots need JavaScript; summary.csv has their numbers.</p></noscript>\n",
        "<script>%s</script>\n</body>\n</html>\n" % script))
