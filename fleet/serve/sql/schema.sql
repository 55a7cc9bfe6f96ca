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
-- parent: parent_key, if that path is there; total_ns: with all below.
CREATE TABLE sum_paths(set_id, path_key, fn_key, recursion, parent_key, depth, calls, self_ns, min_ns, max_ns,
	parent, total_ns, PRIMARY KEY(set_id, path_key)) WITHOUT ROWID;
CREATE INDEX sum_paths_parent ON sum_paths(set_id, parent);
CREATE INDEX sum_paths_depth ON sum_paths(set_id, depth);
CREATE TRIGGER forget AFTER DELETE ON sets BEGIN
	DELETE FROM sum_functions WHERE set_id = old.id;
	DELETE FROM sum_buckets WHERE set_id = old.id;
	DELETE FROM sum_paths WHERE set_id = old.id;
END;
-- Answers that were given.
CREATE TABLE answers(hash TEXT PRIMARY KEY, text, used);
-- For flame.sql. A node is a path of either set; a function is one that is sent, by its number; an item is a node
-- that is sent, or those that are too light in one that is sent.
CREATE TABLE nodes(n INTEGER PRIMARY KEY, path_key, parent, fn_key, level, calls, self_ns, total_ns, base_calls,
	base_self_ns, base_total_ns, min_ns, max_ns, share);
CREATE INDEX nodes_parent ON nodes(parent);
CREATE TABLE shown(number INTEGER PRIMARY KEY, fn_key UNIQUE, name, file, module, line);
CREATE TABLE items(n INTEGER PRIMARY KEY, path_key UNIQUE, parent, number, level, calls, self_ns, base_calls,
	base_self_ns, min_ns, max_ns);
