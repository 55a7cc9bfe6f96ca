// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queries that come with us: teeperf query --example. docs/queries.md shows what they print.
#include "analyzer/query/query.h"

// The function in question: the one that was asked for, else the one with the most self time.
#define FUNCTION \
	"coalesce(:function, (SELECT function FROM functions ORDER BY self_ns DESC, fn LIMIT 1))"

const char *const tp_query_example_parameters[] = {"function", "depth", "bucket", NULL};

const struct tp_query_example tp_query_examples[] = {
    {"thread-functions", "which thread called which function how often?",
	"SELECT t.thread, t.name, f.function, sum(tp.calls) AS calls,\n"
	"       sum(tp.self_ns) AS self_ns\n"
	"FROM thread_paths tp JOIN paths p ON p.path = tp.path\n"
	"     JOIN functions f ON f.fn = p.fn JOIN threads t ON t.thread = tp.thread\n"
	"GROUP BY t.thread, f.fn ORDER BY calls DESC, t.thread, f.fn LIMIT 20;\n"},
    {"top", "where did the time go?",
	"SELECT function, calls, self_ns, inclusive_ns,\n"
	"       round(100.0 * self_ns / (SELECT sum(self_ns) FROM functions), 1) AS percent\n"
	"FROM functions ORDER BY self_ns DESC, fn LIMIT 10;\n"},
    {"latency", "which functions have slow calls?",
	"SELECT f.function, l.timed_calls, l.p50_ns, l.p90_ns, l.p99_ns, l.p999_ns, l.max_ns\n"
	"FROM latencies l JOIN functions f ON f.fn = l.fn\n"
	"ORDER BY l.p99_ns DESC, l.fn LIMIT 10;\n"},
    {"latency-by-caller", "does :function take longer when it is called from somewhere else?",
	"SELECT coalesce(pf.function, '(none)') AS caller, count(*) AS calls, "
	"pctl(c.duration_ns, 0.5) AS p50_ns,\n"
	"       pctl(c.duration_ns, 0.99) AS p99_ns, max(c.duration_ns) AS max_ns\n"
	"FROM functions f JOIN calls c ON c.fn = f.fn LEFT JOIN calls p ON p.id = c.parent\n"
	"     LEFT JOIN functions pf ON pf.fn = p.fn\n"
	"WHERE f.function = " FUNCTION "\n"
	"GROUP BY pf.fn ORDER BY calls DESC, pf.fn LIMIT 10;\n"},
    {"latency-by-history", "on which call path does :function take long?",
	"WITH RECURSIVE slow AS MATERIALIZED (\n"
	"  SELECT c.path, count(*) AS calls, sum(c.duration_ns) AS total_ns, "
	"pctl(c.duration_ns, 0.99) AS p99_ns\n"
	"  FROM functions f JOIN calls c ON c.fn = f.fn\n"
	"  WHERE f.function = " FUNCTION "\n"
	"  GROUP BY c.path ORDER BY total_ns DESC, c.path LIMIT 10),\n"
	"history(path, at, names) AS (\n"
	"  SELECT s.path, p.parent, substr(f.function, 1, 200)\n"
	"  FROM slow s JOIN paths p ON p.path = s.path JOIN functions f ON f.fn = p.fn\n"
	"  UNION ALL\n"
	"  SELECT h.path, p.parent, substr(f.function, 1, 200) || ' > ' || h.names\n"
	"  FROM history h JOIN paths p ON p.path = h.at JOIN functions f ON f.fn = p.fn\n"
	"  WHERE length(h.names) < 200)\n"
	"SELECT s.path, s.calls, s.total_ns, s.p99_ns,\n"
	"       (SELECT iif(h.at > 0, '... > ', '') || h.names FROM history h "
	"WHERE h.path = s.path\n"
	"        ORDER BY length(h.names) DESC LIMIT 1) AS history\n"
	"FROM slow s ORDER BY s.total_ns DESC, s.path;\n"},
    {"inside", "what was the time inside of :function spent on?",
	"SELECT x.function, sum(tp.calls) AS calls, sum(tp.self_ns) AS self_ns\n"
	"FROM functions y CROSS JOIN paths py ON py.fn = y.fn AND py.rec = 0\n"
	"     CROSS JOIN thread_paths tp ON tp.path BETWEEN py.path AND py.last\n"
	"     JOIN paths px ON px.path = tp.path JOIN functions x ON x.fn = px.fn\n"
	"WHERE y.function = coalesce(:function,\n"
	"      (SELECT function FROM functions ORDER BY inclusive_ns DESC, fn LIMIT 1))\n"
	"GROUP BY x.fn ORDER BY self_ns DESC, x.fn LIMIT 10;\n"},
    {"redundant-callees", "which calls are made again and again by one call of their caller?",
	"SELECT pf.function AS caller, f.function AS callee, sum(p.calls) AS calls,\n"
	"       round(1.0 * sum(p.calls) / sum(pp.calls), 3) AS per_call, "
	"sum(p.inclusive_ns) AS inclusive_ns\n"
	"FROM paths p JOIN functions f ON f.fn = p.fn JOIN paths pp ON pp.path = p.parent\n"
	"     JOIN functions pf ON pf.fn = pp.fn\n"
	"GROUP BY pp.fn, p.fn HAVING sum(p.calls) > sum(pp.calls)\n"
	"ORDER BY inclusive_ns DESC, pp.fn, p.fn LIMIT 10;\n"},
    {"contention", "were two threads in :function at once, and for how long?",
	"SELECT a.thread AS one, b.thread AS other, count(*) AS times,\n"
	"       sum(min(a.end_ns, b.end_ns) - max(a.start_ns, b.start_ns)) AS overlap_ns\n"
	"FROM functions f JOIN calls a ON a.fn = f.fn AND a.rec = 0\n"
	"     JOIN threads t ON t.thread > a.thread\n"
	"     JOIN calls b ON b.thread = t.thread AND b.fn = a.fn AND b.rec = 0\n"
	"          AND b.start_ns < a.end_ns AND b.end_ns > a.start_ns\n"
	"WHERE f.function = " FUNCTION "\n"
	"GROUP BY a.thread, b.thread ORDER BY overlap_ns DESC, one, other LIMIT 20;\n"},
    {"concurrency", "for how long were how many threads in :function?",
	"WITH e(t, d) AS (\n"
	"  SELECT c.start_ns, 1 FROM functions f JOIN calls c ON c.fn = f.fn AND c.rec = 0\n"
	"  WHERE f.function = " FUNCTION "\n"
	"  UNION ALL\n"
	"  SELECT c.end_ns, -1 FROM functions f JOIN calls c ON c.fn = f.fn AND c.rec = 0\n"
	"  WHERE f.function = " FUNCTION ")\n"
	"SELECT level AS threads, sum(next - t) AS ns FROM (\n"
	"  SELECT t, sum(d) OVER (ORDER BY t, d ROWS UNBOUNDED PRECEDING) AS level,\n"
	"         lead(t) OVER (ORDER BY t, d) AS next FROM e)\n"
	"WHERE next IS NOT NULL GROUP BY level ORDER BY level;\n"},
    {"outliers", "which calls were the slowest, and did others do the same meanwhile?",
	"SELECT c.id, f.function, c.thread, c.start_ns, c.duration_ns,\n"
	"       (SELECT count(*) FROM threads t JOIN calls o\n"
	"          ON o.thread = t.thread AND o.fn = c.fn AND o.start_ns < c.end_ns "
	"AND o.end_ns > c.start_ns\n"
	"        WHERE t.thread <> c.thread) AS elsewhere\n"
	"FROM (SELECT id, fn, thread, start_ns, end_ns, duration_ns FROM calls\n"
	"      WHERE depth > coalesce(:depth, 1)\n"
	"      ORDER BY duration_ns DESC, id LIMIT 10) c JOIN functions f ON f.fn = c.fn\n"
	"ORDER BY c.duration_ns DESC, c.id;\n"},
    {"phases", "what did the program do when? (:bucket ns at a time)",
	"WITH w(ns) AS (SELECT coalesce(:bucket, CAST(value AS INTEGER) / 20 + 1)\n"
	"               FROM meta WHERE key = 'duration_ns')\n"
	"SELECT c.start_ns - c.start_ns % w.ns AS t, f.function, count(*) AS calls,\n"
	"       sum(c.self_raw_ns) AS self_raw_ns\n"
	"FROM w, functions f JOIN calls c ON c.fn = f.fn\n"
	"WHERE f.fn IN (SELECT fn FROM functions ORDER BY self_ns DESC, fn LIMIT 5)\n"
	"GROUP BY t, f.fn ORDER BY t, self_raw_ns DESC, f.fn;\n"},
    {"diff", "what has become slower since the trace of --attach b=FILE?",
	"SELECT function, sum(b) AS before_ns, sum(a) AS now_ns, sum(a) - sum(b) AS delta_ns,\n"
	"       sum(b_calls) AS calls_before, sum(a_calls) AS calls_now\n"
	"FROM (SELECT function, self_ns AS a, 0 AS b, calls AS a_calls, 0 AS b_calls "
	"FROM main.functions\n"
	"      UNION ALL SELECT function, 0, self_ns, 0, calls FROM b.functions)\n"
	"GROUP BY function ORDER BY abs(sum(a) - sum(b)) DESC, function LIMIT 20;\n"},
    {0},
};
