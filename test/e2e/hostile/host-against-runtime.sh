#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that a host that writes over every word of the shared log, while the program attaches and
# while it works, cannot make the runtime store outside the log, hang, crash or change what the
# program computes: guard pages lie around the log, canaries in the program's memory, and all of its
# work has a known result. The recorder, 'teeperf recover' and the readers then get the resulting
# log.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
rounds=12000
stepped=400
seed=1
kept='0 2 5'
if [ "${TEEPERF_FULL:-0}" != 0 ]; then
	rounds=1000000
	stepped=20000
	seed=1000
	kept='0 1 2 3 4 5 6 7'
fi
from=$root/test/hostile
# The program puts guards around the log.
wrap="-Wl,--wrap=tp_port_reserve -Wl,--wrap=tp_port_map_whole"
${CC:-cc} -O1 -I "$root/include" -o host "$from/hostile_host.c" &&
	${CC:-cc} -O1 -I "$root/include" -o replay "$from/replay_log.c" ||
	skip "no C compiler (CC=${CC:-cc})"
printf 'fun:*\nfun:*only_counted*=count\nfun:*only_sampled*=sample/7\n' >levels.allow
"$TEEPERF" c++ --allowlist levels.allow -O1 -pthread -I "$root/include" -o program \
	"$from/hostile_program.cpp" -ldl $wrap
"$TEEPERF" cc -O1 -shared -fPIC -o library.so "$from/hostile_library.c"

mkdir -p logs
./host ./program "$TEST_TMP/library.so" $((rounds / 4 * 3)) $seed 1 120 logs >figures ||
	fail "see above"
cat figures
for kind in calls throws jumps counts marks signals switches threads libraries forks; do
	! grep -q " $kind=0" figures || fail "the program did nothing of the kind '$kind'"
done
! grep -Eq ' (chunks|stops|files|cut)=0( |$)' figures || fail "the host left something out"

# Functions of two bodies, which the host switches while they run.
"$TEEPERF" c++ --shape=dual --allowlist levels.allow -O1 -pthread -I "$root/include" -o dual \
	"$from/hostile_program.cpp" -ldl $wrap
"$TEEPERF" cc --shape=dual -O1 -shared -fPIC -o dual.so "$from/hostile_library.c"
./host ./dual "$TEST_TMP/dual.so" $((rounds / 4)) $((seed + 100000)) 1 120 >figures ||
	fail "two bodies: see above"
cat figures
for kind in calls throws jumps counts marks signals switches threads; do
	! grep -q " $kind=0" figures ||
		fail "two bodies: the program did nothing of the kind '$kind'"
done

# A program that was started without a log, takes this one while it works, as for 'record --pid',
# and leaves it: again and again.
if [ "$(uname -m)" = x86_64 ]; then
	"$TEEPERF" c++ --shape=dual -O1 -pthread -I "$root/include" -o late \
		"$from/hostile_program.cpp" -ldl $wrap
	HOSTILE_LATE=1 ./host ./late "$TEST_TMP/dual.so" $((rounds / 4)) $((seed + 200000)) 1 120 \
		>figures || fail "late: see above"
	cat figures
	for kind in calls throws jumps counts marks signals switches threads came refused; do
		grep -q " $kind=[1-9]" figures || fail "late: nothing of the kind '$kind' was done"
	done
fi

# Between two instructions of the program's attaching, one after the other.
./host ./program "$TEST_TMP/library.so" $stepped 4 8 120 >figures || fail "stepped: see above"
cat figures
! grep -q ' stepped=0$' figures || echo 'no program can be stepped through here'

checked=${TEEPERF_BUILD:-}/asan/bin/teeperf
[ -x "$checked" ] || checked=$TEEPERF
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1
read_it() {
	for command in analyze 'analyze --view tree' 'analyze --view threads' dump \
		'export --format folded'; do
		got=0
		"$checked" $command "$1" >out 2>err || got=$?
		[ $got -le 1 ] || {
			tail -40 err >&2
			fail "exit status $got: $command $1"
		}
	done
}
for number in $kept; do
	# Half of them are drained, and the others are looked at in the end.
	now='--drain now' end='--drain end'
	[ $((number % 2)) = 1 ] || now='--mode ring --ring 128K' end='--mode ring --ring 128K'
	expect 0 "$checked" record -o x.trace --size 1M $now ./replay logs/log.$number
	fake=
	facts x.trace end_sections=1 exit=1/0
	[ "$(fact records)" -gt 1000 ] || fail "nothing hostile was drained"
	read_it x.trace
	got=0
	"$checked" record -o killed.trace --size 1M $end ./replay logs/log.$number kill \
		>out 2>err || got=$?
	[ $got = 137 ] || fail "the recorder was not killed, but ended with $got"
	# The program may not have ended yet.
	for try in 1 2 3 4 5 6 7 8 9 10; do
		got=0
		"$checked" recover killed.trace >out 2>err || got=$?
		grep -q 'still writing' err || break
		sleep 0.1
	done
	# The host may have made the program's number that of a process that lives and hides its
	# maps.
	if grep -q 'still writing' err; then
		echo "log.$number cannot be recovered: $(cat err)"
		[ -z "${private:-}" ] || rm -f /dev/shm/teeperf-*
	elif [ $got = 1 ] &&
		grep -q 'are gone: they are neither in the trace nor in a log' err; then
		: # by what the host wrote into the table of threads
	elif [ $got != 0 ]; then
		cat err >&2
		fail "recover: exit status $got"
	fi
	read_it killed.trace
done
