-- functions of the fleet by processor time in themselves
-- $program: one program; $most: number of rows (25). Self time where processor time is not known.
WITH sums AS (
	SELECT f.fn_key, max(f.function) AS function, max(f.module) AS module, count(DISTINCT f.run_id) AS runs,
		sum(f.calls) AS calls, sum(f.self_ns) AS self_ns, sum(coalesce(f.self_cpu_ns, f.self_ns)) AS cpu_ns
	FROM functions f JOIN runs r ON r.run_id = f.run_id
	WHERE CAST($program AS VARCHAR) IS NULL OR f.program = $program
	GROUP BY f.fn_key
)
SELECT fn_key, function, module, runs, calls, self_ns, cpu_ns, round(100.0 * cpu_ns / sum(cpu_ns) OVER (), 2) AS cpu_percent
FROM sums ORDER BY cpu_ns DESC, fn_key LIMIT coalesce(CAST($most AS BIGINT), 25);
