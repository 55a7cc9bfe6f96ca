#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the call graph of a report with what export --format dot wrote of the same trace.

report_graph.py REPORT DOT LEFT: LEFT, functions that are too light for both. Nodes and edges are to
be the same, with the same calls and times, and each has its place: nodes beside one another, edges
that begin and end at their nodes.
"""
import json
import re
import sys

import report_data
from report_data import check

TEXT = r'"((?:[^"\\]|\\.)*)"'


def read_dot(path):
    names, nodes, edges = {}, {}, {}
    for line in open(path, encoding="utf-8"):
        node = re.match(rf"\tn(\d+) \[label={TEXT}, tooltip={TEXT}, .*calls=(\d+)(?:, "
                        rf"self_ns=(\d+), inclusive_ns=(\d+))?\];", line)
        edge = re.match(rf"\tn(\d+) -> n(\d+) \[label={TEXT}.* calls=(\d+)(?:, "
                        rf"inclusive_ns=(\d+))?\];", line)
        if edge:
            edges[names[edge.group(1)],
                  names[edge.group(2)]] = (int(edge.group(4)), edge.group(5) and int(edge.group(5)))
        elif node:
            name = names[node.group(1)] = re.sub(r"\\(.)", r"\1", node.group(3))
            nodes[name] = tuple(number and int(number) for number in node.groups()[3:])
    return nodes, edges


def is_at(point, node):
    """Whether an edge ends at the border of a node, as far as rounding goes."""
    x, y, width, height = node["at"]
    return abs(point[0] - x) <= width / 2 + 2 and abs(point[1] - y) <= height / 2 + 2


def main():
    report, dot, left = sys.argv[1:]
    with open(report, encoding="utf-8") as file:
        blocks = report_data.read_page(file.read())
    facts, graph = json.loads(blocks["facts"]), json.loads(blocks["graph"])
    functions = facts["functions"]
    nodes, edges = read_dot(dot)
    check("why there is none", graph.get("why"), None)
    names = [functions["name"][node["fn"]] for node in graph["nodes"]]
    timed = facts["unit"] != "calls"
    check("nodes", {name: (functions["calls"][node["fn"]],) + ((functions["self_ns"][
        node["fn"]], functions["inclusive_ns"][node["fn"]]) if timed else (None, None))
                    for name, node in zip(names, graph["nodes"])}, nodes)
    check("edges", {(names[edge["from"]], names[edge["to"]]): (edge["calls"], edge.get("inclusive"))
                    for edge in graph["edges"]}, edges)
    check("functions that are left out", graph["nodes_left"], int(left))
    for edge in graph["edges"]:
        begin, end = graph["nodes"][edge["from"]], graph["nodes"][edge["to"]]
        points = list(zip(edge["at"][::2], edge["at"][1::2]))
        # A first point, and three for each curve.
        check("points of an edge", len(points) % 3, 1)
        check("%s calls %s, and where" % (names[edge["from"]], names[edge["to"]]),
              (is_at(points[0], begin), is_at(points[-1], end)), (True, True))
    for i, one in enumerate(graph["nodes"]):
        for other in graph["nodes"][:i]:
            apart = any(abs(one["at"][k] - other["at"][k]) +
                        0.5 >= (one["at"][k + 2] + other["at"][k + 2]) / 2 for k in (0, 1))
            check("nodes are beside one another", apart, True)
    for line in report_data.failures[:5]:
        print(line[:2000])
    print("%d functions, %d edges" % (len(names), len(graph["edges"])))
    return bool(report_data.failures)


sys.exit(main())
