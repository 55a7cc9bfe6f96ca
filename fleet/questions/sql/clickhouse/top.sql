-- functions of the fleet by processor time in themselves
-- {program}: one program; {most}: number of rows (25). Self time where processor time is not known.
SELECT fn_key, name AS function, file_name AS module, run_count AS runs, all_calls AS calls, all_self_ns AS self_ns,
	all_cpu_ns AS cpu_ns, round(100 * all_cpu_ns / (
		SELECT sum(ifNull(self_cpu_ns, self_ns)) FROM teeperf.functions FINAL
		WHERE run_id GLOBAL IN (SELECT run_id FROM teeperf.runs)
			AND ifNull({program:Nullable(String)}, program) = program
	), 2) AS cpu_percent
FROM (
	SELECT fn_key, max(function) AS name, max(module) AS file_name, uniqExact(run_id) AS run_count,
		sum(calls) AS all_calls, sum(self_ns) AS all_self_ns, sum(ifNull(self_cpu_ns, self_ns)) AS all_cpu_ns
	FROM teeperf.functions FINAL
	WHERE run_id GLOBAL IN (SELECT run_id FROM teeperf.runs)
		AND ifNull({program:Nullable(String)}, program) = program
	GROUP BY fn_key
)
ORDER BY all_cpu_ns DESC, fn_key LIMIT {most:UInt64};
