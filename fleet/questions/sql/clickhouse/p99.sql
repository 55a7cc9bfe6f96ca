-- the least duration of the slowest 1 % of a function's calls, day by day
-- {function}: its name; {program}: one program; {quantile}: instead of 0.99. At most 1.6 % off.
SELECT day_utc, fn_key, sum(bucket_calls) AS calls,
	quantileExactWeighted({quantile:Float64})(value_ns, toUInt64(bucket_calls)) AS quantile_ns
FROM (
	SELECT substring(run_id, 1, 8) AS day_utc, fn_key, value_ns, sum(calls) AS bucket_calls
	FROM teeperf.histograms FINAL
	WHERE run_id GLOBAL IN (SELECT run_id FROM teeperf.runs)
		AND fn_key GLOBAL IN (
			SELECT fn_key FROM teeperf.functions
			WHERE function = {function:Nullable(String)} OR linkage = {function:Nullable(String)}
		)
		AND ifNull({program:Nullable(String)}, program) = program
	GROUP BY day_utc, fn_key, value_ns
)
GROUP BY day_utc, fn_key ORDER BY day_utc, fn_key;
