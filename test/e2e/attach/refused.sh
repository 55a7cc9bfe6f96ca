#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# record --pid: processes that cannot be recorded, each with one sentence that says why; a recorder
# that was killed, after which the program can be recorded again; a static and a stripped program;
# the process's own /dev/shm; another user's.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

# refused PATTERN ARGUMENTS...
refused() {
	pattern=$1
	shift
	expect 1 timeout 60 "$TEEPERF" record --size 16M -o none.trace "$@"
	says "$pattern" err
	[ "$(wc -l <err)" = 1 ] || fail "more than one sentence: $(cat err)"
}
expect 0 true
sleep 1000 &
other=$!
refused "no code built with 'teeperf cc'" --pid "$other"
kill "$other"
wait "$other" || true
refused "process $other does not exist" --pid "$other"
expect 129 "$TEEPERF" record --pid $$ --duration soon
says "'--duration' takes a time" err
expect 129 "$TEEPERF" record --pid $$ true
says 'names a running process' err
expect 129 "$TEEPERF" record --duration 1s true
expect 129 "$TEEPERF" record --pid $$ --follow-fork

# It is recorded already; by one that is killed; by another one, which ends by itself.
start futex
attach first
refused '(is recorded already|is being recorded)' --pid "$program"
kill -KILL "$recorder"
wait "$recorder" || true
attach second
go 1000
expect 0 "$TEEPERF" ctl stop "$recorder"
ended 0 record
counted second 1000
expect 0 "$TEEPERF" record --pid "$program" --size 16M -o third.trace --duration 100ms
# The program ends while it is recorded.
attach fourth
go 500
over
ended 0 record
counted fourth 500
# One that was started by a recorder.
begin launched "$TEEPERF" record -o launched.trace ./late spin </dev/null
ended 0 launched

# Static, and without symbols.
for how in -static -static-pie -s; do
	"$TEEPERF" cc -O1 -DSHARED_HEAP $how -o late "$lib/late_program.c" -lpthread
	start poll futex
	attach how
	go 300
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 record
	facts how.trace lost=0
	[ "$(fact records)" -ge 2400 ] || fail "$how: $(fact records) records"
	over
done

# A /dev/shm of its own, as in a container; and another user's process.
"$TEEPERF" cc -O1 -o late "$lib/late_program.c" -lpthread
if unshare -m true 2>/dev/null; then
	begin late unshare -m sh -c 'mount -t tmpfs tmpfs /dev/shm && exec ./late futex <commands'
	is_there
	attach apart
	go 700
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 record
	counted apart 700
	[ -z "$(ls "/proc/$program/root/dev/shm")" ] || fail "a log is left there"
	over
fi

# A recorder in another namespace of processes: its id there is nobody's here. When it is killed the
# log is nobody's.
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	free=30000
	while [ -e /proc/$free ]; do
		free=$((free - 1))
	done
	cat >inside.sh <<'EOC'
echo $(($2 - 1)) >/proc/sys/kernel/ns_last_pid || exit 77
"$1" record --size 16M -o inside.trace --pid "$3" 2>inside.err &
echo $! >inside.recorder
wait $!
EOC
	cat >around.sh <<'EOC'
./late futex <commands 3>&- &
while ! grep -q ready late.out; do sleep 0.1; done
sh inside.sh "$@" "$(sed -n 's/^ready //p' late.out)" &
wait
EOC
	: >inside.err
	begin late unshare --pid --fork --mount-proc sh around.sh "$TEEPERF" $free
	exec 3>commands
	await_true 'grep -q "recording process" inside.err || grep -q ns_last_pid late.err' \
		'a recorder inside'
	if [ "$(cat inside.recorder)" = $free ]; then
		program=$(sed -n 's/^ready //p' late.out)
		find_outside
		told=0
		refused '(is recorded already|is being recorded)' --pid "$program"
		for recorder in $(tree $begun); do
			[ "$(cat /proc/$recorder/comm)" != teeperf ] || break
		done
		kill -KILL "$recorder"
		await_true '[ ! -e /proc/$recorder ]' 'the end of the recorder inside'
		attach outside
		go 700
		expect 0 "$TEEPERF" ctl stop "$recorder"
		ended 0 record
		counted outside 700
	else
		echo "not tried: a recorder in another namespace of processes ($(cat late.err))"
	fi
	exec 3>&-
	ended 0 late
	says '^over 0 5$' late.out
fi
if other_users; then
	chmod 777 . commands
	begin late setpriv --reuid=65534 --regid=65534 --clear-groups sh \
		-c 'exec ./late futex <commands'
	is_there
	attach theirs
	go 700
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 record
	counted theirs 700

	# A user who may not, and what to do about it.
	as_nobody() {
		expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$TEEPERF" record \
			--size 16M -o none.trace --pid "$1"
		says "$2" err
	}
	sleep 1000 &
	as_nobody $! "process $! belongs to user 0: record it as that user, or as root"
	kill $!
	over
	# Its own process, of a file that it may not read, so that nobody may look into its memory.
	chmod 711 late
	begin late setpriv --reuid=65534 --regid=65534 --clear-groups sh \
		-c 'exec ./late futex <commands'
	exec 3>commands
	await late.out ready
	program=$(sed -n 's/^ready //p' late.out)
	[ -e /proc/sys/kernel/yama/ptrace_scope ] || as_nobody "$program" 'PR_SET_DUMPABLE'
	mkdir -p kernel/yama
	echo 1 >kernel/yama/ptrace_scope
	if [ "${private:-}" ] && mount --bind kernel /proc/sys/kernel; then
		as_nobody "$program" \
			"record as root, or set it to 0 \\('sysctl kernel.yama.ptrace_scope=0'"
		umount /proc/sys/kernel
	fi
	over
fi
