#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a program that somebody else starts is recorded through a file exactly as one that the
# recorder starts, with a hardware and a soft clock, in C and C++, with threads and libraries; that
# the recording ends when the program does, however it ends; and that a file that will not do is
# refused, and left as it was.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/waits.sh"
private_shm || true
fake=
cat >app.cpp <<'EOC'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <thread>
#include <unistd.h>
#include <vector>
extern "C" int in_library(int);
struct last {
	__attribute__((noinline)) ~last() { asm volatile(""); }
} global;
__attribute__((noinline)) static int leaf(int i)
{
	asm volatile("");
	return in_library(i);
}
__attribute__((noinline)) static int middle(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}
int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 3; i++)
		threads.emplace_back([] {
			for (int k = 0; k < 100; k++)
				middle(100);
		});
	for (auto &thread : threads)
		thread.join();
	if (argc > 1 && !strcmp(argv[1], "_exit"))
		_exit(0);
	if (argc > 1 && !strcmp(argv[1], "kill"))
		kill(getpid(), SIGKILL);
	if (argc > 1 && !strcmp(argv[1], "stay")) {
		std::puts("stays");
		std::fflush(stdout);
		for (;;)
			pause();
	}
	return middle(50) == 0;
}
EOC
cat >library.c <<'EOC'
int in_library(int x);
__attribute__((destructor)) static void behind(void)
{
	in_library(1);
}
__attribute__((noinline)) int in_library(int x)
{
	__asm__ volatile("");
	return x + 1;
}
EOC
cat >plain.c <<'EOC'
__attribute__((noinline)) static int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int main(void)
{
	int x = 0;
	for (int i = 0; i < 20000; i++)
		x = step(x);
	return x != 20000;
}
EOC
"$TEEPERF" cc -O1 -g -shared -fPIC -o library.so library.c
"$TEEPERF" c++ -O1 -g -pthread -o app app.cpp ./library.so
"$TEEPERF" cc -O1 -g -o plain plain.c
log=/dev/shm/attach-test.$$.log

# counts TRACE: function=calls of all, in one line.
counts() {
	"$TEEPERF" analyze "$1" --view top --format csv >top.csv 2>/dev/null
	awk -F, 'NR > 1 { print $1 "=" $2 }' top.csv | sort | tr '\n' ' '
}

# attach [OPTIONS...]: a recorder that waits for a program at $log.
attach() {
	waits -o attached.trace --size 4M --attach "$log" "$@"
}

# stay: ./app in the background, $program, which has made its calls and stays.
stay() {
	begin stay env "TEEPERF_LOG=$log" ./app stay
	program=$begun
	await stay.out stays
}

for program in app plain; do
	expect 0 "$TEEPERF" record -q -o launched.trace ./$program
	counts launched.trace >expected
	[ -s expected ] || fail "nothing was recorded"
	for clock in tsc soft count none; do
		[ $clock != tsc ] || grep -q constant_tsc /proc/cpuinfo || continue
		attach --clock $clock
		# By another process than the recorder's parent, of another session.
		TEEPERF_LOG=$log setsid ./$program >program.out
		ends 0 'the program reported its end'
		[ ! -e $log ] || fail "the log was left"
		facts attached.trace lost=0 end_sections=1
		counts attached.trace >attached
		cmp expected attached || {
			cat expected attached >&2
			fail "the counts differ ($program, $clock)"
		}
	done
done

# In a file that is there and has other users before and behind, twice.
mkdir -p files
dd if=/dev/urandom of=files/memory bs=64K count=160 2>/dev/null
cp files/memory files/before
log=$PWD/files/memory
expect 1 "$TEEPERF" record --attach files/memory --offset 128K --size 1M -o x.trace
says "files/memory' at offset 1310[0-9]+: the [0-9]+ KiB from byte [0-9]+ on hold other data" err
cmp files/memory files/before || fail "a file that was refused was changed"
for round in force again; do
	option=
	[ $round = again ] || option=--force
	attach --offset 128K $option
	says "TEEPERF_LOG_OFFSET=131072" recorder.err
	TEEPERF_LOG=$log TEEPERF_LOG_OFFSET=131072 ./plain
	ends 0 'the program reported its end'
	counts attached.trace | cmp - expected ||
		fail "the counts differ in a file with others' memory"
done
[ "$(stat -c %s files/memory)" = 10485760 ] || fail "the file's size has changed"
cmp -n 131072 files/memory files/before || fail "what lies before the log was changed"
tail -c 2097152 files/memory >a && tail -c 2097152 files/before | cmp - a ||
	fail "what lies behind it was"
# A program that comes late finds no log there.
TEEPERF_LOG=$log TEEPERF_LOG_OFFSET=131072 ./plain

# A foreign byte anywhere in what the log needs counts, also behind zeroes, holes and an earlier
# log.
truncate -s 10M sparse
printf x | dd of=sparse bs=1 seek=1000001 conv=notrunc 2>/dev/null
cp sparse sparse.before
expect 1 "$TEEPERF" record --attach sparse --size 1M -o x.trace
says "sparse' at offset 1000001: the [0-9]+ KiB from byte [0-9]+ on hold other data.*another file.*--offset.*--force" err
[ "$(wc -l <err)" = 1 ] || fail "more than one line: $(cat err)"
expect 1 "$TEEPERF" record --attach sparse --offset 64K --size 1M -o x.trace
says "at offset 1000001" err
cmp sparse sparse.before || fail "a file that was refused was changed"
log=$PWD/sparse
for size in 1M 1M; do
	attach --offset 1M --size $size
	TEEPERF_LOG=$log TEEPERF_LOG_OFFSET=1048576 ./plain
	ends 0 'the program reported its end'
done
printf x | dd of=sparse bs=1 seek=7000001 conv=notrunc 2>/dev/null
cp sparse sparse.before
expect 1 "$TEEPERF" record --attach sparse --offset 1M --size 4M -o x.trace
says "at offset 7000001" err
cmp sparse sparse.before || fail "a file that was refused was changed"

# A name that everybody can guess: only a file of our own is taken.
if other_users && [ ! -e /dev/shm/teeperf-gramine.log ]; then
	: >/dev/shm/teeperf-gramine.log
	chown 65534 /dev/shm/teeperf-gramine.log
	expect 1 "$TEEPERF" record --port gramine --force -o x.trace ./plain
	says "teeperf-gramine.log': it belongs to user 65534: remove it" err
	rm /dev/shm/teeperf-gramine.log
fi

# However it ends.
log=/dev/shm/attach-test.$$.log
for how in kill _exit; do
	attach
	TEEPERF_LOG=$log ./app $how || true
	ends 0 'no process had the log open any more|was over'
	"$TEEPERF" analyze attached.trace --format csv 2>/dev/null |
		grep -q '^middle(int),30[01],\|middle(int),300' ||
		fail "calls are missing after '$how'"
done
attach
stay
expect 0 "$TEEPERF" ctl status $recorder
says '^recording  on$' out
kill -TERM $recorder
ends 0 'next: teeperf analyze'
kill -0 $program || fail "the program died with its recording"
kill -KILL $program
attach --pid $$ --attach-timeout 0
ends 1 'no instrumented program attached.*in time'
sleep 1000 &
watched=$!
attach --pid $watched
kill $watched
ends 1 'no instrumented program attached.*before the process ended'

# A program that ran before: it does not connect, and the reason is reported.
stay
attach --attach-timeout 1
ends 1 'a program looks for its log only when it starts'
kill -KILL $program

# A killed recorder: the part that it had not drained is recovered, and the file is available again.
attach --drain end
TEEPERF_LOG=$log ./plain &
program=$!
wait $program
kill -KILL $recorder 2>/dev/null || true
wait $recorder || true
attach --drain end
stay
expect 0 "$TEEPERF" ctl status $recorder
says '^recording  on$' out
kill -KILL $recorder
wait $recorder || true
expect 1 "$TEEPERF" record --attach $log -o x.trace
says 'it is the log of an earlier recording that process [0-9]+ still has mapped' err
kill -KILL $program
gone $program
expect 0 "$TEEPERF" recover attached.trace
[ -e $log ] || fail "recovery has removed the file that others know"
attach --attach-timeout 0
ends 1 'no instrumented program'

# What will not do.
rm $log
attach
expect 1 "$TEEPERF" record --attach $log --force -o x.trace
says "it is the log of another recorder, process $recorder" err
kill -TERM $recorder
wait $recorder || true
ln -sf files/memory link
expect 1 "$TEEPERF" record --attach link -o x.trace
says 'symbolic link' err
truncate -s 1M small
expect 1 "$TEEPERF" record --attach small -o x.trace
says 'has 1024 KiB for the log, which needs' err
expect 1 "$TEEPERF" record --attach small --offset 1M -o x.trace
says 'begin at byte 1048576, but the file has 1048576 bytes' err
expect 1 "$TEEPERF" record --attach small --offset 4K -o x.trace
says "multiple of 64K" err
expect 1 "$TEEPERF" record --attach . -o x.trace
expect 1 "$TEEPERF" record --attach /dev/null -o x.trace
says 'regular file' err
expect 1 "$TEEPERF" record --attach $log --pid 4194303 --attach-timeout 0 -o x.trace
says 'process 4194303 does not exist' err
[ ! -e $log ] || fail "a recording that did not begin has left its log"
[ ! -e x.trace ] || fail "a recording that did not begin has left a trace"
for wrong in '--force ./app' '--offset 64K ./app' '--pid 1 ./app' "--attach $log --follow-fork" \
	"--attach $log --signals" "--attach $log --offset 64K --port gramine" \
	"--attach $log --stream x"; do
	expect 129 "$TEEPERF" record $wrong
done
