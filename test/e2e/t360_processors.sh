#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The same programs natively and for aarch64 and riscv64 under qemu-user, with the log shared with this
# machine's recorder: each call path has the same calls on each processor. C with threads, C++ with exceptions and
# longjmp; both shapes, all levels, both kinds of exits, static and shared; pages of 4 to 64 KiB; names and lines
# are what other tools say; the recorder's counter is seen to move.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
fake=
full=${TEEPERF_FULL:-0}
host=$(uname -m)
machines=
for machine in x86_64 aarch64 riscv64; do
	[ "$machine" != "$host" ] || continue
	links_for $machine || continue
	command -v qemu-$machine >/dev/null && [ -e "$TEEPERF_BUILD/lib/teeperf/$machine/libteeperf.a" ] &&
		[ -e /usr/$machine-linux-gnu/lib/libstdc++.so.6 ] && machines="$machines $machine"
done
[ -n "$machines" ] || skip "no other processor: qemu-user or the C++ libraries of the others are not there"

# Opening braces are on the line of the name: addr2line tells where the body begins.
cat >threads.c <<'EOF'
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#define KEEP __attribute__((noinline))
enum { THREADS = 4, CALLS = 20000 };
extern __thread uint64_t block[] __asm__("__teeperf_thread");
KEEP static int fib(int n) {
	int r = n < 2 ? n : fib(n - 1) + fib(n - 2);
	__asm__ volatile("" : "+r"(r)); // or the second call becomes a loop
	return r;
}
KEEP static int step(int x) {
	__asm__ volatile("");
	return x + 1;
}
static void *work(void *argument) {
	int *x = argument;
	for (int i = 0; i < CALLS; i++)
		*x = step(*x);
	*x += fib(10);
	return argument;
}
// The counter word is the host's: it moves though nobody here stores it.
KEEP static void wait_for_counter(void) {
	const volatile uint64_t *counter = (const volatile uint64_t *)block[1];
	const uint64_t first = *counter;
	while (*counter == first)
		usleep(1000);
}
int main(int argc, char **argv) {
	(void)argv;
	pthread_t threads[THREADS];
	int results[THREADS] = {0};
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], 0, work, &results[i]);
	int wrong = 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], 0);
		wrong += results[i] != CALLS + 55;
	}
	if (argc > 1)
		wait_for_counter();
	return wrong;
}
EOF
cat >unwind.cpp <<'EOF'
#include <csetjmp>
#include <cstdio>
#include <stdexcept>
#define KEEP __attribute__((noinline, used))
static jmp_buf place;
KEEP double leaf(double x, int n) {
	asm volatile("" : "+m"(x), "+r"(n)); // so that nothing of the next line comes first
	return x * 1.5 + n;
}
struct Guard {
	KEEP ~Guard() {
		asm volatile("");
	}
};
KEEP int throws(int n) {
	Guard guard;
	if (n == 0)
		throw std::runtime_error("deep");
	int r = throws(n - 1);
	asm volatile("" ::: "memory");
	return r + 1;
}
KEEP int catches(int n) {
	try {
		return throws(n);
	} catch (std::exception &) {
		return (int)leaf(n, 1);
	}
}
KEEP int jumps(int n) {
	if (n == 0)
		longjmp(place, 1);
	int r = jumps(n - 1);
	asm volatile("" ::: "memory");
	return r;
}
KEEP int lands(int n) {
	if (setjmp(place))
		return (int)leaf(n, 2);
	return jumps(n);
}
struct Base {
	KEEP virtual double run(double x) {
		return leaf(x, 3);
	}
};
struct Derived : Base {
	KEEP double run(double x) override {
		double more = Base::run(x);
		asm volatile("" ::: "memory");
		return more + 1;
	}
};
int main() {
	Derived derived;
	Base base;
	double sum = 0;
	for (int i = 0; i < 500; i++) {
		sum += catches(3) + lands(2);
		for (Base *object : {(Base *)&derived, &base})
			sum += object->run(i * 0.25);
	}
	// Code of ours between any two instructions leaves the program's own numbers alone.
	return !(std::printf("%.3f\n", sum) > 0);
}
EOF
cat >contexts.c <<'EOF'
#include <ucontext.h>
#define KEEP __attribute__((noinline))
enum { FIBERS = 5, ROUNDS = 40 };
static ucontext_t scheduler, fibers[FIBERS];
static char stacks[FIBERS][1 << 16];
static int current;
KEEP static void deep(int n) {
	if (n)
		deep(n - 1);
	else
		swapcontext(&fibers[current], &scheduler);
	__asm__ volatile("" ::: "memory");
}
KEEP static void fiber(void) {
	for (int i = 0; i < ROUNDS; i++)
		deep(current);
}
int main(void) {
	for (int i = 0; i < FIBERS; i++) {
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = stacks[i];
		fibers[i].uc_stack.ss_size = sizeof(stacks[i]);
		fibers[i].uc_link = &scheduler;
		makecontext(&fibers[i], fiber, 0);
	}
	for (int i = 0; i <= ROUNDS; i++)
		for (current = 0; current < FIBERS; current++)
			swapcontext(&scheduler, &fibers[current]);
	return 0;
}
EOF
# The recorder's own clock, were it run there.
cat >clock.c <<'EOF'
#include "recorder/host_clock.h"
#include <stdio.h>
#include <unistd.h>
int main(void) {
	static struct tp_clock_log log;
	uint32_t clock;
	if (tp_clock_choose(TP_CLOCK_CHOICE_HARDWARE, &clock, NULL))
		return 1;
	tp_clock_log_init(&log, clock, NULL);
	usleep(20000);
	tp_clock_log_point(&log);
	const unsigned long long stated = tp_clock_stated_hz(clock), measured = tp_clock_log_hz(&log);
	printf("%s %llu\n", tp_clock_name(clock), stated);
	return !measured || (stated && (measured > 2 * stated || measured < stated / 2));
}
EOF
printf 'src:*threads.c\nsrc:*contexts.c\nsrc:*unwind.cpp\nsrc:*library.cpp\nfun:wait_for_counter=skip\nname:std::*=skip\n' >list

# build MACHINE DRIVER OPTIONS...
build() {
	target=
	[ "$1" = "$host" ] || target=--target=$1-linux-gnu
	driver=$2
	shift 2
	expect 0 "$TEEPERF" "$driver" --allowlist list --check off $target -g "$@"
}
# measure MACHINE PATHS RECORD-OPTIONS...: run ./app with $arguments; its paths and their calls.
measure() {
	on=$1
	paths=$2
	shift 2
	emulator=
	[ "$on" = "$host" ] || emulator="qemu-$on -L /usr/$on-linux-gnu $pages"
	# shellcheck disable=SC2086 # words are meant
	expect 0 "$TEEPERF" record -q --mode full --size 64M -o run.trace "$@" -- \
		timeout 200 $emulator ./app $arguments
	cp out "said.$on"
	"$TEEPERF" analyze run.trace --view tree --format csv >tree.csv 2>tree.err
	! grep -i 'unmatched\|lost' tree.err || fail "$on: records are odd"
	"$TEEPERF" analyze run.trace --format csv >top.csv 2>top.err
	{
		python3 "$lib/tree_paths.py" tree.csv
		python3 -c 'import csv
for row in sorted(csv.DictReader(open("top.csv")), key=lambda row: row["function"]):
	print("sum of", row["function"], row["calls"])'
	} >"$paths"
	facts run.trace lost=0
}
pages=
arguments=
# same WHAT DRIVER RECORD-OPTIONS OPTIONS...
same() {
	what=$1
	driver=$2
	recording=$3
	shift 3
	build "$host" "$driver" "$@" -o app
	# shellcheck disable=SC2086 # words are meant
	measure "$host" want $recording
	for machine in $machines; do
		build "$machine" "$driver" "$@" -o app
		# shellcheck disable=SC2086 # words are meant
		measure "$machine" got $recording
		diff want got || fail "$what: calls on $machine are not those on $host"
		cmp "said.$host" "said.$machine" || fail "$what: the program itself differs on $machine"
	done
	echo "$what: $(grep -vc '^sum' want) paths, $(awk '/^sum/ { n += $NF } END { print n }' want) calls"
}

arguments=wait
same 'threads' cc '--clock soft' -O2 -pthread threads.c
arguments=
grep -Fxq 'work;step 80000' want || fail "the paths are not those of the program: $(cat want)"
same 'contexts' cc '' -O2 contexts.c
grep -Fxq 'fiber;deep;deep;deep;deep;deep 40' want || fail "the paths are not those of the program: $(cat want)"
same 'exceptions' c++ '' -O2 unwind.cpp
grep -Fxq 'main;catches;throws;throws;throws;throws;Guard::~Guard 500' want ||
	fail "the paths are not those of the program: $(cat want)"
same 'exceptions, called, untimed, static' c++ '' --shape=call --exits=untimed -O0 -static unwind.cpp
same 'exceptions, sampled' c++ '--clock none' --level=sample/3 -O2 unwind.cpp
same 'threads, counted' cc '' --level=count -O2 -pthread threads.c
grep -Fxq 'sum of fib 708' want || fail "the counts are not those of the program: $(cat want)"
more_pages=
if [ "$full" = 1 ]; then
	more_pages=yes
	for level in -O0 -O1 -O2 -O3 -Os; do
		for shape in inline call; do
			for exits in timed untimed; do
				for clock in auto soft; do
					same "exceptions $level $shape $exits $clock" c++ "--clock $clock" --clock=$clock \
						--shape=$shape --exits=$exits $level unwind.cpp
				done
			done
		done
		same "exceptions $level, LTO" c++ '' -flto $level unwind.cpp
		same "threads $level, sampled" cc '' --level=sample $level -pthread threads.c
	done
fi

# A library that is instrumented itself and finds the program's runtime, or brings one.
sed 's/^int main/int run_all/' unwind.cpp >library.cpp
echo 'int run_all(); int main() { return run_all(); }' >main.cpp
for machine in "$host" $machines; do
	build "$machine" c++ -O2 -fPIC -shared --shape=call library.cpp -o library.so
	build "$machine" c++ -O2 main.cpp ./library.so -o app
	measure "$machine" "theirs.$machine"
	"$TEEPERF" c++ --level=off $([ "$machine" = "$host" ] || echo "--target=$machine-linux-gnu -fuse-ld=lld") main.cpp \
		./library.so -Wl,-rpath-link,"$TEEPERF_BUILD/lib/teeperf/$machine" -o app
	measure "$machine" "own.$machine"
	for how in theirs own; do
		cmp "$how.$host" "$how.$machine" || fail "a library on $machine"
	done
done
grep -q 'run_all;catches;throws' "own.$host" || fail "the library was not recorded"

# Pages that are larger than this machine's; names and lines of foreign files.
for machine in $machines; do
	build "$machine" c++ -O1 unwind.cpp -o app
	for pages in '-p 65536' ${more_pages:+'-p 16384' '-p 8192'}; do
		measure "$machine" got
		grep -Fxq 'main;lands;jumps;jumps;jumps 500' got || fail "$machine $pages: $(cat got)"
	done
	pages=
	measure "$machine" got
	expect 0 "$TEEPERF" analyze --format csv run.trace
	cp out app.csv
	python3 "$lib/symbols_agree.py" app.csv 9 || fail "$machine: names or lines differ"

	build "$machine" cc --level=off -std=gnu17 -I "$root" -I "$root/include" clock.c "$root/recorder/host_clock.c" \
		"$root/common/err.c" -o read_clock
	qemu-$machine -L /usr/$machine-linux-gnu ./read_clock >clock || fail "the clock of $machine: $(cat clock)"
	says '^(tsc|cntvct|rdtime) ' clock

	# The clock: 'auto' says that it takes the soft one; the hardware's is refused with a remedy.
	expect 0 "$TEEPERF" record -o run.trace -- qemu-$machine -L /usr/$machine-linux-gnu ./app
	says "'./app' is for $machine.*--clock soft" err
	expect 0 "$TEEPERF" record --clock tsc -o run.trace -- qemu-$machine -L /usr/$machine-linux-gnu ./app
	says "'./app' ran without recording: it is for $machine.*--clock soft" err
done
