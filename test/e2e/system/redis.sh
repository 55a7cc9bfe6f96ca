#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: full
#
# Redis under load, with four threads for input and output and an append-only file: the calls of all
# its threads are counted as strace counts them in the very same run, bytes are those of
# /proc/PID/io, and 'view system' names the functions of Redis that cause them.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
. "$lib/counts.sh"
plain_folder
may_bpf || skip "no BPF here: system/calls has seen what record says"
command -v strace >/dev/null || fail "strace is not there: run tools/setup"

fetch redis
(
	unset MAKEFLAGS MAKELEVEL MFLAGS
	cd redis/src
	make -j2 MALLOC=libc CC="$TEEPERF cc" OPTIMIZATION= OPT=-O2 redis-server redis-cli \
		redis-benchmark
) >build.log 2>&1 || {
	cat build.log >&2
	fail "Redis cannot be built"
}
bin=$PWD/redis/src
cli() {
	"$bin/redis-cli" -s redis.sock "$@"
}

begin server "$TEEPERF" record -q -f --size 1G -o run.trace --events sched,syscalls,io,faults,mem \
	-- strace -f -c -o strace.out "$bin/redis-server" --port 0 --unixsocket redis.sock \
	--appendonly yes --appendfsync everysec --save '' --io-threads 4 --io-threads-do-reads yes
await_true 'cli ping 2>/dev/null | grep -q PONG' "an answer of the server" 5
pid=$(cli info server | tr -d '\r' | sed -n 's/^process_id://p')
expect 0 "$bin/redis-benchmark" -s redis.sock -n 2000 -c 20 -d 400 -t set,get,lrange_100 -q
await_true \
	'[ "$(cli info persistence | tr -d "\r" | sed -n "s/^aof_pending_bio_fsync://p")" = 0 ]' \
	"the append-only file" 5
cp "/proc/$pid/io" told
cli shutdown nosave || true
ended 0 server

query() {
	"$TEEPERF" query --format csv run.trace "$1" 2>notes | sed 1d | tr , ' ' | LC_ALL=C sort
}
query "SELECT call, count(*), sum(result BETWEEN -516 AND -512) FROM syscalls
	WHERE pid = $pid AND NOT unfinished AND rowid >=
	(SELECT max(rowid) FROM syscalls WHERE pid = $pid AND call = 'execve' AND result = 0)
	GROUP BY call" >ours
query "SELECT CASE WHEN call LIKE 'block %' THEN 'read_bytes:' WHEN call LIKE '%read%' THEN 'r' ELSE 'w' END AS kind, sum(bytes), count(*)
	FROM io WHERE pid = $pid
	AND call IN ('read', 'pread64', 'readv', 'write', 'pwrite64', 'writev', 'block read')
	GROUP BY kind" >bytes
"$TEEPERF" dump run.trace | grep '^system ' | tail -1 >lost
python3 - <<'EOS' || fail "others have counted otherwise"
import os
import sys

failed = 0
lost = dict(part.split("=") for part in open("lost").read().split()[2:])
lost_calls = int(lost.get("lost-calls", 0))
theirs = {}
for line in open("strace.out"):
    words = line.split()
    if len(words) > 4 and words[0][0].isdigit() and words[-1] != "total":
        theirs[words[-1]] = int(words[3])
ours = {call: (int(count), int(cut)) for call, count, cut in (line.split() for line in open("ours"))}
for call in sorted(ours.keys() | theirs.keys()):
    got, cut = ours.get(call, (0, 0))
    wanted = theirs.get(call, 0)
    # strace does not see the end of a call that the end of its thread has cut off.
    if not wanted - lost_calls <= got <= wanted + cut:
        print(f"{call}: {got:,}, strace has {wanted:,}")
        failed = 1
print(f"{sum(count for count, _ in ours.values()):,} calls, {sum(theirs.values()):,} by strace")
told = {key: int(value) for key, value in (line.split() for line in open("told"))}
for kind, size, count in (line.split() for line in open("bytes")):
    wanted = {"r": "rchar:", "w": "wchar:"}.get(kind, kind)
    pairs = [(wanted, int(size), told[wanted], 0)]
    if kind == "read_bytes:":
        pairs = [(wanted, int(size), told[wanted], int(lost.get("lost-blocks", 0)) << 23)]
        if os.major(os.stat("redis").st_dev) == 0:
            continue  # the device is another's
    else:
        pairs.append(("sysc" + kind + ":", int(count), told["sysc" + kind + ":"], lost_calls))
    for key, got, counted, missing in pairs:
        print(f"{key} {got:,} of {counted:,}")
        # The server has gone on until its end, and the kernel reads programs that it starts.
        if abs(got - counted) > 0.01 * counted + missing:
            failed = 1
sys.exit(failed)
EOS

expect 0 "$TEEPERF" analyze --view system --limit 0 run.trace
for row in 'read +connSocketRead' 'write +connSocketWrite' 'writev +connSocketWritev' \
	'write +flushAppendOnlyFile' 'fdatasync +bioProcessBackgroundJobs' 'futex .*IOThreadMain' \
	'epoll_wait +aeProcessEvents'; do
	says " $row\$" out
done
