-- What the report's viewer shows, of set $a, or of two: of those sums are divided by runs. Set $b is the one before.
-- run
DELETE FROM asked;
-- run
DELETE FROM nodes;
-- run
DELETE FROM shown;
-- run
DELETE FROM items;
-- run
INSERT INTO asked SELECT $a, $b, coalesce(sum(self_ns), 0), (SELECT coalesce(sum(self_ns), 0) FROM sum_paths
	WHERE set_id = $b), count(*) FROM sum_paths WHERE set_id = $a;
-- run
INSERT INTO nodes
SELECT n, path_key, parent, fn_key, max(recursion, 0), calls, self_ns, base_calls, base_self_ns, min_ns, max_ns, share
FROM joined WHERE share >= $least;
-- Of those of one share all are sent or none, so that the answer does not depend on their order.
-- let cut
SELECT max($least, coalesce((SELECT max(share * (1 + 1e-15), 1e-300) FROM nodes ORDER BY share DESC LIMIT 1 OFFSET $most), 0));
-- The functions that take most, and those of nodes.
-- run
INSERT INTO shown(number, fn_key)
SELECT row_number() OVER (ORDER BY max(self_ns) DESC, fn_key) - 1, fn_key FROM sum_functions WHERE set_id IN ($a, $b)
GROUP BY fn_key ORDER BY max(self_ns) DESC, fn_key LIMIT 5000;
-- run
INSERT INTO shown(number, fn_key)
SELECT (SELECT count(*) FROM shown) + row_number() OVER (ORDER BY min(n)) - 1, fn_key FROM nodes
WHERE share >= $cut AND fn_key IN (SELECT fn_key FROM sum_functions WHERE set_id IN ($a, $b))
	AND fn_key NOT IN (SELECT fn_key FROM shown)
GROUP BY fn_key;
-- run
UPDATE shown SET (name, file, module, line) = (SELECT function, file, module, max(line, 0) FROM sum_functions f
	WHERE f.fn_key = shown.fn_key AND f.set_id IN ($a, $b) ORDER BY f.set_id = $a DESC LIMIT 1);
-- The program.
-- run
INSERT INTO items SELECT -1, NULL, NULL, count(*), 0, 0, 0, 0, 0, 0, 0 FROM shown;
-- run
INSERT INTO items
WITH RECURSIVE heavy AS (
	SELECT n.*, s.number FROM nodes n JOIN shown s ON s.fn_key = n.fn_key WHERE n.parent = 0 AND n.share >= $cut
	UNION ALL
	SELECT n.*, s.number FROM heavy h JOIN nodes n ON n.parent = h.path_key JOIN shown s ON s.fn_key = n.fn_key
	WHERE n.share >= $cut
)
SELECT n, path_key, parent, number, level, calls, self_ns, base_calls, base_self_ns, coalesce(min_ns, 0),
	CASE WHEN min_ns IS NULL THEN 0 ELSE max_ns END
FROM heavy;
-- Light ones with all of the time below them.
-- run
INSERT INTO items
SELECT min(n), NULL, parent, (SELECT count(*) FROM shown), 0, sum(calls), sum(total_ns), sum(base_calls),
	sum(base_total_ns), 0, 0
FROM joined
WHERE (parent = 0 OR parent IN (SELECT path_key FROM items)) AND n NOT IN (SELECT n FROM items)
GROUP BY parent;
-- members
SELECT CASE count(DISTINCT r.program) WHEN 0 THEN 'no runs' WHEN 1 THEN max(r.program) ELSE 'all programs' END AS program,
	'ns' AS unit, CAST('[]' AS BLOB) AS threads, 'A fleet has sums of runs, so it has no timeline.' AS no_timeline
FROM chosen c JOIN runs r ON r.rowid = c.run;
-- object before two
SELECT count(*) AS runs, count(CASE WHEN unit <> 'ns' THEN 1 END) AS untimed,
	count(CASE WHEN complete = 0 THEN 1 END) AS incomplete, (SELECT count(*) FROM sum_paths
		WHERE set_id = $b AND ((parent_key <> 0 AND parent = 0) OR depth = 0)) AS lost_paths
FROM chosen c JOIN runs r ON r.rowid = c.run WHERE side = 1;
-- object shown
SELECT count(*) AS runs, count(CASE WHEN unit <> 'ns' THEN 1 END) AS untimed,
	count(CASE WHEN complete = 0 THEN 1 END) AS incomplete, (SELECT count(*) FROM sum_paths
		WHERE set_id = $a AND ((parent_key <> 0 AND parent = 0) OR depth = 0)) AS lost_paths
FROM chosen c JOIN runs r ON r.rowid = c.run WHERE side = 0;
-- object pruned
SELECT q.all_paths AS "all", q.all_paths - h.paths AS paths,
	round(max(1.0 * (q.self_ns - h.self_ns) / max(q.self_ns, 1),
		1.0 * (q.base_self_ns - h.base_self_ns) / max(q.base_self_ns, 1)), 6) AS share,
	round($cut, 9) AS least, (SELECT count(DISTINCT fn_key) FROM sum_functions WHERE set_id IN ($a, $b))
		- (SELECT count(*) FROM shown) AS functions
FROM (SELECT self_ns, base_self_ns, (SELECT count(*) FROM joined) AS all_paths FROM asked) q,
	(SELECT count(*) AS paths, coalesce(sum(self_ns), 0) AS self_ns, coalesce(sum(base_self_ns), 0) AS base_self_ns
		FROM nodes WHERE share >= $cut) h;
-- columns functions
WITH summed AS (
	SELECT fn_key, value_ns, sum(calls) OVER (PARTITION BY fn_key ORDER BY bucket) AS below,
		sum(calls) OVER (PARTITION BY fn_key) AS all_calls
	FROM sum_buckets WHERE set_id = $a
), quantiles AS (
	SELECT fn_key, min(CASE WHEN below >= ceil(0.5 * all_calls) THEN value_ns END) AS p50_ns,
		min(CASE WHEN below >= ceil(0.9 * all_calls) THEN value_ns END) AS p90_ns,
		min(CASE WHEN below >= ceil(0.99 * all_calls) THEN value_ns END) AS p99_ns
	FROM summed WHERE all_calls > 0 GROUP BY fn_key
), bins AS (
	-- Two of a fleet's buckets are one of the viewer, whose bars are a sixteenth of a doubling.
	SELECT fn_key, bucket / 2 AS bin, sum(calls) AS calls FROM sum_buckets
	WHERE set_id = $a AND bucket BETWEEN 0 AND 2047 AND calls > 0 GROUP BY fn_key, bucket / 2 ORDER BY fn_key, bucket / 2
), histograms AS (
	SELECT fn_key, CAST('[' || group_concat(bin || ',' || calls) || ']' AS BLOB) AS histogram FROM bins GROUP BY fn_key
), files AS (
	SELECT file, row_number() OVER (ORDER BY min(number)) AS number FROM shown WHERE file <> '' GROUP BY file
), modules AS (
	SELECT module, row_number() OVER (ORDER BY min(number)) AS number FROM shown WHERE module <> '' GROUP BY module
)
SELECT s.name, CAST(s.fn_key AS TEXT) AS fn_key, s.line, coalesce(f.number, 0) AS file, coalesce(m.number, 0) AS module,
	iif($b, round(coalesce(a.calls, 0) / $runs, 1), a.calls) AS calls,
	iif($b, round(coalesce(a.timed_calls, 0) / $runs, 1), a.timed_calls) AS timed_calls,
	iif($b, round(coalesce(a.self_ns, 0) / $runs, 1), a.self_ns) AS self_ns,
	iif($b, round(coalesce(a.inclusive_ns, 0) / $runs, 1), a.inclusive_ns) AS inclusive_ns,
	iif($b, round(coalesce(a.total_ns, 0) / $runs, 1), a.total_ns) AS total_ns,
	coalesce(a.min_ns, 0) AS min_ns, coalesce(a.max_ns, 0) AS max_ns, coalesce(q.p50_ns, 0) AS p50_ns,
	coalesce(q.p90_ns, 0) AS p90_ns, coalesce(q.p99_ns, 0) AS p99_ns, coalesce(h.histogram, CAST('[]' AS BLOB)) AS histogram
FROM shown s LEFT JOIN sum_functions a ON a.set_id = $a AND a.fn_key = s.fn_key LEFT JOIN files f ON f.file = s.file
	LEFT JOIN modules m ON m.module = s.module LEFT JOIN quantiles q ON q.fn_key = s.fn_key
	LEFT JOIN histograms h ON h.fn_key = s.fn_key
ORDER BY s.number;
-- columns functions
SELECT file AS files FROM (SELECT '' AS file, -1 AS number UNION ALL
	SELECT file, min(number) FROM shown WHERE file <> '' GROUP BY file) ORDER BY number;
-- columns functions
SELECT module AS modules FROM (SELECT '' AS module, -1 AS number UNION ALL
	SELECT module, min(number) FROM shown WHERE module <> '' GROUP BY module) ORDER BY number;
-- columns functions two
SELECT round(coalesce(b.self_ns, 0) / $base_runs, 1) AS base_self_ns, round(coalesce(b.calls, 0) / $base_runs, 1) AS base_calls
FROM shown s LEFT JOIN sum_functions b ON b.set_id = $b AND b.fn_key = s.fn_key ORDER BY s.number;
-- columns
WITH RECURSIVE bins AS (
	SELECT 0 AS bin, max(0, coalesce(max(bucket / 2), 0)) AS highest FROM sum_buckets
	WHERE set_id = $a AND bucket <= 2047 AND calls > 0 AND fn_key IN (SELECT fn_key FROM shown)
	UNION ALL
	SELECT bin + 1, highest FROM bins WHERE bin <= highest
)
SELECT (2 * bin - 32 * max(0, 2 * bin / 32 - 1)) * pow(2, max(0, 2 * bin / 32 - 1)) AS bounds FROM bins;
-- columns paths
WITH numbered AS (SELECT *, row_number() OVER (ORDER BY n) - 1 AS item FROM items)
SELECT coalesce(p.item, 0) AS parent, i.number AS fn, i.level, iif($b, round(i.calls / $runs, 1), i.calls) AS calls,
	iif($b, round(i.self_ns / $runs, 1), i.self_ns) AS self, i.min_ns AS min, i.max_ns AS max
FROM numbered i LEFT JOIN numbered p ON p.path_key = i.parent ORDER BY i.n;
-- columns paths two
SELECT round(base_calls / $base_runs, 1) AS baseCalls, round(base_self_ns / $base_runs, 1) AS baseSelf FROM items ORDER BY n;
