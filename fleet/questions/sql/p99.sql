-- the least duration of the slowest 1 % of a function's calls, day by day
-- $function: its name; $program: one program; $quantile: instead of 0.99. At most 1.6 % off.
WITH merged AS (
	SELECT substr(h.run_id, 1, 8) AS day_utc, h.fn_key, h.value_ns, sum(h.calls) AS calls
	FROM histograms h JOIN runs r ON r.run_id = h.run_id
	WHERE h.fn_key IN (SELECT fn_key FROM functions WHERE function = $function OR linkage = $function)
		AND (CAST($program AS VARCHAR) IS NULL OR h.program = $program)
	GROUP BY substr(h.run_id, 1, 8), h.fn_key, h.value_ns
), summed AS (
	SELECT day_utc, fn_key, value_ns, sum(calls) OVER (PARTITION BY day_utc, fn_key ORDER BY value_ns) AS below,
		sum(calls) OVER (PARTITION BY day_utc, fn_key) AS all_calls
	FROM merged
)
SELECT day_utc, fn_key, max(all_calls) AS calls, min(value_ns) AS quantile_ns
FROM summed WHERE below >= ceil(coalesce(CAST($quantile AS DOUBLE), 0.99) * all_calls)
GROUP BY day_utc, fn_key ORDER BY day_utc, fn_key;
