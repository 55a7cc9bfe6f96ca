#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves under ThreadSanitizer that the threads of the runtime, and those of the recorder, share
# nothing without order: no report at all, and no suppressions.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
checked=${TEEPERF_BUILD:-}/tsan/bin
[ -x "$checked/teeperf" ] && [ -x "$checked/runtime_threads" ] ||
	skip "built without -DTEEPERF_TEST_TSAN=ON"
export TSAN_OPTIONS=exitcode=66:halt_on_error=0:second_deadlock_stack=1
# It wants to know where memory is: some kernels choose places that it does not know.
wrap=
"$checked/teeperf" --version >out 2>err || {
	says 'ThreadSanitizer: unexpected memory mapping' err
	wrap="setarch -R"
	$wrap "$checked/teeperf" --version >out 2>err ||
		skip "ThreadSanitizer does not run on this kernel"
}
rounds=5
[ "${TEEPERF_FULL:-0}" = 0 ] || rounds=400

$wrap "$checked/runtime_threads" $rounds >out 2>err || {
	# On a busy machine not all of its threads got their turn.
	says 'too little was done' err
	expect 0 $wrap "$checked/runtime_threads" $((20 * rounds))
}
cat out

cat >app.c <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static int leaf(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}
static void *run(void *unused)
{
	for (int i = 0; i < 60000; i++)
		leaf(i);
	return unused;
}
int main(int argc, char **argv)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	for (int round = 0; round < 3; round++) {
		pthread_t threads[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, run, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; argc > 1 && !strcmp(argv[1], "wait") && access("go", F_OK); i++) {
		run(NULL);
		nanosleep(&nap, NULL);
	}
	if (argc > 1 && !strcmp(argv[1], "kill"))
		raise(SIGKILL);
	return 0;
}
EOF
"$TEEPERF" cc -O1 -pthread -o app app.c

quiet() {
	! grep -q 'ThreadSanitizer' "$@" || {
		cat "$@" >&2
		fail "ThreadSanitizer has found something"
	}
}
record() {
	wanted=$1
	shift
	expect "$wanted" $wrap "$checked/teeperf" record -o x.trace --size 1M "$@"
	quiet err
	fake=
	facts x.trace end_sections=1
}
record 0 --clock soft --drain now ./app
record 0 --clock count --drain late --compress ./app
record 0 --mode full --drain now ./app
record 137 --clock soft ./app kill

# All that 'teeperf ctl' can ask for, while the recorder is busy.
begin run $wrap "$checked/teeperf" record -o x.trace --size 1M --clock soft --compress \
	--control=URG ./app wait
recorder=$begun
trap ": >go" EXIT # let it end, whatever happens
await_true '"$TEEPERF" ctl status $recorder >status 2>&1 && grep -q records status' \
	"the recorder's answer"
for verb in off flush on status flush off on; do
	# On a busy machine it may be obeyed later.
	"$TEEPERF" ctl $verb $recorder >status 2>&1 || grep -q 'has not obeyed yet' status || {
		cat status >&2
		fail "ctl $verb"
	}
done
: >go
got=0
wait $recorder || got=$?
[ $got = 0 ] || fail "record: exit status $got"
quiet run.err
facts x.trace end_sections=1

# Processes that come and go, in several at once, while their traces are asked for.
cat >forks.c <<'EOF'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
int main(void)
{
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 8; i++)
			if (fork() == 0) {
				for (int j = 0; j < 20000; j++)
					leaf();
				_exit(i);
			}
		while (wait(NULL) > 0)
			;
	}
	return 0;
}
EOF
"$TEEPERF" cc -O1 -o forks forks.c
begin forks $wrap "$checked/teeperf" record -q -f --clock soft -o forks.trace --size 2M ./forks
recorder=$begun
# It may end between any two of them.
await_true 'for verb in flush off status on; do
		"$TEEPERF" ctl $verb $recorder >status 2>&1 || true
	done
	! kill -0 $recorder 2>/dev/null' 'the end of all processes' 10
ended 0 forks
quiet forks.err
