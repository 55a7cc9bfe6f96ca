-- members
SELECT $fleet AS fleet, $schema AS schema, max(0, count(*) - $most) AS left_out FROM runs;
-- rows runs
SELECT run_id, day, program, host, build_id, git_revision, labels, trace, command, unit, start_unix_ns, duration_ns,
	processor_ns, processor_delay_ns, self_ns, cost_ns, events, calls, threads, missing_events,
	CAST(CASE WHEN complete <> 0 THEN 'true' ELSE 'false' END AS BLOB) AS complete
FROM runs ORDER BY start_unix_ns, run_id LIMIT $most OFFSET max(0, (SELECT count(*) FROM runs) - $most);
