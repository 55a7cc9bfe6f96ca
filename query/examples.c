// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queries that come with us: teeperf query --example. docs/queries.md shows what they print.
#include "query/query.h"

// The function in question: the one that was asked for, else the one with the most self time.
#define FUNCTION "coalesce(:function, (SELECT name FROM functions ORDER BY self DESC, fn LIMIT 1))"

const char *const tp_query_example_parameters[] = {"function", "depth", "bucket", NULL};

const struct tp_query_example tp_query_examples[] = {
    {"thread-functions", "which thread called which function how often?",
	"SELECT t.tid, t.name AS thread, f.name AS function, sum(tp.calls) AS calls,\n"
	"       sum(tp.self) AS self_ns\n"
	"FROM thread_paths tp JOIN paths p ON p.path = tp.path\n"
	"     JOIN functions f ON f.fn = p.fn JOIN threads t ON t.tid = tp.tid\n"
	"GROUP BY t.tid, f.fn ORDER BY calls DESC, t.tid, f.fn LIMIT 20;\n"},
    {"top", "where did the time go?",
	"SELECT name, calls, self AS self_ns, inclusive AS inclusive_ns,\n"
	"       round(100.0 * self / (SELECT sum(self) FROM functions), 1) AS percent\n"
	"FROM functions ORDER BY self DESC, fn LIMIT 10;\n"},
    {"latency", "which functions have slow calls?",
	"SELECT f.name, l.calls, l.p50, l.p90, l.p99, l.p999, l.max\n"
	"FROM latencies l JOIN functions f ON f.fn = l.fn\n"
	"ORDER BY l.p99 DESC, l.fn LIMIT 10;\n"},
    {"latency-by-caller", "does :function take longer when it is called from somewhere else?",
	"SELECT coalesce(pf.name, '(none)') AS caller, count(*) AS calls, pctl(c.dur, 0.5) AS p50,\n"
	"       pctl(c.dur, 0.99) AS p99, max(c.dur) AS max\n"
	"FROM functions f JOIN calls c ON c.fn = f.fn LEFT JOIN calls p ON p.id = c.parent\n"
	"     LEFT JOIN functions pf ON pf.fn = p.fn\n"
	"WHERE f.name = " FUNCTION "\n"
	"GROUP BY pf.fn ORDER BY calls DESC, pf.fn LIMIT 10;\n"},
    {"latency-by-history", "on which call path does :function take long?",
	"WITH RECURSIVE slow AS MATERIALIZED (\n"
	"  SELECT c.path, count(*) AS calls, sum(c.dur) AS total_ns, pctl(c.dur, 0.99) AS p99\n"
	"  FROM functions f JOIN calls c ON c.fn = f.fn\n"
	"  WHERE f.name = " FUNCTION "\n"
	"  GROUP BY c.path ORDER BY total_ns DESC, c.path LIMIT 10),\n"
	"history(path, at, names) AS (\n"
	"  SELECT s.path, p.parent, substr(f.name, 1, 200)\n"
	"  FROM slow s JOIN paths p ON p.path = s.path JOIN functions f ON f.fn = p.fn\n"
	"  UNION ALL\n"
	"  SELECT h.path, p.parent, substr(f.name, 1, 200) || ' > ' || h.names\n"
	"  FROM history h JOIN paths p ON p.path = h.at JOIN functions f ON f.fn = p.fn\n"
	"  WHERE length(h.names) < 200)\n"
	"SELECT s.path, s.calls, s.total_ns, s.p99,\n"
	"       (SELECT iif(h.at > 0, '... > ', '') || h.names FROM history h WHERE h.path = s.path\n"
	"        ORDER BY length(h.names) DESC LIMIT 1) AS history\n"
	"FROM slow s ORDER BY s.total_ns DESC, s.path;\n"},
    {"inside", "what was the time inside of :function spent on?",
	"SELECT x.name, sum(tp.calls) AS calls, sum(tp.self) AS self_ns\n"
	"FROM functions y CROSS JOIN paths py ON py.fn = y.fn AND py.rec = 0\n"
	"     CROSS JOIN thread_paths tp ON tp.path BETWEEN py.path AND py.last\n"
	"     JOIN paths px ON px.path = tp.path JOIN functions x ON x.fn = px.fn\n"
	"WHERE y.name = coalesce(:function,\n"
	"      (SELECT name FROM functions ORDER BY inclusive DESC, fn LIMIT 1))\n"
	"GROUP BY x.fn ORDER BY self_ns DESC, x.fn LIMIT 10;\n"},
    {"redundant-callees", "which calls are made again and again by one call of their caller?",
	"SELECT pf.name AS caller, f.name AS callee, sum(p.calls) AS calls,\n"
	"       round(1.0 * sum(p.calls) / sum(pp.calls), 3) AS per_call, sum(p.total) AS total_ns\n"
	"FROM paths p JOIN functions f ON f.fn = p.fn JOIN paths pp ON pp.path = p.parent\n"
	"     JOIN functions pf ON pf.fn = pp.fn\n"
	"GROUP BY pp.fn, p.fn HAVING sum(p.calls) > sum(pp.calls)\n"
	"ORDER BY total_ns DESC, pp.fn, p.fn LIMIT 10;\n"},
    {"contention", "were two threads in :function at once, and for how long?",
	"SELECT a.tid AS one, b.tid AS other, count(*) AS times,\n"
	"       sum(min(a.t1, b.t1) - max(a.t0, b.t0)) AS overlap_ns\n"
	"FROM functions f JOIN calls a ON a.fn = f.fn AND a.rec = 0\n"
	"     JOIN threads t ON t.tid > a.tid\n"
	"     JOIN calls b ON b.tid = t.tid AND b.fn = a.fn AND b.rec = 0 AND b.t0 < a.t1 AND b.t1 > a.t0\n"
	"WHERE f.name = " FUNCTION "\n"
	"GROUP BY a.tid, b.tid ORDER BY overlap_ns DESC, one, other LIMIT 20;\n"},
    {"concurrency", "for how long were how many threads in :function?",
	"WITH e(t, d) AS (\n"
	"  SELECT c.t0, 1 FROM functions f JOIN calls c ON c.fn = f.fn AND c.rec = 0\n"
	"  WHERE f.name = " FUNCTION "\n"
	"  UNION ALL\n"
	"  SELECT c.t1, -1 FROM functions f JOIN calls c ON c.fn = f.fn AND c.rec = 0\n"
	"  WHERE f.name = " FUNCTION ")\n"
	"SELECT level AS threads, sum(next - t) AS ns FROM (\n"
	"  SELECT t, sum(d) OVER (ORDER BY t, d ROWS UNBOUNDED PRECEDING) AS level,\n"
	"         lead(t) OVER (ORDER BY t, d) AS next FROM e)\n"
	"WHERE next IS NOT NULL GROUP BY level ORDER BY level;\n"},
    {"outliers", "which calls were the slowest, and did others do the same meanwhile?",
	"SELECT c.id, f.name, c.tid, c.t0, c.dur,\n"
	"       (SELECT count(*) FROM threads t JOIN calls o\n"
	"          ON o.tid = t.tid AND o.fn = c.fn AND o.t0 < c.t1 AND o.t1 > c.t0\n"
	"        WHERE t.tid <> c.tid) AS elsewhere\n"
	"FROM (SELECT id, fn, tid, t0, t1, dur FROM calls WHERE depth > coalesce(:depth, 1)\n"
	"      ORDER BY dur DESC, id LIMIT 10) c JOIN functions f ON f.fn = c.fn\n"
	"ORDER BY c.dur DESC, c.id;\n"},
    {"phases", "what did the program do when? (:bucket ns at a time)",
	"WITH w(ns) AS (SELECT coalesce(:bucket, CAST(value AS INTEGER) / 20 + 1)\n"
	"               FROM meta WHERE key = 'duration_ns')\n"
	"SELECT c.t0 - c.t0 % w.ns AS t, f.name, count(*) AS calls, sum(c.self_raw) AS self_ns\n"
	"FROM w, functions f JOIN calls c ON c.fn = f.fn\n"
	"WHERE f.fn IN (SELECT fn FROM functions ORDER BY self DESC, fn LIMIT 5)\n"
	"GROUP BY t, f.fn ORDER BY t, self_ns DESC, f.fn;\n"},
    {"diff", "what has become slower since the trace of --attach b=FILE?",
	"SELECT name, sum(b) AS before_ns, sum(a) AS now_ns, sum(a) - sum(b) AS delta_ns,\n"
	"       sum(b_calls) AS calls_before, sum(a_calls) AS calls_now\n"
	"FROM (SELECT name, self AS a, 0 AS b, calls AS a_calls, 0 AS b_calls FROM main.functions\n"
	"      UNION ALL SELECT name, 0, self, 0, calls FROM b.functions)\n"
	"GROUP BY name ORDER BY abs(sum(a) - sum(b)) DESC, name LIMIT 20;\n"},
    {0},
};
