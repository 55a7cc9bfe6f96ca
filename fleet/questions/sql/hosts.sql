-- machines on which functions take more or less time per call than on the others, by more than chance
-- $program: one program; $least: least change in percent (5). The test of 'regressions': a machine against all others.
WITH hosts AS (
	SELECT DISTINCT program, host FROM runs
	WHERE host <> '' AND (CAST($program AS VARCHAR) IS NULL OR program = $program)
), sides AS (
	SELECT h.program || ' ' || h.host AS what, CASE WHEN r.host = h.host THEN 'b' ELSE 'a' END AS side, r.run_id
	FROM hosts h JOIN runs r ON r.program = h.program WHERE r.host <> ''
-- part welch
-- part student
SELECT what AS program_and_host, fn_key, function, runs_a AS other_runs, runs_b AS host_runs,
	round(a_ns, 1) AS others_ns, round(b_ns, 1) AS host_ns, round(100 * (b_ns - a_ns) / a_ns, 1) AS percent,
	round((b_ns - a_ns) / sqrt(se2), 1) AS t, round(df, 1) AS df, round(bound, 1) AS t_needed,
	compared AS time, round(a_wall_ns, 1) AS others_wall_ns, round(b_wall_ns, 1) AS host_wall_ns
FROM bounds
WHERE abs(b_ns - a_ns) > bound * sqrt(se2) AND abs(b_ns - a_ns) > a_ns * coalesce(CAST($least AS DOUBLE), 5) / 100
ORDER BY round(abs(b_ns - a_ns) / b_ns * self_ns) DESC, what, fn_key;
