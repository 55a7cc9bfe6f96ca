#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A library OS has numbers of its own for its threads, as Gramine: the times at which they ran show
# which of the host's threads ran which of them. Functions then have running, waiting and the
# kernel's events, and none of these where the times do not decide.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
private_shm || true # Gramine's log has one name
log=/dev/shm/teeperf-gramine.log
[ ! -e "$log" ] || skip "another recording has '$log'"
${CC:-cc} -O1 -o virtual_ids "$root/test/tee/virtual_ids.c" || skip "no C compiler (CC=${CC:-cc})"

# Five threads take turns, and each sleeps in its turn, while the others wait: nothing depends on
# how fast the machine is.
cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define ROUNDS 5
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static int turn;
static long tids[5], virtuals[5];
__attribute__((noinline)) static void nap(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	nanosleep(&ms, NULL);
}
__attribute__((noinline)) static void zero(void) { nap(); umask(022); nap(); }
__attribute__((noinline)) static void one(void) { nap(); getppid(); nap(); }
__attribute__((noinline)) static void two(void) { nap(); close(-1); nap(); }
__attribute__((noinline)) static void three(void) { nap(); if (chdir("/")) abort(); nap(); }
__attribute__((noinline)) static void four(void) { nap(); lseek(-1, 0, SEEK_SET); nap(); }
static const char *const names[] = {"zero", "one", "two", "three", "four"};
static void (*const works[])(void) = {zero, one, two, three, four};
__attribute__((noinline)) static void wait_for_turn(int number)
{
	pthread_mutex_lock(&lock);
	while (turn % 5 != number)
		pthread_cond_wait(&passed, &lock);
	pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) static void pass(void)
{
	pthread_mutex_lock(&lock);
	turn++;
	pthread_cond_broadcast(&passed);
	pthread_mutex_unlock(&lock);
}
static void *work(void *number)
{
	const int i = (int)(intptr_t)number;
	char target[64] = {0};
	if (readlink("/proc/thread-self", target, sizeof(target) - 1) > 0)
		sscanf(target, "%*d/task/%ld", &tids[i]);
	virtuals[i] = syscall(SYS_gettid);
	for (int round = 0; round < ROUNDS; round++) {
		wait_for_turn(i);
		nap();
		works[i]();
		nap();
		pass();
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[5];
	for (int i = 1; i < 5; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i))
			return 1;
	work(NULL);
	for (int i = 1; i < 5; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 5; i++)
		printf("%s %ld %ld\n", names[i], virtuals[i], tids[i]);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc --port=gramine --clock=auto -O1 -g -pthread -o app app.c
got=0
./virtual_ids ./app >out 2>err || got=$?
[ $got != 77 ] || skip "the kernel has no notifications of system calls for us"
[ $got = 0 ] || fail "the stand-in does not run the program: $(cat out err)"
[ "$(cut -d' ' -f2 out | sort -n | tr '\n' ' ')" = "1 2 3 4 5 " ] ||
	fail "the program sees the host's numbers: $(cat out)"

events=
may_bpf && events='--events sched,syscalls' ||
	echo "not tried: system events, as there is no BPF here"
printf '#!/bin/sh\nTEEPERF_LOG=%s exec ./virtual_ids ./app\n' "$log" >launcher
chmod +x launcher
# A processor's clock: where the recorder's stands still for long, times do not tell.
# shellcheck disable=SC2086 # words
expect 0 "$TEEPERF" record -q --port gramine --clock tsc $events -o run.trace -- ./launcher
mv out told
"$TEEPERF" dump run.trace >run.txt
says 'line "ids=virtual"' run.txt
if ! grep -q '^sched ' run.txt; then
	expect 0 "$TEEPERF" analyze run.trace
	says '^waits ' out
	skip "the kernel tells nothing of thread switches"
fi
! grep -Eq '^sched .*lost=[1-9]' run.txt || skip "the kernel lost switches"
expect 0 "$TEEPERF" query --raw --format csv run.trace \
	'SELECT DISTINCT tid FROM threads ORDER BY tid'
printf '%s\n' tid 1 2 3 4 5 | diff - out >&2 || fail "the trace has other numbers than the program"

# Each thread is found. A nap is waiting, whatever else happens on this machine, but for those
# before which the thread was kept from running with its timer already set. A thread has 20 naps.
expect 0 "$TEEPERF" analyze run.trace
! grep -Eq '^(system|waits) ' out || fail "threads are not found among the host's: $(cat out)"
expect 0 "$TEEPERF" query --raw --format csv run.trace \
	"SELECT count(*), sum(self_wait_ns >= 900000) > 90 FROM calls
	WHERE fn = (SELECT fn FROM functions WHERE function = 'nap')"
says '^100,1$' out

# named TRACE: which function made the system call that only it makes, and in which of the host's
# threads.
named() {
	expect 0 "$TEEPERF" query --raw --format csv "$1" "SELECT function, tid FROM syscalls WHERE
		call IN ('umask', 'getppid', 'chdir', 'lseek') OR (call = 'close' AND result < 0)
		GROUP BY 1, 2 ORDER BY 1"
}
if [ "$events" ]; then
	cut -d' ' -f1,3 told | tr ' ' , | sort >wanted
	named run.trace
	sed -n '2,$p' out | sed "/^,/d" >found
	diff wanted found >&2 ||
		fail "system calls are put to other functions than those that made them"
	expect 0 "$TEEPERF" analyze --view waits run.trace
	says ' wait_for_turn +pass ' out
fi

# changed SED NAME: the trace with something else in it.
changed() {
	sed "$1" run.txt >"$2.txt"
	! cmp -s run.txt "$2.txt" || fail "the trace has no line to change"
	expect 0 "$TEEPERF" dump --assemble "$2.txt" -o "$2.trace"
}

# Numbers that are another thread's at the host are not taken for that thread's.
first=$(sed -n 's/.* 1 //p' told)
second=$(sed -n 's/.* 2 //p' told)
changed "/^chunk/s/ tid=1 / tid=$second /; /^chunk/s/ tid=2 / tid=$first /; /thread tid=/s/ tid=1 / tid=$second /; /thread tid=/s/ tid=2 / tid=$first /" numbers
expect 0 "$TEEPERF" query --raw --format csv run.trace \
	"SELECT thread, wait_ns, preempted_ns FROM threads ORDER BY 1"
mv out threads
expect 0 "$TEEPERF" query --raw --format csv numbers.trace \
	"SELECT thread, wait_ns, preempted_ns FROM threads ORDER BY 1"
diff threads out >&2 || fail "the log's numbers are taken for the host's"
# Without the times of all switches, or where threads are not the host's one by one, nothing is
# guessed.
changed 's/^\(sched .*\)lost=0/\1lost=3/' lost
changed 's/ids=virtual/ids=foreign/' foreign
for trace in lost foreign; do
	expect 0 "$TEEPERF" analyze $trace.trace
	says "^waits .*numbers are not the host's|^waits .*were lost, and the others do not identify its threads" out
	[ -z "$events" ] || says "^system .*no function is named" out
	expect 1 "$TEEPERF" analyze --time wait $trace.trace
	expect 1 "$TEEPERF" what-if $trace.trace
	says "has no running and waiting times" err
done
