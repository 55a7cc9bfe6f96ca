#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --tee: what a host's threads do in the TEE, and what they are called back for, stands in
# their own calls, with exact counts, several threads at a time, though host and enclave lie at the
# same addresses; times never run backwards, and add up. No SDK is here: border.h stands in for
# Intel's, in two processes, and for OP-TEE's, and the code that the SDK's tool would generate is
# written in its form. A TEE that is silent, or whose log is garbage, leaves the host's profile
# right.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
from=$root/test/tee
rounds=50
[ "${TEEPERF_FULL:-0}" = 0 ] || rounds=2000
plain="${CC:-cc} -O1 -g -I $root/include -pthread"
cc="$TEEPERF cc -I $root/include -O2 -g"
addresses='-fno-pie -no-pie' # those of both sides collide

$plain -c -o sdk_u.o "$from/border_sdk_u.c" || skip "no C compiler (CC=${CC:-cc})"
for part in host u client; do
	$cc -fno-pie -c -o $part.o "$from/border_$part.c"
done
$cc $addresses -pthread -o host host.o u.o sdk_u.o
$cc $addresses -pthread -o client client.o sdk_u.o
$cc --port=sgxsdk -fno-pie --clock=soft -c -o t.o "$from/border_t.c"
"$TEEPERF" cc --port=optee -I "$root/include" -O2 -g -fpie --clock=soft -c \
	-o ta.o "$from/border_ta.c"
# enclave NAME PORT OPTION... -- OBJECT...
enclave() {
	name=$1 port=$2
	shift 2
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	$plain -fpie -DIMAGE_PATH="\"$TEST_TMP/$name\"" $options -c \
		-o $name.sdk.o "$from/border_sdk_t.c"
	options=
	# the application is where it was loaded, in all of its kind
	[ $port = optee ] || options=$addresses
	"$TEEPERF" cc --port=$port $options -pthread -o $name "$@" $name.sdk.o \
		-Wl,--defsym=__ImageBase=__executable_start \
		-Wl,--defsym=__text_start=__executable_start
}
enclave enclave sgxsdk -- t.o
enclave application optee -DOPTEE -- ta.o

# paths TRACE: the calls of each path, of all threads together.
paths() {
	expect 0 "$TEEPERF" export --format folded --weight calls -o - "$1"
	sed 's/^[^;]*;[^;]*;//' out | awk '{ n[$1] += $2 } END { for (p in n) print p, n[p] }' |
		sort >counted
}

# sound TRACE: calls are inside of each other, times do not run backwards and add up.
sound() {
	expect 0 "$TEEPERF" query --format csv "$1" \
		"SELECT count(*) FROM calls c
			JOIN calls p ON p.id = c.parent AND p.thread = c.thread
			WHERE c.start_ns < p.start_ns OR c.end_ns > p.end_ns
			OR c.start_ns > c.end_ns"
	[ "$(tail -n 1 out)" = 0 ] ||
		fail "$(tail -n 1 out) calls of $1 are not inside of their callers"
	expect 0 "$TEEPERF" query --raw --format csv "$1" \
		"SELECT (SELECT sum(self_raw_ns) FROM calls) - (SELECT sum(duration_ns) FROM calls WHERE parent IS NULL), (SELECT count(*) FROM calls)"
	# Each time is rounded to ns, always the same way where many calls take the same few ticks.
	awk -F, 'END { exit !($1 >= -$2 && $1 <= $2) }' out ||
		fail "self times of $1 do not add up: $(cat out)"
	expect 0 "$TEEPERF" analyze --format json "$1"
	for fact in lost backwards unmatched_enters unmatched_exits holes open problems \
		unknown_resyncs; do
		grep -q "\"$fact\":0[,}]" out || fail "$fact is not 0 in $1: $(head -c 2000 out)"
	done
}

# expected THREADS [LAST]: all paths of the host and the enclave.
expected() {
	n=$((rounds * $1))
	work='host_thread;host_work'
	sum="$work;ecall_sum;sgx_ecall_sum;ecall_sum"
	note="$sum;ocall_note;enclave_ocall_note;ocall_note"
	deep="$note;ecall_deep;sgx_ecall_deep;ecall_deep;deep"
	{
		echo "main 1"
		echo "host_thread $(($1 + 1))"
		echo "host_thread;ecall_log 1"
		echo "host_thread;ecall_over $1"
		echo "$work $n"
		echo "$work;ecall_sum $n"
		echo "$work;ecall_sum;sgx_ecall_sum $n"
		echo "$sum $n"
		echo "$sum;inner $((2 * n))"
		echo "$sum;ocall_note $n"
		echo "$sum;ocall_note;enclave_ocall_note $n"
		echo "$note $n"
		echo "$note;note_leaf $((2 * n))"
		echo "$note;ecall_deep $n"
		echo "$note;ecall_deep;sgx_ecall_deep $n"
		echo "$note;ecall_deep;sgx_ecall_deep;ecall_deep $n"
		echo "$deep $n"
		echo "$deep;deep $n"
		echo "$deep;deep;deep $n"
		echo "$deep;deep;deep;deep $n"
		echo "$sum;ocall_plain $((2 * n))"
		echo "$sum;ocall_plain;enclave_ocall_plain $((2 * n))"
		echo "$sum;ocall_plain;enclave_ocall_plain;ocall_plain $((2 * n))"
		echo "$sum;ocall_plain;enclave_ocall_plain;ocall_plain;note_leaf $((2 * n))"
		echo "$work;note_leaf $n"
		cat
	} | sort
}

# ---- nothing is recorded
expect 7 ./host ./enclave $rounds 2
expect 7 "$TEEPERF" record -q -o alone.trace --clock soft -- ./host ./enclave $rounds 2

# ---- the SGX SDK
for threads in 1 3; do
	expect 7 "$TEEPERF" record -q -o sgx.trace --tee \
		--port sgxsdk -- ./host ./enclave $rounds $threads
	[ ! -e sgx.trace.tee ] || fail "the TEE's trace was left"
	sound sgx.trace
	# The last call of each thread has no parameters: where threads end at a time, nothing tells
	# whose it is.
	paths sgx.trace
	grep -v sgx_ecall_over counted >known || true
	expected $threads </dev/null | diff - known >&2 ||
		fail "the paths of $threads threads are not right"
	[ "$(awk '/sgx_ecall_over/ { n += $2 } END { print n }' counted)" = $threads ] ||
		fail "calls without parameters are missing: $(cat counted)"
	n=$((rounds * threads))
	expect 0 "$TEEPERF" analyze --view transitions --format csv sgx.trace
	tail -n +2 out | awk -F, '{ print $10, $1 }' | grep -v sgx_ecall_over | sort >counted
	printf 'enclave_ocall_note %d\nenclave_ocall_plain %d\nsgx_ecall_deep %d\nsgx_ecall_sum %d\n' \
		$n $((2 * n)) $n $n | diff - counted >&2 || fail "the transitions are not right"
done
# The two sides stay separate, though their addresses are the same.
expect 0 "$TEEPERF" query --format csv sgx.trace \
	"SELECT module, sum(calls) FROM functions WHERE function = 'ecall_sum' GROUP BY module
		ORDER BY module"
printf 'module,sum(calls)\nenclave,%d\nhost,%d\n' $n $n | diff - out >&2 ||
	fail "the sides are not told apart"
# Exports know nothing of it.
expect 0 "$TEEPERF" export --format chrome -o sgx.json sgx.trace
python3 -c 'import json, sys; json.load(open("sgx.json"))' || fail "the export is no JSON"
for name in enclave_ocall_note sgx_ecall_deep host_work; do
	[ "$(grep -o "\"$name\"" sgx.json | wc -l)" -ge $n ] ||
		fail "calls of $name are not in the export"
done
expect 0 "$TEEPERF" export --format callgrind -o - sgx.trace
says '^c?fn=.*enclave_ocall_plain' out
expect 1 "$TEEPERF" join -o again.trace sgx.trace sgx.trace
says 'already been joined' err

# A thread at a time leaves no doubt, with or without parameters.
expect 7 "$TEEPERF" record -q -o empty.trace --tee --clock soft -- ./host ./enclave $rounds 1 empty
sound empty.trace
expect 0 "$TEEPERF" query --format csv empty.trace \
	"SELECT sum(calls) FROM functions WHERE function = 'ecall_empty'"
[ "$(tail -n 1 out)" = $((2 * rounds)) ] || fail "calls without parameters are missing: $(cat out)"

# ---- OP-TEE: the log is there for the time of a command only
for handles in '' handles; do
	expect 7 "$TEEPERF" record -q -o optee.trace --tee \
		--clock soft -- ./client ./application $rounds 1 $handles
	sound optee.trace
	paths optee.trace
	top='client_thread;invoke;TA_InvokeCommandEntryPoint'
	printf '%s %d\n' 'client_thread' 2 'client_thread;invoke' \
		$((2 * rounds)) $top $((2 * rounds)) "$top;inner" $rounds "$top;sum" \
		$rounds "$top;sum;inner" $((2 * rounds)) main 1 | sort | diff - counted >&2 ||
		fail "the paths of commands are not right (${handles:-no handles})"
done
# The port's own log is small, and each command takes a chunk: so few that none of them has to come
# back.
expect 7 "$TEEPERF" record -q -o optee.trace --tee --port optee -- ./client ./application 7 1
sound optee.trace
paths optee.trace
says "^$top;sum;inner 14\$" counted
# Threads wait for one another in the middle of a command: the handles tell which is which. As each
# command takes a chunk, no more than are there when the program starts.
few=40
[ "${TEEPERF_FULL:-0}" = 0 ] || few=$rounds
expect 7 "$TEEPERF" record -q -o optee.trace --tee \
	--clock soft -- ./client ./application $few 3 handles
sound optee.trace
paths optee.trace
says "^$top;sum;inner $((6 * few))\$" counted
! grep -Eq '^(TA_|sum|inner)' counted ||
	fail "commands with handles are in threads of their own: $(cat counted)"

# ---- a TEE that records nothing
$plain -fno-pie -c -o t_plain.o "$from/border_t.c"
$plain -fno-pie -DIMAGE_PATH='"x"' $addresses -o silent t_plain.o "$from/border_sdk_t.c"
expect 7 "$TEEPERF" record -o silent.trace --tee --clock soft -- ./host ./silent $rounds 2
says 'the TEE recorded nothing' err
[ ! -e silent.trace.tee ] || fail "the trace of a silent TEE was left"
sound silent.trace

# ---- a TEE whose log is garbage
# query TRACE SQL: a TEE whose log is garbage may report missing chunks, which is a note.
query() {
	got=0
	"$TEEPERF" query --format csv "$@" >out 2>err || got=$?
	[ $got = 0 ] || {
		[ $got = 1 ] && grep -q 'warning: missing ' err
	} || fail "exit status $got: $(cat err)"
}
host_calls() {
	query "$1" "SELECT function, sum(calls) FROM functions WHERE module = 'host' GROUP BY function ORDER BY function"
}
host_calls silent.trace
mv out wanted
for some in 1 3 40; do
	enclave garbage sgxsdk -DGARBAGE=$some -- t.o
	got=0
	"$TEEPERF" record -o garbage.trace --size 2M --tee \
		--clock soft -- ./host ./garbage $rounds 2 >out 2>err || got=$?
	[ $got = 7 ] || [ $got = 1 ] ||
		fail "recording a TEE whose log is garbage ended with $got: $(cat err)"
	host_calls garbage.trace
	diff wanted out >&2 || fail "garbage in the TEE's log has changed the host's calls"
	query garbage.trace \
		"SELECT count(*) FROM calls c
			JOIN calls p ON p.id = c.parent AND p.thread = c.thread
			WHERE c.start_ns < p.start_ns OR c.end_ns > p.end_ns
			OR c.start_ns > c.end_ns"
	[ "$(tail -n 1 out)" = 0 ] || fail "calls are not inside of their callers"
done

# ---- what does not go together
for wrong in "--attach x" "--follow-fork ./host" "--mode ring ./host" "--clock none ./host" \
	"--port gramine ./host"; do
	expect 129 "$TEEPERF" record --tee -o x.trace $wrong
done
expect 129 "$TEEPERF" record --tee -o x.trace
expect 1 "$TEEPERF" record --tee -o /dev/null ./host ./enclave 1 1
says 'regular file' err
expect 129 "$TEEPERF" join sgx.trace
expect 1 "$TEEPERF" join -o x.trace sgx.trace missing.trace
expect 1 "$TEEPERF" join -o x.trace sgx.trace "$from/border.h"
[ ! -e x.trace ] || fail "a trace was left where nothing was joined"
