-- functions with the highest cost of recording for the time that they show
-- $program: one program; $most: number of rows (25). A recorded call costs the average of its run; calls that
-- were only counted cost next to nothing. Candidates for 'skip'; 'teeperf fleet allowlist' chooses a whole list.
WITH recorded AS (
	SELECT run_id, sum(timed_calls) AS run_calls FROM functions GROUP BY run_id
), sums AS (
	SELECT f.fn_key, max(f.function) AS function, max(f.module) AS module, sum(f.timed_calls) AS timed_calls,
		sum(f.self_ns) AS self_ns, sum(1.0 * f.timed_calls * r.cost_ns / c.run_calls) AS cost_ns
	FROM functions f JOIN runs r ON r.run_id = f.run_id JOIN recorded c ON c.run_id = f.run_id
	WHERE c.run_calls > 0 AND (CAST($program AS VARCHAR) IS NULL OR f.program = $program)
	GROUP BY f.fn_key
)
SELECT fn_key, function, module, timed_calls, self_ns, CAST(round(cost_ns) AS BIGINT) AS cost_ns,
	round(1.0 * self_ns / timed_calls, 1) AS self_ns_a_call
FROM sums WHERE timed_calls > 0
ORDER BY coalesce(cost_ns, timed_calls) / (self_ns + 1.0) DESC, timed_calls DESC, fn_key
LIMIT coalesce(CAST($most AS BIGINT), 25);
