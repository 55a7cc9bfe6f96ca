#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# SQLite on a database that is not in memory, all functions instrumented: each system call is
# counted as strace counts it in the very same run, bytes are those of /proc/self/io, and 'view
# system' names the functions of SQLite that read, write and sync.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
. "$lib/programs.sh"
plain_folder
may_bpf || {
	echo "no BPF here: system/calls has seen what record says"
	exit 0
}
command -v tclsh >/dev/null || skip "tclsh is not there: run tools/setup"
command -v strace >/dev/null || fail "strace is not there: run tools/setup"

sqlite_program -O0 || skip "there is no SQLite"

rows=2000
cat >make.sql <<EOS
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, payload BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $rows)
INSERT INTO item SELECT i, printf('item-%05d', (i * 7919) % 8009), randomblob(700) FROM n;
CREATE INDEX by_name ON item(name);
EOS
# The kernel's figures of it, around the work.
cat >work.sql <<'EOS'
PRAGMA temp_store = memory;
CREATE TEMP TABLE look(line);
.import /proc/self/io look
PRAGMA cache_size = 40;
SELECT count(*), max(length(payload)) FROM item;
SELECT sum(length(payload)) FROM item WHERE name BETWEEN 'item-01000' AND 'item-01400';
UPDATE item SET payload = zeroblob(600) WHERE id % 97 = 0;
INSERT INTO item(name) VALUES ('one');
INSERT INTO item(name) VALUES ('two');
DELETE FROM item WHERE id % 211 = 0;
PRAGMA integrity_check;
.import /proc/self/io look
SELECT line FROM look;
EOS
HOME=$PWD
export HOME
expect 0 "$sqlite" -batch db <make.sql
sync db
python3 -c 'import os
os.posix_fadvise(os.open("db", os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)'

expect 0 "$TEEPERF" record -q -f -o run.trace --events sched,syscalls,io,faults -- strace -c \
	-o strace.out "$sqlite" -batch db <work.sql
says "^$rows\\|700$" out
says '^ok$' out

# Of the process that runs SQLite; strace counts from its execve on.
of_sqlite="(SELECT pid FROM syscalls WHERE function = 'seekAndRead' LIMIT 1)"
execve="(SELECT max(rowid) FROM syscalls WHERE pid = $of_sqlite AND call = 'execve' AND result = 0)"
query() {
	"$TEEPERF" query --format csv run.trace "$1" 2>notes | sed 1d | tr , ' ' | LC_ALL=C sort
}
"$TEEPERF" dump run.trace | grep '^system ' | tail -1 >lost
! grep -q 'lost-calls=[1-9]' lost || fail "system calls were lost: $(cat lost)"
query "SELECT call, count(*) FROM syscalls
	WHERE pid = $of_sqlite AND NOT unfinished AND rowid >= $execve GROUP BY call" >ours
awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4 }' strace.out | LC_ALL=C sort >theirs
diff ours theirs >&2 || fail "strace has counted otherwise"

# From the first look, which is in the difference, to the second.
query "WITH looks AS (SELECT min(start_ns) AS first, max(start_ns) AS last FROM io
		WHERE function LIKE '%_read_one_field' AND call = 'read' AND bytes > 0),
	mine AS (SELECT io.* FROM io, looks
	WHERE pid = $of_sqlite AND start_ns >= first AND start_ns < last)
	SELECT 'rchar:', sum(bytes) FROM mine WHERE call IN ('read', 'pread64') UNION ALL
	SELECT 'syscr:', count(*) FROM mine WHERE call IN ('read', 'pread64') UNION ALL
	SELECT 'wchar:', sum(bytes) FROM mine WHERE call IN ('write', 'pwrite64') UNION ALL
	SELECT 'syscw:', count(*) FROM mine WHERE call IN ('write', 'pwrite64') UNION ALL
	SELECT 'read_bytes:', sum(bytes) FROM mine WHERE call = 'block read'" >ours
says '^syscr: ' ours
grep '^[a-z_]*: [0-9]*$' out >theirs
python3 - <<'EOS' >&2 || fail "/proc/self/io has counted otherwise"
import os
import sys

ours = {key: int(value) for key, value in (line.split() for line in open("ours"))}
looks = [(key, int(value)) for key, value in (line.split() for line in open("theirs"))]
before, after = dict(looks[:len(looks) // 2]), dict(looks[len(looks) // 2:])
lost = dict(part.split("=") for part in open("lost").read().split()[2:])
failed = 0
for key, got in ours.items():
    wanted = after[key] - before[key]
    missing = 0
    if key == "read_bytes:":
        if os.major(os.stat("db").st_dev) == 0:
            continue  # the device is another's
        missing = int(lost.get("lost-blocks", 0)) << 23
    print(key, f"{got:,} of {wanted:,}")
    failed |= not wanted - missing <= got <= wanted
sys.exit(failed)
EOS

expect 0 "$TEEPERF" analyze --view system --limit 0 run.trace
says ' lseek +seekAndRead$' out
says ' read +seekAndRead$' out
says ' write +seekAndWriteFd$' out
says ' fsync +full_fsync$' out
bytes=$(query "SELECT sum(CASE WHEN function IN ('seekAndRead', 'seekAndWriteFd') THEN bytes END) * 100 / sum(bytes) FROM io
	WHERE pid = $of_sqlite AND call IN ('read', 'write')")
[ "${bytes%.*}" -ge 99 ] ||
	fail "$bytes % of the bytes are of the two functions that read and write"
