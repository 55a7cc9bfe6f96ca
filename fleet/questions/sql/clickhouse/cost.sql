-- the cost of recording, program by program
-- {program}: one program. Costs are of runs with known costs (compensated_runs); ns_a_call is of recorded calls.
SELECT program, run_count AS runs, run_count_known AS compensated_runs, all_calls AS calls, all_cost_ns AS cost_ns,
	round(100 * all_cost_ns / known_self_ns, 2) AS percent_of_self,
	round(2 * all_cost_ns / known_events, 1) AS ns_a_call,
	round(100 * worst_overhead, 2) AS worst_budget_percent, all_missing AS missing_events,
	run_count_cut AS incomplete_runs
FROM (
	SELECT program, count() AS run_count, sum(compensated) AS run_count_known, sum(calls) AS all_calls,
		sum(cost_ns) AS all_cost_ns, sum(if(compensated = 1, self_ns, NULL)) AS known_self_ns,
		sum(if(compensated = 1, events, NULL)) AS known_events, max(budget_overhead) AS worst_overhead,
		sum(missing_events) AS all_missing, sum(1 - complete) AS run_count_cut
	FROM teeperf.runs FINAL
	WHERE ifNull({program:Nullable(String)}, program) = program
	GROUP BY program
)
ORDER BY all_cost_ns DESC, program;
