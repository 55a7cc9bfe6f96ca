#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that no command crashes, keeps silent or shows half a result as whole when an allocation or
# a call of the system fails: each in turn, alone and with all that follow. Short form: a few of
# each command.
# TEEPERF_FULL=1: every one of 'analyze', and 200 of the others.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
private_shm || true
# In a /dev/shm that others use, too, what was there is theirs.
find /dev/shm -name 'teeperf-*' | sort >theirs

most=3
every=20
if [ "${TEEPERF_FULL:-0}" = 1 ]; then
	most=200
	every=0
fi
${CC:-cc} -O1 -shared -fPIC -Wall -Werror -o fail.so "$lib/fail_nth.c" ||
	skip "no C compiler (CC=${CC:-cc})"
# Where there is a build with address and undefined behaviour sanitizers, it is the one to fail.
tool=$TEEPERF
asan=${TEEPERF_BUILD:-$root/build/dev}/asan/bin/teeperf
if [ -x "$asan" ]; then
	tool=$asan
	export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
fi
nth() {
	python3 "$lib/fail_nth.py" ./fail.so "$most" "$@"
}

echo 'fun:leaf' >leaf.allow
printf '# a list with all that a list may have\nfun:leaf=count\nsrc:*.c\nmod:crash\nfun:main=forbid\n' >all.allow
expect 0 "$TEEPERF" cc --allowlist=leaf.allow -O1 -g -pthread -o crash "$lib/crash_program.c"
head -c 1024 /dev/zero >accounts
expect 0 "$TEEPERF" record -q -o a.trace ./crash accounts 2 50 0
expect 0 "$TEEPERF" record -q --compress -o b.trace ./crash accounts 3 50 0

# Each of the first ones, where a thread's profile begins.
python3 "$lib/fail_nth.py" ./fail.so $every -- "$tool" analyze a.trace
for view in top tree threads; do
	nth -- "$tool" analyze --view $view a.trace
done
nth -- "$tool" analyze --format csv b.trace
nth -- "$tool" analyze --format json a.trace
for format in folded flamegraph "flamegraph --inverted" "flamegraph --baseline a.trace" pprof \
	callgrind perfdata speedscope; do
	nth --prepare 'rm -f out.export' --verify 'test -s out.export' -- \
		"$tool" export --format $format -o out.export a.trace
done
# Names are in the trace: without a module's file they would be others.
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/two-threads/trace.txt" -o names.trace
for format in chrome firefox perfetto; do
	expect 0 "$TEEPERF" export --format $format -o whole.$format names.trace
	nth --prepare 'rm -f out.export' --verify "cmp whole.$format out.export" -- \
		"$tool" export --format $format -o out.export names.trace
done
expect 0 "$TEEPERF" export --format uftrace -o whole.uftrace names.trace
nth --prepare 'rm -rf out.export' --verify "diff -r whole.uftrace out.export" -- \
	"$tool" export --format uftrace -o out.export names.trace
rm -rf pieces
mkdir pieces
expect 0 "$TEEPERF" export --format uftrace --split 200 -o pieces/out names.trace
nth --prepare 'rm -rf parts && mkdir parts' --verify "diff -r pieces parts" -- \
	"$tool" export --format uftrace --split 200 -o parts/out names.trace
expect 0 "$TEEPERF" fleet add -q --to whole.fleet names.trace
# Of one trace: of several, each that fails has its error, and the others are added.
nth --prepare 'rm -rf out.fleet' --verify 'diff -r whole.fleet out.fleet' -- "$tool" fleet add -q \
	--to out.fleet names.trace
expect 0 "$TEEPERF" fleet add -q --to whole.fleet a.trace
cp -r whole.fleet compact.fleet
expect 0 "$TEEPERF" fleet compact -q compact.fleet
nth --prepare 'rm -rf out.fleet; cp -r whole.fleet out.fleet' \
	--verify 'diff -r compact.fleet out.fleet' -- "$tool" fleet compact -q out.fleet
server=
# Pushed: a run of which a request failed is sent again, so that its rows may be there twice.
python3 "$lib/push_server.py" rows port &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
await_true 'test -e port' 'the server that is pushed to'
to=http://127.0.0.1:$(cat port)
export no_proxy=127.0.0.1
expect 0 "$TEEPERF" fleet push -q --to "$to" whole.fleet
sort -u rows >whole.rows
test -s whole.rows
nth --prepare 'rm -f rows' --verify 'sort -u rows | cmp whole.rows' -- \
	"$tool" fleet push -q --retries 0 --to "$to" whole.fleet
# What failed before is made good.
nth --verify 'sort -u rows | cmp whole.rows' -- "$tool" fleet push -q --retries 0 \
	--to "$to" whole.fleet
nth -- "$tool" dump a.trace
"$TEEPERF" dump a.trace >a.txt
nth --prepare 'rm -f again' --verify 'cmp again a.trace' -- "$tool" dump --assemble a.txt -o again
nth -- "$tool" inventory crash
nth -- "$tool" inventory --format json crash
nth --trouble 2 -- "$tool" allowlist check all.allow -- crash
nth --trouble 2 -- "$tool" allowlist explain leaf all.allow -- crash
nth --trouble 2 -- "$tool" allowlist diff leaf.allow all.allow -- crash
nth -- "$tool" allowlist fmt all.allow
nth -- "$tool" allowlist generate --profile a.trace

verify() {
	echo "'$TEEPERF' analyze --view threads --format csv r.trace | cut -d, -f6 | sort -u | tr '\n' ' ' |
		grep -qx '50 calls '"
}
for options in '' '--compress --clock soft --mode full'; do
	nth --prepare 'rm -f r.trace*' --verify "$(verify)" -- \
		"$tool" record -q -o r.trace --size 1M $options ./crash accounts 2 50 0
done
left=$(find /dev/shm -name 'teeperf-*' | sort | comm -13 theirs -)
[ -z "$left" ] || fail "left behind: $left"

# A recorder that was killed: its trace and its log, again and again. What cannot be recovered
# stays. Its accounts are its own: a program whose recorder failed above may still be writing to the
# others.
head -c 1024 /dev/zero >accounts.killed
begin killed "$TEEPERF" record -q -o x.trace --size 1M --drain end ./crash accounts.killed 2 0 50
recorder=$begun
trap 'kill -KILL $recorder $program $server 2>/dev/null || true' EXIT
program=
await_true '[ "$(find /dev/shm -name "teeperf-$recorder-*.trace")" ]' 'the log'
# Both of its threads have called something.
for at in 16 80; do
	await_true '[ "$(od -An -tu8 -j$at -N8 accounts.killed | tr -d " ")" != 0 ]' \
		'calls of both threads'
done
program=$(cat "/proc/$recorder/task/$recorder/children")
program=${program% }
kill -KILL "$recorder" "$program"
wait "$recorder" || true
gone "$program"
log=$(find /dev/shm -name "teeperf-$recorder-*" ! -name '*.trace')
cp "$log" saved.log
cp x.trace saved.trace
nth --prepare "cp saved.trace x.trace; cp saved.log $log" \
	--verify "test ! -e $log && '$TEEPERF' analyze x.trace" -- "$tool" recover -q x.trace
# What cannot be read is neither another file nor the end of the trace.
nth --prepare "cp saved.trace x.trace; cp saved.log $log; ln -sf '$PWD/x.trace' $log.trace; rm -f r.trace*" \
	--verify "$(verify) && { test -e $log || '$TEEPERF' analyze x.trace; }" -- \
	"$tool" record -o r.trace --size 1M ./crash accounts 2 50 0
