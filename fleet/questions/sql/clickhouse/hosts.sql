-- machines on which functions take more or less time per call than on the others, by more than chance
-- {program}: one program; {least}: least change in percent (5). The test of 'regressions': a machine against all others.
SELECT what AS program_and_host, fn_key, name AS function, runs_a AS other_runs, runs_b AS host_runs,
	round(a_ns, 1) AS others_ns, round(b_ns, 1) AS host_ns, round(100 * (b_ns - a_ns) / a_ns, 1) AS percent,
	round((b_ns - a_ns) / sqrt(se2), 1) AS t, round(degrees, 1) AS df, round(bound, 1) AS t_needed,
	if(cpu_known, 'cpu', 'wall') AS time, round(a_wall_ns, 1) AS others_wall_ns, round(b_wall_ns, 1) AS host_wall_ns
-- part welch_begin
SELECT run_id, concat(program, ' ', one) AS what, if(host = one, 'b', 'a') AS side
FROM (
	SELECT run_id, program, host, hosts
	FROM (
		SELECT run_id, program, host FROM teeperf.runs FINAL
		WHERE host != '' AND ifNull({program:Nullable(String)}, program) = program
	) AS one_side
	GLOBAL ALL INNER JOIN (
		SELECT program, groupUniqArray(host) AS hosts FROM teeperf.runs FINAL WHERE host != '' GROUP BY program
	) AS other_side USING (program)
)
ARRAY JOIN hosts AS one
-- part welch_end
WHERE abs(b_ns - a_ns) > bound * sqrt(se2) AND abs(b_ns - a_ns) > a_ns * {least:Float64} / 100
ORDER BY round(abs(b_ns - a_ns) / b_ns * b_self_ns) DESC, what, fn_key;
