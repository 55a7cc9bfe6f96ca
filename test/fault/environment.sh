#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that what the system refuses becomes one clear error or warning that names the place and
# what to do, and that what was recorded is kept: full disks, /dev/shm in all its forms, limits, and
# calls that are interrupted or do half of what they were asked for.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
private_shm || skip "a /dev/shm of our own can be mounted only by root or in a user namespace"
build_fake

# one FILE: exactly one line of error, besides warnings.
one() {
	[ "$(grep -c '^teeperf [a-z]*: ' "$1")" -gt 0 ] || fail "nothing was said"
	[ "$(grep '^teeperf [a-z]*: ' "$1" | grep -vc 'warning: ')" = 1 ] || {
		cat "$1" >&2
		fail "not one line of error"
	}
}
clean() {
	[ -z "$(find /dev/shm -name 'teeperf-*')" ] || fail "left in /dev/shm: $(ls /dev/shm)"
}

# The disk: a tmpfs of 1 MiB that fills up while it is written.
mkdir -p small
mount -t tmpfs -o size=1m tmpfs small
expect 1 "$TEEPERF" record -q -o small/x.trace --size 512K ./fake 1000000 0 wait
one err
says "'small/x.trace': cannot write the trace: No space left on device" err
says "warning: 'small/x.trace' lacks the last [0-9]+ chunks, with [0-9]+ events; the rest can be analyzed" err
facts small/x.trace threads=1
[ "$(fact records)" -gt 90000 ] || fail "only $(fact records) records were kept"
clean
cat /dev/zero >small/rest 2>err || true
while dd if=/dev/zero bs=512 count=1 >>small/rest 2>err; do
	: # what was too small for the large pieces
done
for command in "export --format folded --weight calls -o small/out" "dump -o small/out" \
	"export --format flamegraph -o small/out"; do
	expect 1 "$TEEPERF" $command small/x.trace
	says "'small/out': cannot write: No space left on device" err
done
expect 1 sh -c '"$TEEPERF" analyze small/x.trace >/dev/full'
one err
says "'standard output': cannot write: No space left on device" err
umount small

# A file system that is read-only, and a folder that vanishes or is a file.
mount -t tmpfs -o ro tmpfs small
expect 1 "$TEEPERF" record -o small/x.trace sh -c 'touch started'
one err
says "'small/x.trace': cannot create the trace: Read-only file system" err
umount small
mkdir gone
begin gone "$TEEPERF" record -q -o gone/x.trace ./fake 20000 pause
recorder=$begun
await gone.out ready
mv gone elsewhere
kill -TERM "$recorder"
wait "$recorder" || true
facts elsewhere/x.trace records=20000 end_sections=1
expect 1 "$TEEPERF" record -o fake/x.trace sh -c 'touch started'
one err
says "'fake/x.trace': cannot create the trace: Not a directory" err
[ ! -e started ] || fail "the program ran although the trace cannot be written"
clean

# /dev/shm: 64 MiB as in containers, nearly full, full, not there, read-only. noexec does no harm.
mount -t tmpfs -o size=64m,noexec tmpfs /dev/shm
expect 0 "$TEEPERF" record -o x.trace ./fake 100000 0 wait
facts x.trace records=100000 end_sections=1
head -c 63M /dev/zero >/dev/shm/full
expect 1 "$TEEPERF" record -o x.trace sh -c 'touch started'
one err
says "/dev/shm has [0-9]+ KiB free, too little for a log: make room there" err
expect 1 "$TEEPERF" record -o x.trace --size 16M sh -c 'touch started'
one err
says "a log of 19 MiB does not fit in /dev/shm, where [01] MiB are free: make room there or give" \
	err
rm /dev/shm/full
# It fills up while the program runs: the log stays small, and that is said. (The program may be
# over before a recorder without a processor has asked for more: another time.)
umount /dev/shm
mount -t tmpfs -o size=200m tmpfs /dev/shm
for _ in 1 2 3 4 5; do
	rm -f /dev/shm/full
	expect 0 "$TEEPERF" record -o x.trace --size 128M --ready 16M --mode full \
		sh -c 'cat /dev/zero >/dev/shm/full; exec ./fake 12000000 0'
	! grep -q 'ran full' err || break
done
says 'warning: /dev/shm ran full, so the log was smaller than allowed: make room there' err
fake= # records that were lost are missing between the others
facts x.trace end_sections=1
fake=--fake
[ "$(fact lost)" -gt 0 ] && [ $(($(fact records) + $(fact lost))) = 12000000 ] ||
	fail "$(cat facts)"
rm -f /dev/shm/full x.trace
umount /dev/shm
mount -t tmpfs -o ro tmpfs /dev/shm
expect 1 "$TEEPERF" record -o x.trace sh -c 'touch started'
one err
says "'/dev/shm': cannot create the shared log: Read-only file system" err
umount /dev/shm
clean

# Limits: descriptors, processes, addresses.
limited() { # LIMIT COMMAND...
	limit=$1
	shift
	(
		ulimit $limit
		exec "$@"
	)
}
refused=0
for files in $(seq 4 24); do
	got=0
	limited "-n $files" "$TEEPERF" record -q -o x.trace true >out 2>err || got=$?
	[ $got = 0 ] || [ $got = 1 ] || says 'error while loading shared libraries' err
	[ $got = 1 ] || continue
	one err
	says 'Too many open files' err
	refused=$((refused + 1))
done
[ $got = 0 ] && [ $refused -gt 2 ] || fail "descriptors did not run out, or never sufficed"
expect 1 limited '-v 200000' "$TEEPERF" record -o x.trace --size 1G sh -c 'touch started'
one err
says "cannot reserve [0-9]+ MiB of addresses: give a smaller '--size'" err
[ ! -e started ] || fail "the program ran although nothing could be recorded"
clean

# A limit of processes, which root does not have.
nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
# where the other user may go: the checkout may be in a home that is closed to him
users=$(mktemp -d)
trap 'rmdir "$users"' EXIT
mount -t tmpfs -o mode=1777 tmpfs "$users"
cp "$TEEPERF" "$users/teeperf"
chmod 1777 /dev/shm
work=$PWD
cd "$users"
if $nobody prlimit --nproc=10000 ./teeperf --version >"$work/out" 2>"$work/err"; then
	got=0
	$nobody prlimit --nproc=1 ./teeperf record -o x.trace sh \
		-c 'touch started' >"$work/out" 2>"$work/err" || got=$?
	[ $got = 1 ] || fail "exit status $got, not 1: $(cat "$work/err")"
	one "$work/err"
	says 'cannot start (the [a-z]* thread|another process): Resource temporarily unavailable' \
		"$work/err"
	[ ! -e started ] && [ ! -e x.trace ] ||
		fail "something is left of a recording that never was"
else
	echo "without a limit of processes, as no other user can run teeperf here: $(cat \
		"$work/err")"
fi
cd "$work"
umount "$users"
clean

# Interruptions and half-done calls change nothing at all: neither the trace nor the output of its
# readers.
${CC:-cc} -O1 -shared -fPIC -Wall -Werror -o short.so "$lib/short_io.c"
expect 0 "$TEEPERF" record -q -o whole.trace ./fake 100000 0 wait
expect 0 "$TEEPERF" export --format folded --weight calls whole.trace
grep -q . out || fail "an empty profile proves nothing"
mv out whole.folded
for storm in '' SHORT_IO_STORM=1; do
	for options in '' '--compress' '--mode full --drain end --clock soft'; do
		expect 3 env LD_PRELOAD=./short.so $storm "$TEEPERF" record -q -o x.trace \
			--size 4M $options ./fake 100000 3 wait
		facts x.trace records=100000 end_sections=1 exit=1/3 threads=1
	done
	expect 0 env LD_PRELOAD=./short.so $storm "$TEEPERF" export --format folded \
		--weight calls whole.trace
	cmp out whole.folded || fail "a trace that is read in pieces gives another profile"
	"$TEEPERF" dump whole.trace >whole.txt
	expect 0 env LD_PRELOAD=./short.so $storm "$TEEPERF" dump --assemble whole.txt \
		-o again.trace
	cmp again.trace whole.trace || fail "a trace that is written in pieces is another one"
done
clean
