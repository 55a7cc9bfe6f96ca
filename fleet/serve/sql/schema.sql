-- The tables of the server beside runs, which is that of docs/fleet.md.
CREATE INDEX runs_by_id ON runs(run_id);
-- What the request at hand says of its sets, and the runs (rows of runs) in them.
CREATE TABLE wishes(side, criterion, value);
CREATE TABLE chosen(side, run, PRIMARY KEY(side, run)) WITHOUT ROWID;
-- Sums over the runs of a set. Set 0 is another one: those of one function, by run in place of fn_key.
CREATE TABLE sets(id INTEGER PRIMARY KEY, hash TEXT UNIQUE, parts, bytes, used);
CREATE TABLE sum_functions(set_id, fn_key, function, module, file, line, runs, calls, timed_calls, self_ns, cpu_ns,
	inclusive_ns, total_ns, min_ns, max_ns, self_known, cpu_known, wall_n, wall_mean, wall_spread, cpu_n, cpu_mean,
	cpu_spread, PRIMARY KEY(set_id, fn_key)) WITHOUT ROWID;
CREATE TABLE sum_buckets(set_id, fn_key, bucket, value_ns, calls, PRIMARY KEY(set_id, fn_key, bucket)) WITHOUT ROWID;
-- parent: parent_key if that path is there, else 0; total_ns: with all below; place: behind those that are less deep.
CREATE TABLE sum_paths(set_id, path_key, fn_key, recursion, parent_key, depth, calls, self_ns, min_ns, max_ns,
	parent, total_ns, place, PRIMARY KEY(set_id, path_key)) WITHOUT ROWID;
CREATE TRIGGER forget AFTER DELETE ON sets BEGIN
	DELETE FROM sum_functions WHERE set_id = old.id;
	DELETE FROM sum_buckets WHERE set_id = old.id;
	DELETE FROM sum_paths WHERE set_id = old.id;
END;
-- Answers that were given.
CREATE TABLE answers(hash TEXT PRIMARY KEY, text, used);
-- For flame.sql: the two sets with their sums, and the paths of either.
CREATE TABLE asked(a, b, self_ns, base_self_ns, paths);
CREATE VIEW joined AS
	SELECT a.place AS n, a.path_key, a.parent, a.fn_key, a.recursion, a.calls, a.self_ns, a.total_ns,
		coalesce(b.calls, 0) AS base_calls, coalesce(b.self_ns, 0) AS base_self_ns,
		coalesce(b.total_ns, 0) AS base_total_ns, a.min_ns, a.max_ns,
		max(1.0 * a.total_ns / max(q.self_ns, 1), 1.0 * coalesce(b.total_ns, 0) / max(q.base_self_ns, 1)) AS share
	FROM asked q JOIN sum_paths a ON a.set_id = q.a
		LEFT JOIN sum_paths b ON b.set_id = q.b AND b.path_key = a.path_key
	UNION ALL
	SELECT q.paths + b.place, b.path_key, b.parent, b.fn_key, b.recursion, 0, 0, 0, b.calls, b.self_ns, b.total_ns, b.min_ns,
		b.max_ns, 1.0 * b.total_ns / max(q.base_self_ns, 1)
	FROM asked q JOIN sum_paths b ON b.set_id = q.b
	WHERE NOT EXISTS (SELECT 1 FROM sum_paths a WHERE a.set_id = q.a AND a.path_key = b.path_key);
-- Paths with at least the share that was asked for; functions that are sent, by their number; what is sent of paths:
-- one, or those that are too light in one that is sent.
CREATE TABLE nodes(n INTEGER PRIMARY KEY, path_key, parent, fn_key, level, calls, self_ns, base_calls, base_self_ns,
	min_ns, max_ns, share);
CREATE INDEX nodes_parent ON nodes(parent);
CREATE TABLE shown(number INTEGER PRIMARY KEY, fn_key UNIQUE, name, file, module, line);
CREATE TABLE items(n INTEGER PRIMARY KEY, path_key UNIQUE, parent, number, level, calls, self_ns, base_calls,
	base_self_ns, min_ns, max_ns);
