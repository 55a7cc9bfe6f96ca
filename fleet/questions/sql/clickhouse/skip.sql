-- functions with the highest cost of recording for the time that they show
-- {program}: one program; {most}: number of rows (25). A recorded call costs the average of its run; calls that
-- were only counted cost next to nothing. Candidates for 'skip'; 'teeperf fleet allowlist' chooses a whole list.
SELECT fn_key, name AS function, file_name AS module, recorded AS timed_calls, all_self_ns AS self_ns,
	toInt64(round(all_cost_ns)) AS cost_ns, round(all_self_ns / recorded, 1) AS self_ns_a_call
FROM (
	SELECT fn_key, max(function) AS name, max(module) AS file_name, sum(timed_calls) AS recorded,
		sum(self_ns) AS all_self_ns, sum(timed_calls * cost_a_call) AS all_cost_ns
	FROM (
		SELECT run_id, fn_key, function, module, timed_calls, self_ns FROM teeperf.functions FINAL
		WHERE ifNull({program:Nullable(String)}, program) = program
	) AS one_side
	GLOBAL ALL INNER JOIN (
		SELECT run_id, run_cost_ns / run_calls AS cost_a_call
		FROM (
			SELECT run_id, cost_ns AS run_cost_ns FROM teeperf.runs FINAL
		) AS one_side
		GLOBAL ALL INNER JOIN (
			SELECT run_id, sum(timed_calls) AS run_calls FROM teeperf.functions FINAL
			GROUP BY run_id HAVING run_calls > 0
		) AS other_side USING (run_id)
	) AS other_side USING (run_id)
	GROUP BY fn_key HAVING recorded > 0
)
ORDER BY ifNull(all_cost_ns, toFloat64(recorded)) / (all_self_ns + 1) DESC, recorded DESC, fn_key LIMIT {most:UInt64};
