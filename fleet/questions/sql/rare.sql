-- functions that few runs call, and seldom
-- $program: one program; $most: number of rows (25). Those that no run calls are in no trace: 'teeperf inventory' has them.
WITH here AS (
	SELECT f.fn_key, f.program, max(f.function) AS function, max(f.module) AS module,
		count(DISTINCT f.run_id) AS runs, sum(f.calls) AS calls
	FROM functions f JOIN runs r ON r.run_id = f.run_id
	WHERE CAST($program AS VARCHAR) IS NULL OR f.program = $program
	GROUP BY f.fn_key, f.program
), of_program AS (SELECT program, count(*) AS runs FROM runs GROUP BY program)
SELECT h.program, h.fn_key, h.function, h.module, h.runs, p.runs AS of_runs, h.calls
FROM here h JOIN of_program p ON p.program = h.program
ORDER BY 1.0 * h.runs / p.runs, h.calls, h.program, h.fn_key LIMIT coalesce(CAST($most AS BIGINT), 25);
