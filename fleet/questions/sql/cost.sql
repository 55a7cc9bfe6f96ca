-- the cost of recording, program by program
-- $program: one program. Costs are of runs with known costs (compensated_runs); ns_a_call is of recorded calls.
SELECT program, count(*) AS runs, sum(compensated) AS compensated_runs, sum(calls) AS calls, sum(cost_ns) AS cost_ns,
	round(100.0 * sum(cost_ns) / sum(CASE WHEN compensated = 1 THEN self_ns END), 2) AS percent_of_self,
	round(2.0 * sum(cost_ns) / sum(CASE WHEN compensated = 1 THEN events END), 1) AS ns_a_call,
	round(100.0 * max(budget_overhead), 2) AS worst_budget_percent, sum(missing_events) AS missing_events,
	sum(1 - complete) AS incomplete_runs
FROM runs WHERE CAST($program AS VARCHAR) IS NULL OR program = $program
GROUP BY program ORDER BY cost_ns DESC, program;
