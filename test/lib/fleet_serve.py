#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_serve.py numbers TEEPERF FLEET URL TRACE...: answers of 'fleet serve' against 'fleet query'
and 'analyze' of the traces, which are those of fleet_questions.py. fleet_serve.py hostile URL:
requests that are to be refused. fleet_serve.py slow URL: clients that do not end their requests
hold up others for a time only."""

import collections
import csv
import io
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import many


def wanted(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def get(url, **headers):
    """Status and body."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def run(*arguments):
    return many.run_quick(arguments, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()


def numbers(teeperf, fleet, url, traces):
    def ask(path, *words):
        status, text = get(url + "api/" + path + "?" + urllib.parse.urlencode(words))
        wanted(status == 200, path, words, status, text)
        return json.loads(text)

    def query(*arguments):
        return json.loads(run(teeperf, "fleet", "query", "--format", "json", *arguments))

    # Runs are those of the table.
    runs = query("--sql", "SELECT run_id, day, program, host, git_revision, labels, start_unix_ns, "
                 "duration_ns, self_ns, calls, events FROM runs ORDER BY start_unix_ns, run_id",
                 fleet)
    served = ask("runs")
    wanted([{key: row[key] for key in runs[0]} for row in served["runs"]] == runs, "runs:",
           served["runs"][:2], runs[:2])
    wanted(len(runs) == len(traces) and served["left_out"] == 0, "runs:", len(runs), len(traces))

    # Functions: 'fleet query top', and the sum of 'analyze'.
    for words, arguments in (((), ()), ([("a.program", "worse")], ("--param", "program=worse"))):
        top = query("--param", "most=1000", *arguments, fleet, "top")
        found = ask("functions", *words)["functions"]
        wanted([(int(row["fn_key"]), row["function"], row["runs"], row["calls"],
                 row["self_ns"], row["cpu_ns"], row["cpu_percent"]) for row in found] ==
               [(row["fn_key"], row["function"], row["runs"], row["calls"],
                 row["self_ns"], row["cpu_ns"], row["cpu_percent"]) for row in top],
               "functions:", words, found, top)
    sums = collections.Counter()
    for trace in traces:
        for row in csv.DictReader(io.StringIO(run(teeperf, "analyze", "--format", "csv", trace))):
            for key in ("calls", "self_ns", "inclusive_ns"):
                sums[row["function"], key] += int(row[key])
    found = collections.Counter()
    for row in ask("functions")["functions"]:
        for key in ("calls", "self_ns", "inclusive_ns"):
            found[row["function"], key] += row[key]
    wanted(found == sums, "functions of all runs:", found, sums)
    wanted([row["function"] for row in ask("functions", ("search", "look"))["functions"]] ==
           ["lookup"], "search")
    wanted(ask("functions", ("most", "1"))["left_out"] == len(ask("functions")["functions"]) - 1,
           "most")

    # How sets are chosen.
    def count(*words):
        return ask("functions", *[("a." + name, value) for name, value in words])["runs"]

    first = [row["run_id"] for row in runs if row["git_revision"] == "first"]
    wanted(count(("build", "first")) == count(("host", "one")) == count(("day", "2023-11-14")) ==
           len(first) == 16, "sets of 16")
    wanted(count(("label", "environment=canary")) == 16 and
           count(("label", "environment=can")) == 0, "labels")
    wanted(count(("day", "2023-11-01..2023-11-30")) == 32 and
           count(("day", "2023-11-16..2023-11-30")) == 0, "days")
    wanted(count(("build", "first"), ("program", "same")) == 8 and
           count(("program", "same"), ("program", "worse")) == 32, "several")
    wanted(count(("run", first[0]), ("run", first[1])) == 2 and count(("not", first[0])) == 31,
           "by hand")
    wanted(count(("host", "two"), ("run", first[0])) == 17 and
           count(("host", "one"), ("not", first[0])) == 15, "by hand besides")

    # Two sets: 'fleet query regressions'.
    old = [("a.program", "worse"), ("a.build", "first")]
    new = [("b.program", "worse"), ("b.build", "second")]
    regressions = query("--param", "program=worse", fleet, "regressions")
    found = [row for row in ask("compare", *old, *new)["functions"] if row["verdict"] == "slower"]
    wanted(len(found) == len(regressions) == 1, "compare:", found, regressions)
    for key in ("function", "old_runs", "new_runs", "old_ns", "new_ns", "percent", "t", "df",
                "t_needed"):
        same = found[0][key] == regressions[0][key]
        wanted(same or abs(found[0][key] - regressions[0][key]) < 0.11, "compare:", key, found[0],
               regressions[0])
    wanted(found[0]["fn_key"] == str(regressions[0]["fn_key"]), "compare: key")
    back = ask("compare", *[("b" + name[1:], value) for name, value in old],
               *[("a" + name[1:], value) for name, value in new])
    wanted([row["function"] for row in back["functions"] if row["verdict"] == "faster"] ==
           ["lookup"], "compare, the other way:", back)
    wanted(not [row for row in ask("compare", *old, *new, ("least", "40"))["functions"]
                if row["verdict"] in ("slower", "faster")], "least")
    few = ask("compare", ("a.run", first[0]), *new)
    wanted(few["tested"] == 0 and {row["verdict"] for row in few["functions"]} <=
           {"few runs", "new", "gone"}, "few runs:", few)

    # A function's history.
    key = regressions[0]["fn_key"]
    history = ask("history", ("a.program", "worse"), ("function", key))
    days = query("--param", "function=lookup", "--param", "program=worse", fleet, "p99")
    wanted([(row["day_utc"], row["calls"], row["quantile_ns"]) for row in history["days"]] ==
           [(row["day_utc"], row["calls"], row["quantile_ns"])
            for row in days if row["fn_key"] == key], "days:", history["days"], days)
    rows = query("--sql", "SELECT run_id, calls, timed_calls, self_ns, max_ns FROM functions "
                 "WHERE fn_key = %d AND program = 'worse' ORDER BY run_id" % key, fleet)
    by_id = sorted(history["runs"], key=lambda row: row["run_id"])
    wanted([{name: row[name] for name in rows[0]} for row in by_id] == rows, "history:", by_id[:2],
           rows[:2])
    for row in by_id:
        wanted(abs(row["self_ns_a_call"] - row["self_ns"] / row["timed_calls"]) <= 0.051,
               "self time a call:", row)
        exact = query("--sql", "WITH s AS (SELECT value_ns, sum(calls) OVER (ORDER BY "
                      "value_ns) AS below, sum(calls) OVER () AS n FROM histograms "
                      "WHERE run_id = '%s' AND fn_key = %d) SELECT min(value_ns) AS p FROM s "
                      "WHERE below >= ceil(0.99 * n)" % (row["run_id"], key), fleet)
        wanted(row["quantile_ns"] == exact[0]["p"], "p99 of a run:", row, exact)

    # The flame graph: paths as chains of names.
    def chains(answer, calls, own):
        paths, names, found = answer["paths"], answer["functions"]["name"] + ["(smaller)"], {}
        chain = {0: ()}
        for i in range(1, len(paths["parent"])):
            chain[i] = chain[paths["parent"][i]] + (names[paths["fn"][i]],)
            found[chain[i]] = (paths[calls][i], paths[own][i])
        return found

    def exact(where):
        rows = query("--sql", "SELECT p.path_key, p.parent_key, f.function, s.calls, s.self_ns "
                     "FROM (SELECT DISTINCT path_key, parent_key, fn_key "
                     "FROM paths) p JOIN (SELECT fn_key, max(function) AS function "
                     "FROM functions GROUP BY fn_key) f ON f.fn_key = p.fn_key "
                     "JOIN (SELECT path_key, sum(calls) AS calls, sum(self_ns) AS self_ns "
                     "FROM profile WHERE run_id IN (SELECT run_id FROM runs WHERE %s) "
                     "GROUP BY path_key) s ON s.path_key = p.path_key" % where, fleet)
        by_key = {row["path_key"]: row for row in rows}

        def name(key):
            return name(by_key[key]["parent_key"]) + (by_key[key]["function"],) if key else ()
        return {name(row["path_key"]): (row["calls"], row["self_ns"]) for row in rows}

    for words, where in (((("a.program", "same"),), "program = 'same'"),
                         (old, "program = 'worse' AND git_revision = 'first'")):
        answer = ask("flame", *words, ("least", "0"))
        wanted(chains(answer, "calls", "self") == exact(where), "flame graph:", where,
               answer["paths"], exact(where))
        wanted(answer["pruned"]["paths"] == 0, "nothing is pruned")
        functions = answer["functions"]
        wanted(sum(functions["self_ns"]) == sum(answer["paths"]["self"]),
               "self times of functions and paths")
        wanted([sum(counts[1::2]) for counts in functions["histogram"]] == functions["timed_calls"],
               "histograms")
        light = ask("flame", *words, ("least", "0.2"))
        wanted(0 < light["pruned"]["paths"] < light["pruned"]["all"] and
               light["pruned"]["share"] > 0, "pruned:", light["pruned"])
        wanted(sum(light["paths"]["self"]) == sum(answer["paths"]["self"]),
               "pruning changes no sum")
        kept = {chain: row for chain, row in chains(light, "calls", "self").items()
                if chain[-1] != "(smaller)"}
        wanted(kept.items() <= exact(where).items() and len(kept) ==
               light["pruned"]["all"] - light["pruned"]["paths"], "what is left:", kept)
        one = ask("flame", *words, ("least", "0"), ("most", "2"))
        wanted(len(one["paths"]["fn"]) <= 1 + 2 + 2, "most:", one["paths"])
    # Of two, means of a run.
    both = ask("flame", *old, *new, ("least", "0"))
    for calls, own, where in (("calls", "self", "second"), ("baseCalls", "baseSelf", "first")):
        sums = exact("program = 'worse' AND git_revision = '%s'" % where)
        for chain, (n, ns) in chains(both, calls, own).items():
            of_all = sums.get(chain, (0, 0))
            wanted(abs(n - of_all[0] / 8) <= 0.051 and abs(ns - of_all[1] / 8) <= 0.051,
                   "difference:", chain, n, ns, of_all)
    print("%d runs agree" % len(runs))


def raw(url, request, most=300):
    """The first line of the answer to these bytes; empty: none came."""
    place = urllib.parse.urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=most) as connection:
        try:
            connection.sendall(request)
            answer = b""
            while b"\r\n" not in answer:
                more = connection.recv(4096)
                if not more:
                    break
                answer += more
        except (ConnectionResetError, BrokenPipeError):
            return ""
    return answer.split(b"\r\n")[0].decode("latin-1")


def hostile(url):
    port = urllib.parse.urlsplit(url).port
    host = "Host: 127.0.0.1:%d\r\n" % port
    wanted(" 200 " in raw(url, ("GET / HTTP/1.1\r\n%s\r\n" % host).encode()), "a plain request")
    wanted(" 200 " in raw(url, ("GET / HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port).encode()),
           "localhost")
    for name in ("evil.example", "evil.example:%d" % port, "127.0.0.1", "127.0.0.1:1",
                 "127.0.0.1.evil.example:%d" % port, "localhost.:%d" % port, "",
                 "[::1:%d" % port, "10.0.0.1:%d" % port):
        line = raw(url, ("GET /api/runs HTTP/1.1\r\nHost: %s\r\n\r\n" % name).encode())
        wanted(" 421 " in line or " 400 " in line, "Host:", name, line)
    wanted(" 400 " in raw(url, b"GET / HTTP/1.1\r\n\r\n"), "no Host")
    line = raw(url, ("GET / HTTP/1.1\r\n%sHost: evil.example\r\n\r\n" % host).encode())
    wanted(" 421 " in line or " 400 " in line, "two hosts", line)
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "FROB"):
        line = raw(url, ("%s /api/runs HTTP/1.1\r\n"
                         "%sContent-Length: 0\r\n\r\n" % (method, host)).encode())
        wanted(" 405 " in line, method, line)
    for path in ("/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd",
                 "/api/../api/runs", "/fleet/runs", "/api/runs/", "/%00", "/set%00.js", "/api",
                 "/report.css/..", "\\..\\"):
        line = raw(url, ("GET %s HTTP/1.1\r\n%s\r\n" % (path, host)).encode())
        wanted(" 404 " in line or " 400 " in line, path, line)
    long = raw(url, ("GET /api/runs?%s HTTP/1.1\r\n%s\r\n" % ("a" * 1000000, host)).encode())
    wanted(" 41" in long or " 43" in long or not long, "a long address:", long)
    long = raw(url, ("GET / HTTP/1.1\r\n%sX: %s\r\n\r\n" % (host, "a" * 1000000)).encode())
    wanted(" 4" in long or not long, "a long header:", long)
    for count in (5000, 20000, 40000):
        many = raw(url, ("GET /api/runs?%s HTTP/1.1\r\n%s\r\n" %
                         ("&".join(["a.run=1"] * count), host)).encode())
        wanted(" 414 " in many, "many arguments:", many)
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200),
                         ("none", 200)):
        wanted(get(url + "api/runs", **{"Sec-Fetch-Site": site})[0] == status, "asked for by", site)
    wanted(get(url, **{"Sec-Fetch-Site": "cross-site"})[0] == 200, "a link to the page")
    for query, status in (("functions?a.day=yesterday", 400), ("functions?a.colour=red", 400),
                          ("functions?a.run=../../etc/passwd", 404), ("functions?most=-1", 400),
                          ("functions?most=99999999999999999999", 400),
                          ("functions?a.label=x", 400), ("history", 400),
                          ("history?function=x", 400), ("history?function=1", 404),
                          ("history?function=99999999999999999999", 400), ("compare", 400),
                          ("compare?b.all=1&least=nan", 400), ("flame?least=2", 400),
                          ("flame?most=999999999", 400), ("history?function=1&quantile=7", 400)):
        found, text = get(url + "api/" + query)
        wanted(found == status and json.loads(text)["error"], query, found, text)
    # Sets without runs are no error.
    for query in ("functions?a.program=%27%22%3Cb%3E", "flame?a.host=none",
                  "compare?a.host=none&b.host=none", "flame?a.host=none&b.all=1"):
        found, text = get(url + "api/" + query)
        wanted(found == 200 and json.loads(text), query, found, text)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url) as answer:
        policy = answer.headers["Content-Security-Policy"]
    for word in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
                 "base-uri 'none'"):
        wanted(word in policy, "policy:", policy)
    wanted("unsafe" not in policy and "*" not in policy, "policy:", policy)
    print("all were refused")


def slow(url):
    """More clients than there are places, none of which ends its request."""
    place = urllib.parse.urlsplit(url)
    clients, status = [], None
    for i in range(80):
        client = socket.create_connection((place.hostname, place.port), timeout=300)
        try:
            client.sendall(b"GET / HTTP/1.1\r\nHost: 127" if i % 2 else b"")
        except OSError:
            pass
        clients.append(client)
    # Whoever comes when all places are taken is turned away, but not for long.
    for _ in range(2400):
        try:
            status, _ = get(url)
            break
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    wanted(status == 200, "beside slow clients:", status)
    for client in clients:
        client.close()
    print("answered")


if sys.argv[1] == "numbers":
    numbers(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
else:
    {"hostile": hostile, "slow": slow}[sys.argv[1]](sys.argv[2])
