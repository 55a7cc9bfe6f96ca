-- functions that take more time per call in one build than in another, by more than chance
-- $program: one program; $old, $new: build IDs or git revisions (by default the last two of each program);
-- $least: least change in percent (5). Welch's t-test over the runs' means, at least 5 each, 5 % for all functions together.
WITH builds AS (
	SELECT program, build_id, git_revision, min(start_unix_ns) AS first_ns
	FROM runs WHERE CAST($program AS VARCHAR) IS NULL OR program = $program GROUP BY program, build_id, git_revision
), newest AS (
	SELECT *, row_number() OVER (PARTITION BY program ORDER BY first_ns DESC, build_id, git_revision) AS place
	FROM builds
), chosen AS (
	SELECT program, build_id, git_revision, 'b' AS side FROM newest
	WHERE CASE WHEN CAST($new AS VARCHAR) IS NULL THEN place = 1 ELSE build_id = $new OR git_revision = $new END
	UNION ALL
	SELECT program, build_id, git_revision, 'a' AS side FROM newest
	-- By default the one before that.
	WHERE CASE WHEN CAST($old AS VARCHAR) IS NULL
		THEN place = 1 + coalesce((SELECT max(other.place) FROM newest other WHERE other.program = newest.program
			AND (other.build_id = $new OR other.git_revision = $new)), 1)
		ELSE build_id = $old OR git_revision = $old END
), sides AS (
	SELECT r.program AS what, c.side, r.run_id
	FROM runs r JOIN chosen c
		ON c.program = r.program AND c.build_id = r.build_id AND c.git_revision = r.git_revision
-- part welch
-- part student
SELECT what AS program, fn_key, function, runs_a AS old_runs, runs_b AS new_runs,
	round(a_ns, 1) AS old_ns, round(b_ns, 1) AS new_ns, round(100 * (b_ns - a_ns) / a_ns, 1) AS percent,
	round((b_ns - a_ns) / sqrt(se2), 1) AS t, round(df, 1) AS df, round(bound, 1) AS t_needed,
	compared AS time, round(a_wall_ns, 1) AS old_wall_ns, round(b_wall_ns, 1) AS new_wall_ns
FROM bounds
WHERE b_ns - a_ns > bound * sqrt(se2) AND b_ns - a_ns > a_ns * coalesce(CAST($least AS DOUBLE), 5) / 100
ORDER BY round((b_ns - a_ns) / b_ns * self_ns) DESC, what, fn_key;
