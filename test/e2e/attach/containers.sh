#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# record --pid as root, of other users' processes and of containers: its /dev/shm leads nowhere that
# its user may not write to; one in a user namespace of its own; a frozen one; 'ctl' by the number
# that a process has outside; the log of a recorder that was killed; one without a main thread.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"
other_users || skip 'only root can record processes of others'
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'

# inside COMMAND...: a program of another user's, started by a shell that runs COMMAND before it, in
# a user namespace in which it may mount. False: there is none here.
chmod 777 . commands
inside() {
	$nobody unshare --user --map-root-user --mount true 2>/dev/null || return 1
	begin late $nobody unshare --user --map-root-user --mount \
		sh -c "$1 && exec ./late futex <commands"
	is_there
}

mkdir -m 755 ours
if inside "mount -t tmpfs tmpfs /dev && ln -s '$PWD/ours' /dev/shm"; then
	expect 1 timeout -k 5 60 "$TEEPERF" record --size 16M -o none.trace --pid "$program"
	says 'Permission denied' err
	[ -z "$(ls -A ours)" ] || fail "root made a file for another user: $(ls -lA ours)"
	over

	inside 'mount -t tmpfs tmpfs /dev/shm'
	attach mapped
	go 700
	expect 0 "$TEEPERF" ctl stop "$program"
	ended 0 record
	counted mapped 700
	[ -z "$(ls "/proc/$program/root/dev/shm")" ] || fail 'a log is left there'
	over
else
	echo 'not tried: user namespaces'
fi

# Another one has its number inside.
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	begin late unshare --pid --fork --mount-proc sh -c './late futex <commands 3>&- & wait'
	is_there
	find_outside
	attach numbers
	go 700
	expect 0 "$TEEPERF" ctl status "$program"
	says "^program +process $program\$" out
	expect 0 "$TEEPERF" ctl stop "$program"
	ended 0 record
	counted numbers 700
	exec 3>&-
	ended 0 late
fi

# A killed recorder's log is the user's whose process it recorded.
begin late $nobody sh -c 'exec ./late futex <commands'
is_there
attach killed
go 700
kill -KILL "$recorder"
wait "$recorder" || true
over
expect 0 "$TEEPERF" recover killed.trace
facts killed.trace lost=0
"$TEEPERF" analyze killed.trace --format csv >top.csv 2>err
says '^work,700,' top.csv
[ -z "$(ls /dev/shm | grep "^teeperf-$recorder-")" ] || fail "the log is left: $(ls /dev/shm)"

for groups in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	group=$groups/teeperf-test-$$
	mkdir "$group" 2>/dev/null && [ -e "$group/cgroup.freeze" ] || continue
	start futex
	echo "$program" >"$group/cgroup.procs"
	echo 1 >"$group/cgroup.freeze"
	await_true 'grep -q "^frozen 1" "$group/cgroup.events"' 'the process to be frozen'
	expect 1 timeout -k 5 20 "$TEEPERF" record --size 16M -o none.trace --pid "$program"
	says "process $program is frozen" err
	echo 0 >"$group/cgroup.freeze"
	go 700
	over
	rmdir "$group"
	break
done

cat >headless.c <<'EOC'
#include <pthread.h>
#include <stdio.h>
static void *wait_for_end(void *argument)
{
	return getchar() == EOF ? argument : NULL;
}
int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, wait_for_end, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	pthread_exit(NULL);
}
EOC
"$TEEPERF" cc -O1 -o headless headless.c -lpthread
begin headless sh -c 'exec ./headless <commands'
exec 3>commands
await headless.out ready
await_true 'grep -q "^State:.Z" /proc/$begun/status' 'the end of the main thread'
expect 1 "$TEEPERF" record --size 16M -o none.trace --pid "$begun"
says "the main thread of process $begun has ended" err
exec 3>&-
ended 0 headless

# Of two at the same moment one records, and the other says so.
start futex
for try in 1 2 3 4 5 6 7 8; do
	for side in left right; do
		begin $side "$TEEPERF" record --size 16M -o $side.trace --duration 300ms \
			--pid "$program" 3>&-
		[ $side = right ] || left=$begun
	done
	codes=
	for side in $left $begun; do
		code=0
		wait $side || code=$?
		codes="$codes $code"
	done
	case $codes in
	' 0 1' | ' 1 0' | ' 0 0') ;;
	*) fail "two recorders ended with$codes: $(cat left.err right.err)" ;;
	esac
	[ "$codes" = ' 0 0' ] ||
		grep -Eq 'is (being )?recorded|is already traced by' left.err right.err ||
		fail "no true reason: $(cat left.err right.err)"
	go 100
done
over
