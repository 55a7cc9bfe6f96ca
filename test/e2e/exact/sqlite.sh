#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves on SQLite, made into one file by its own build and compiled unmodified, that the profile
# counts each call of each function: the same as callgrind, with callbacks through tables of
# function pointers, recursive queries, files, sorting and errors.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/counts.sh"
. "$lib/programs.sh"
plain_folder
command -v tclsh >/dev/null || skip "tclsh is not there: run tools/setup"

cat >work.sql <<'EOS'
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, tag BLOB);
CREATE INDEX by_price ON item(price, name);
CREATE TABLE log(what TEXT);
CREATE TRIGGER told AFTER UPDATE ON item BEGIN INSERT INTO log VALUES (new.name); END;
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
INSERT INTO item SELECT i, printf('item-%05d', (i * 7919) % 3001), i * 1.5, zeroblob(i % 300) FROM n;
COMMIT;
SELECT count(*), sum(price), max(name), total(length(tag)) FROM item;
SELECT substr(name, 8, 2) AS k, count(*), avg(price) FROM item GROUP BY k HAVING k > '60' ORDER BY 3;
SELECT a.id, b.id FROM item a JOIN item b ON a.price = b.price + 3 WHERE a.name LIKE '%7%' LIMIT 20;
SELECT id, rank() OVER (PARTITION BY id % 7 ORDER BY name DESC), sum(id) OVER (ORDER BY id ROWS 5 PRECEDING)
  FROM item LIMIT 30;
UPDATE item SET price = price + 1 WHERE id % 11 = 0;
SAVEPOINT s; DELETE FROM item WHERE id > 500; ROLLBACK TO s; RELEASE s;
DELETE FROM item WHERE name GLOB 'item-0[12]0*';
INSERT OR IGNORE INTO item SELECT id + 5000, name, price, tag FROM item;
SELECT count(*), (SELECT count(*) FROM log) FROM item;
SELECT json_extract('{"a":[1,2,{"b":"c"}]}', '$.a[2].b'), quote(x'00ff'), upper('aé'), hex(zeroblob(3));
SELECT DISTINCT typeof(tag), id % 3 FROM item UNION SELECT 'x', 1 EXCEPT SELECT 'x', 2 ORDER BY 1, 2;
CREATE VIEW cheap AS SELECT * FROM item WHERE price < 2000;
EXPLAIN QUERY PLAN SELECT * FROM cheap WHERE name = 'item-00500';
SELECT * FROM no_such_table;
INSERT INTO item(id) VALUES (1), (1);
PRAGMA integrity_check;
VACUUM;
ATTACH '' AS other;
CREATE TABLE other.copy AS SELECT * FROM item;
SELECT count(*) FROM other.copy;
ALTER TABLE other.copy ADD COLUMN more DEFAULT 5;
SELECT sum(more) FROM other.copy;
ANALYZE;
DROP TABLE item;
EOS

# Optimised in the long form only: that takes the compiler eight times as long.
level=-O0
[ "${TEEPERF_FULL:-0}" = 0 ] || level=-O2
sqlite_program $level || skip "there is no SQLite"
# No settings of the user's. The shell ends with 1 because of the errors in its work.
HOME=$PWD
export HOME
compare_counts 1 "$sources" work.sql "$sqlite" -batch :memory:
