-- functions that take more time per call in one build than in another, by more than chance
-- {program}: one program; {old}, {new}: build IDs or git revisions (by default the last two of each program);
-- {least}: least change in percent (5). Welch's t-test over the runs' means, at least 5 each, 5 % for all functions together.
SELECT what AS program, fn_key, name AS function, runs_a AS old_runs, runs_b AS new_runs,
	round(a_ns, 1) AS old_ns, round(b_ns, 1) AS new_ns, round(100 * (b_ns - a_ns) / a_ns, 1) AS percent,
	round((b_ns - a_ns) / sqrt(se2), 1) AS t, round(degrees, 1) AS df, round(bound, 1) AS t_needed,
	if(cpu_known, 'cpu', 'wall') AS time, round(a_wall_ns, 1) AS old_wall_ns, round(b_wall_ns, 1) AS new_wall_ns
-- part welch_begin
SELECT run_id, program AS what, if(is_new = 1, 'b', 'a') AS side
FROM (
	SELECT run_id, program,
		ifNull(if(isNull({new:Nullable(String)}), build = builds[1],
			build_id = {new:Nullable(String)} OR git_revision = {new:Nullable(String)}), 0) AS is_new,
		-- By default the one before that.
		ifNull(if(isNull({old:Nullable(String)}), build = builds[if(isNull({new:Nullable(String)}), 2,
			1 + arrayReduce('max', arrayMap((one, i) ->
				if(startsWith(one, concat(ifNull({new:Nullable(String)}, ''), ' '))
					OR endsWith(one, concat(' ', ifNull({new:Nullable(String)}, ''))), i, 0),
				builds, arrayEnumerate(builds))))],
			build_id = {old:Nullable(String)} OR git_revision = {old:Nullable(String)}), 0) AS is_old
	FROM (
		SELECT run_id, program, build_id, git_revision, concat(build_id, ' ', git_revision) AS build
		FROM teeperf.runs FINAL WHERE ifNull({program:Nullable(String)}, program) = program
	) AS one_side
	GLOBAL ALL INNER JOIN (
		-- The newest first.
		SELECT program, groupArray(named) AS builds
		FROM (
			SELECT program, concat(build_id, ' ', git_revision) AS named, min(start_unix_ns) AS first_ns
			FROM teeperf.runs FINAL GROUP BY program, build_id, git_revision
			ORDER BY first_ns DESC, build_id, git_revision
		)
		GROUP BY program
	) AS other_side USING (program)
)
WHERE is_new = 1 OR is_old = 1
-- part welch_end
WHERE b_ns - a_ns > bound * sqrt(se2) AND b_ns - a_ns > a_ns * {least:Float64} / 100
ORDER BY round((b_ns - a_ns) / b_ns * b_self_ns) DESC, what, fn_key;
