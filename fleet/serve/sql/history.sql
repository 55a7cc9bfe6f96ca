-- members
SELECT CAST($function AS TEXT) AS fn_key, (SELECT function FROM sum_functions WHERE set_id = 0) AS function,
	round($quantile, 4) AS quantile;
-- rows runs
WITH summed AS (
	SELECT fn_key, value_ns, sum(calls) OVER (PARTITION BY fn_key ORDER BY bucket) AS below,
		sum(calls) OVER (PARTITION BY fn_key) AS all_calls
	FROM sum_buckets WHERE set_id = 0
), quantiles AS (
	SELECT fn_key, min(value_ns) AS quantile_ns FROM summed
	WHERE all_calls > 0 AND below >= ceil($quantile * all_calls) GROUP BY fn_key
)
SELECT r.run_id, f.calls, f.timed_calls, CASE WHEN self_known THEN f.self_ns END AS self_ns,
	CASE WHEN cpu_known THEN f.cpu_ns END AS cpu_ns,
	CASE WHEN self_known AND f.timed_calls > 0 THEN coalesce(f.max_ns, 0) END AS max_ns,
	CASE WHEN self_known THEN round(1.0 * f.self_ns / nullif(f.timed_calls, 0), 1) END AS self_ns_a_call, q.quantile_ns
FROM sum_functions f JOIN runs r ON r.rowid = f.fn_key LEFT JOIN quantiles q ON q.fn_key = f.fn_key
WHERE f.set_id = 0 ORDER BY r.start_unix_ns, r.run_id;
-- rows days
WITH merged AS (
	SELECT substr(r.run_id, 1, 8) AS day_utc, h.value_ns, sum(h.calls) AS calls
	FROM sum_buckets h JOIN runs r ON r.rowid = h.fn_key WHERE h.set_id = 0 GROUP BY 1, h.value_ns
), summed AS (
	SELECT *, sum(calls) OVER (PARTITION BY day_utc ORDER BY value_ns) AS below,
		sum(calls) OVER (PARTITION BY day_utc) AS all_calls
	FROM merged
)
SELECT day_utc, max(all_calls) AS calls,
	min(CASE WHEN all_calls > 0 AND below >= ceil($quantile * all_calls) THEN value_ns END) AS quantile_ns
FROM summed GROUP BY day_utc ORDER BY day_utc;
