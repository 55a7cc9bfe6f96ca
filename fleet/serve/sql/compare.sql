-- members
SELECT (SELECT count(*) FROM chosen WHERE side = 0) AS old_runs,
	(SELECT count(*) FROM chosen WHERE side = 1) AS new_runs,
	count(CASE WHEN a.wall_n >= 5 AND b.wall_n >= 5 THEN 1 END) AS tested, max(0, count(*) - $most) AS left_out
FROM (SELECT DISTINCT fn_key FROM sum_functions WHERE set_id IN ($a, $b)) k
	LEFT JOIN sum_functions a ON a.set_id = $a AND a.fn_key = k.fn_key
	LEFT JOIN sum_functions b ON b.set_id = $b AND b.fn_key = k.fn_key;
-- rows functions
WITH joined AS (
	-- Processor time is compared where all runs of both sides know it.
	SELECT k.fn_key, coalesce(b.function, a.function) AS function, coalesce(b.module, a.module) AS module,
		a.fn_key IS NOT NULL AS in_a, b.fn_key IS NOT NULL AS in_b, coalesce(a.wall_n, 0) AS runs_a,
		coalesce(b.wall_n, 0) AS runs_b,
		coalesce(a.wall_n = a.cpu_n, 1) AND coalesce(b.wall_n = b.cpu_n, 1)
			AND coalesce(a.wall_n, 0) + coalesce(b.wall_n, 0) > 0 AS cpu,
		a.self_ns AS a_self_ns, a.cpu_ns AS a_cpu_ns, a.calls AS a_calls, a.wall_mean AS a_wall_ns,
		a.wall_spread AS a_wall_spread, a.cpu_mean AS a_cpu_mean, a.cpu_spread AS a_cpu_spread,
		b.self_ns AS b_self_ns, b.cpu_ns AS b_cpu_ns, b.calls AS b_calls, b.wall_mean AS b_wall_ns,
		b.wall_spread AS b_wall_spread, b.cpu_mean AS b_cpu_mean, b.cpu_spread AS b_cpu_spread
	FROM (SELECT DISTINCT fn_key FROM sum_functions WHERE set_id IN ($a, $b)) k
		LEFT JOIN sum_functions a ON a.set_id = $a AND a.fn_key = k.fn_key
		LEFT JOIN sum_functions b ON b.set_id = $b AND b.fn_key = k.fn_key
), functions AS (
	SELECT *, CASE WHEN cpu THEN a_cpu_mean ELSE a_wall_ns END AS a_ns,
		CASE WHEN cpu THEN b_cpu_mean ELSE b_wall_ns END AS b_ns,
		CASE WHEN cpu THEN a_cpu_ns ELSE a_self_ns END AS a_time,
		CASE WHEN cpu THEN b_cpu_ns ELSE b_self_ns END AS b_time
	FROM joined
), pairs AS (
	SELECT fn_key, runs_a, runs_b,
		CASE WHEN cpu THEN a_cpu_spread ELSE a_wall_spread END / (runs_a - 1) / runs_a AS a_se2,
		CASE WHEN cpu THEN b_cpu_spread ELSE b_wall_spread END / (runs_b - 1) / runs_b AS b_se2,
		count(*) OVER () AS tests
	FROM functions WHERE runs_a >= 5 AND runs_b >= 5
-- part student
, verdicts AS (
	SELECT f.*, t.se2, t.df, t.bound, abs(b_ns - a_ns) > bound * sqrt(se2) AND abs(b_ns - a_ns) > a_ns * $least / 100 AS differs,
		-- Time of a run that the change makes, more or less.
		round(CASE WHEN NOT in_a THEN b_self_ns WHEN NOT in_b THEN a_self_ns
			WHEN b_ns > 0 THEN abs((b_ns - a_ns) / b_ns * b_time) ELSE a_time END) AS weight
	FROM functions f LEFT JOIN bounds t ON t.fn_key = f.fn_key
)
SELECT CAST(fn_key AS TEXT) AS fn_key, function, module, CASE WHEN cpu THEN 'cpu' ELSE 'wall' END AS time,
	runs_a AS old_runs, CASE WHEN runs_a THEN round(a_ns, 1) END AS old_ns, coalesce(a_self_ns, 0) AS old_self_ns,
	coalesce(a_calls, 0) AS old_calls, CASE WHEN runs_a THEN round(a_wall_ns, 1) END AS old_wall_ns,
	runs_b AS new_runs, CASE WHEN runs_b THEN round(b_ns, 1) END AS new_ns, coalesce(b_self_ns, 0) AS new_self_ns,
	coalesce(b_calls, 0) AS new_calls, CASE WHEN runs_b THEN round(b_wall_ns, 1) END AS new_wall_ns,
	CASE WHEN runs_a AND runs_b AND a_ns > 0 THEN round(100 * (b_ns - a_ns) / a_ns, 1) END AS percent,
	CASE WHEN se2 > 0 THEN round((b_ns - a_ns) / sqrt(se2), 1) END AS t, round(df, 1) AS df, round(bound, 1) AS t_needed,
	CASE WHEN NOT in_a THEN 'new' WHEN NOT in_b THEN 'gone' WHEN bound IS NULL THEN 'few runs' WHEN NOT differs THEN 'same'
		WHEN b_ns > a_ns THEN 'slower' ELSE 'faster' END AS verdict
FROM verdicts v ORDER BY coalesce(differs, 0) DESC, weight DESC, v.fn_key LIMIT $most;
