-- functions that few runs call, and seldom
-- {program}: one program; {most}: number of rows (25). Those that no run calls are in no trace: 'teeperf inventory' has them.
SELECT program, fn_key, name AS function, file_name AS module, run_count AS runs, all_runs AS of_runs,
	all_calls AS calls
FROM (
	SELECT program, fn_key, max(function) AS name, max(module) AS file_name, uniqExact(run_id) AS run_count,
		sum(calls) AS all_calls
	FROM teeperf.functions FINAL
	WHERE run_id GLOBAL IN (SELECT run_id FROM teeperf.runs)
		AND ifNull({program:Nullable(String)}, program) = program
	GROUP BY program, fn_key
) AS one_side
GLOBAL ALL INNER JOIN (
	SELECT program, count() AS all_runs FROM teeperf.runs FINAL GROUP BY program
) AS other_side USING (program)
ORDER BY run_count / all_runs, all_calls, program, fn_key LIMIT {most:UInt64};
