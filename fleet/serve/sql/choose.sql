-- The runs of set $side: those that fit all criteria, of several values of one any; then `run` adds, and `not` takes
-- away. Without a criterion all fit, or none if there is a `run`.
INSERT INTO chosen
WITH w AS (SELECT criterion, value FROM wishes WHERE side = $side)
SELECT $side, r.rowid FROM runs r
WHERE r.run_id NOT IN (SELECT value FROM w WHERE criterion = 'not')
	AND (r.run_id IN (SELECT value FROM w WHERE criterion = 'run')
		OR (NOT EXISTS (SELECT 1 FROM w WHERE criterion = 'run')
				OR EXISTS (SELECT 1 FROM w WHERE criterion NOT IN ('run', 'not')))
			AND (r.program IN (SELECT value FROM w WHERE criterion = 'program')
				OR NOT EXISTS (SELECT 1 FROM w WHERE criterion = 'program'))
			AND (r.host IN (SELECT value FROM w WHERE criterion = 'host')
				OR NOT EXISTS (SELECT 1 FROM w WHERE criterion = 'host'))
			AND (r.build_id IN (SELECT value FROM w WHERE criterion = 'build')
				OR r.git_revision IN (SELECT value FROM w WHERE criterion = 'build')
				OR NOT EXISTS (SELECT 1 FROM w WHERE criterion = 'build'))
			AND (EXISTS (SELECT 1 FROM w WHERE criterion = 'day'
					AND r.day BETWEEN substr(value, 1, 10) AND substr(value, -10))
				OR NOT EXISTS (SELECT 1 FROM w WHERE criterion = 'day'))
			-- Of labels any value of each key.
			AND NOT EXISTS (SELECT 1 FROM w WHERE criterion = 'label'
				AND substr(value, 1, instr(value, '=') - 1) NOT IN (SELECT j.key
					FROM json_each(CASE WHEN json_valid(r.labels) THEN r.labels ELSE '{}' END) j
					JOIN w x ON x.criterion = 'label' AND x.value = j.key || '=' || j.value
					WHERE j.type = 'text')));
