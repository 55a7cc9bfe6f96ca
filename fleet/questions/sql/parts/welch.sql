), each_run AS (
	-- A value a run: calls of one run depend on each other, and are not many measurements.
	-- Processor time, where all runs of both sides know it.
	SELECT m.*, CASE WHEN cpu_known = 1 THEN cpu_ns ELSE wall_ns END AS self_ns,
		1.0 * CASE WHEN cpu_known = 1 THEN cpu_ns ELSE wall_ns END / timed_calls AS x
	FROM (
		SELECT g.what, g.side, f.fn_key, f.function, f.run_id, f.timed_calls, f.self_ns AS wall_ns, f.self_cpu_ns AS cpu_ns,
			min(CASE WHEN f.self_cpu_ns IS NULL THEN 0 ELSE 1 END) OVER (PARTITION BY g.what, f.fn_key) AS cpu_known
		FROM functions f JOIN sides g ON g.run_id = f.run_id WHERE f.timed_calls > 0 AND f.self_ns IS NOT NULL
	) m
), means AS (
	SELECT what, side, fn_key, max(function) AS function, count(*) AS n, avg(x) AS mean, sum(self_ns) AS self_ns,
		max(cpu_known) AS cpu_known, avg(1.0 * wall_ns / timed_calls) AS wall
	FROM each_run GROUP BY what, side, fn_key
), spread AS (
	SELECT m.what, m.side, m.fn_key, sum((e.x - m.mean) * (e.x - m.mean)) / (m.n - 1) / m.n AS se2
	FROM means m JOIN each_run e ON e.what = m.what AND e.side = m.side AND e.fn_key = m.fn_key
	WHERE m.n >= 5 GROUP BY m.what, m.side, m.fn_key, m.n
), pairs AS (
	SELECT a.what, a.fn_key, b.function, a.n AS runs_a, b.n AS runs_b, a.mean AS a_ns, b.mean AS b_ns,
		CASE WHEN b.cpu_known = 1 THEN 'cpu' ELSE 'wall' END AS compared, a.wall AS a_wall_ns, b.wall AS b_wall_ns,
		sa.se2 AS a_se2, sb.se2 AS b_se2,
		b.self_ns, count(*) OVER () AS tests
	FROM means a JOIN means b ON b.what = a.what AND b.fn_key = a.fn_key AND b.side = 'b'
	JOIN spread sa ON sa.what = a.what AND sa.fn_key = a.fn_key AND sa.side = 'a'
	JOIN spread sb ON sb.what = b.what AND sb.fn_key = b.fn_key AND sb.side = 'b'
	WHERE a.side = 'a'
