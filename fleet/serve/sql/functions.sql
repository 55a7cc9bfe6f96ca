-- members
SELECT (SELECT count(*) FROM chosen WHERE side = 0) AS runs, coalesce(sum(cpu_ns), 0) AS cpu_ns,
	max(0, count(CASE WHEN $search IS NULL OR instr(function, $search) THEN 1 END) - $most) AS left_out
FROM sum_functions WHERE set_id = $a;
-- rows functions
SELECT CAST(fn_key AS TEXT) AS fn_key, function, module, file, max(line, 0) AS line, runs, calls, timed_calls, self_ns,
	cpu_ns, inclusive_ns, min_ns, max_ns, round(100.0 * cpu_ns / nullif(all_ns, 0), 2) AS cpu_percent
FROM (SELECT *, sum(cpu_ns) OVER () AS all_ns FROM sum_functions WHERE set_id = $a) f
WHERE $search IS NULL OR instr(function, $search)
ORDER BY f.cpu_ns DESC, f.fn_key LIMIT $most;
