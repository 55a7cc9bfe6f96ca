#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# The same programs natively and for aarch64 and riscv64 under qemu-user, with the log shared with
# this machine's recorder: each call path has the same calls on each processor. C with threads, C++
# with exceptions and longjmp; all shapes, all levels, both kinds of exits, static and shared; pages
# of 4 to 64 KiB; names and lines are what other tools say; the recorder's counter is seen to move;
# functions are dropped and added while it runs.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/calls.sh"
fake=
full=${TEEPERF_FULL:-0}
host=$(uname -m)
find_machines x86_64 aarch64 riscv64

# The recorder's own clock, were it run there.
cat >clock.c <<'EOF'
#include "recorder/clock/host_clock.h"
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
	printf("%s %llu\n", teeperf_clock_name(clock), stated);
	return !measured || (stated && (measured > 2 * stated || measured < stated / 2));
}
EOF
calls_list >list
echo 'src:*rounds.c' >>list

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
	calls_of run.trace >"$paths"
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
		diff want got || {
			show_trace run.trace "$machine: $what"
			fail "$what: calls on $machine are not those on $host"
		}
		cmp "said.$host" "said.$machine" ||
			fail "$what: the program itself differs on $machine"
	done
	echo "$what: $(grep -vc '^sum' want) paths, $(awk '/^sum/ { n += $NF } END { print n }' \
		want) calls"
}

arguments=wait
same 'threads' cc '--clock soft' -O2 -pthread "$threads"
arguments=
grep -Fxq 'work;step 80000' want || fail "the paths are not those of the program: $(cat want)"
same 'contexts' cc '' -O2 "$contexts"
grep -Fxq 'fiber;deep;deep;deep;deep;deep 40' want ||
	fail "the paths are not those of the program: $(cat want)"
same 'exceptions' c++ '' -O2 "$unwind"
grep -Fxq 'main;catches;throws;throws;throws;throws;Guard::~Guard 500' want ||
	fail "the paths are not those of the program: $(cat want)"
same 'exceptions, called, untimed, static' c++ '' --shape=call --exits=untimed -O0 -static "$unwind"
same 'exceptions, two bodies' c++ '' --shape=dual -O2 "$unwind"
same 'exceptions, sampled' c++ '--clock none' --level=sample/3 -O2 "$unwind"
same 'threads, counted' cc '' --level=count -O2 -pthread "$threads"
grep -Fxq 'sum of fib 708' want || fail "the counts are not those of the program: $(cat want)"
more_pages=
if [ "$full" = 1 ]; then
	more_pages=yes
	for level in -O0 -O1 -O2 -O3 -Os; do
		for shape in inline call dual; do
			for exits in timed untimed; do
				for clock in auto soft; do
					same "exceptions $level $shape $exits $clock" \
						c++ "--clock $clock" --clock=$clock \
						--shape=$shape --exits=$exits $level "$unwind"
				done
			done
		done
		same "exceptions $level, LTO" c++ '' -flto $level "$unwind"
		same "threads $level, sampled" cc '' --level=sample $level -pthread "$threads"
	done
fi

# A library that is instrumented itself and finds the program's runtime, or brings one.
sed 's/^int main/int run_all/' "$unwind" >library.cpp
echo 'int run_all(); int main() { return run_all(); }' >main.cpp
for machine in "$host" $machines; do
	build "$machine" c++ -O2 -fPIC -shared --shape=call library.cpp -o library.so
	build "$machine" c++ -O2 main.cpp ./library.so -o app
	measure "$machine" "theirs.$machine"
	"$TEEPERF" c++ --level=off $([ "$machine" = "$host" ] ||
		echo "--target=$machine-linux-gnu") main.cpp \
		./library.so -Wl,-rpath-link,"$TEEPERF_BUILD/lib/teeperf/$machine" -o app
	measure "$machine" "own.$machine"
	for how in theirs own; do
		cmp "$how.$host" "$how.$machine" || fail "a library on $machine"
	done
done
grep -q 'run_all;catches;throws' "own.$host" || fail "the library was not recorded"

# Single functions that are dropped and added while it runs: each round has those that are on,
# exactly.
cat >rounds.c <<'EOF'
#include <stdio.h>
#include <teeperf/teeperf.h>
#define KEEP __attribute__((noinline, used))
KEEP void first(void) { __asm__ volatile(""); }
KEEP void second(void) { __asm__ volatile(""); }
int main(void)
{
	char line[8];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		teeperf_poll();
		for (int i = 0; i < 10; i++) {
			first();
			second();
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
EOF
for machine in "$host" $machines; do
	for shape in inline dual; do
		build "$machine" cc --shape=$shape -O1 -I "$root/include" rounds.c -o app
		emulator=
		[ "$machine" = "$host" ] || emulator="qemu-$machine -L /usr/$machine-linux-gnu"
		rm -f in
		mkfifo in
		# shellcheck disable=SC2086 # words are meant
		begin run sh -c 'exec "$@" <in' sh "$TEEPERF" record -q --clock soft \
			-o run.trace -- $emulator ./app
		recorder=$begun
		exec 7>in
		await run.out ready
		rounds=0
		for choice in '' 'drop second' 'drop first' 'add second' 'add first'; do
			# shellcheck disable=SC2086 # words are meant
			[ -z "$choice" ] || expect 0 "$TEEPERF" ctl $choice "$recorder"
			rounds=$((rounds + 1))
			echo >&7
			await_true '[ "$(grep -c "^done" run.out)" = "$rounds" ]' \
				"round $rounds of $machine, $shape"
		done
		exec 7>&-
		ended 0 run
		expect 0 "$TEEPERF" analyze --strict --format csv run.trace
		says '^first,30,' out  # in rounds 1, 2 and 5
		says '^second,30,' out # in rounds 1, 4 and 5
		expect 0 "$TEEPERF" analyze run.trace
		says '^changed    the choice of functions changed 4 times' out
	done
done

# Pages that are larger than this machine's; names and lines of foreign files.
for machine in $machines; do
	build "$machine" c++ -O1 "$unwind" -o app
	for pages in '-p 65536' ${more_pages:+'-p 16384' '-p 8192'}; do
		measure "$machine" got
		grep -Fxq 'main;lands;jumps;jumps;jumps 500' got ||
			fail "$machine $pages: $(cat got)"
	done
	pages=
	measure "$machine" got
	expect 0 "$TEEPERF" analyze --format csv run.trace
	cp out app.csv
	python3 "$lib/symbols_agree.py" app.csv 9 || fail "$machine: names or lines differ"

	build "$machine" cc --level=off -std=gnu17 -I "$root" -I "$root/include" clock.c \
		"$root/recorder/clock/host_clock.c" "$root/recorder/region/proc.c" \
		"$root/common/err.c" "$root/common/clean.c" "$root/common/buf.c" -o read_clock
	qemu-$machine -L /usr/$machine-linux-gnu ./read_clock >clock ||
		fail "the clock of $machine: $(cat clock)"
	says '^(tsc|cntvct|rdtime) ' clock

	# The clock: 'auto' says that it takes the soft one; the hardware's is refused with a
	# remedy.
	expect 0 "$TEEPERF" record -o run.trace -- qemu-$machine -L /usr/$machine-linux-gnu ./app
	says "'./app' is for $machine.*--clock soft" err
	expect 0 "$TEEPERF" record --clock tsc -o run.trace -- qemu-$machine \
		-L /usr/$machine-linux-gnu ./app
	says "'./app' ran without recording: it is for $machine.*--clock soft" err
done

# Functions compiled for vectors whose size the processor decides are left out, and compute what
# they should; others that they call are recorded.
cat >vectors.c <<'EOF'
long outside(long x);
#ifdef __aarch64__
#include <arm_sve.h>
__attribute__((noinline)) svint64_t add(svint64_t a, svint64_t b) {
	return svadd_x(svptrue_b64(), a, b);
}
static long twice(void) {
	return svaddv(svptrue_b64(), add(svdup_s64(3), svdup_s64(3))) / (long)svcntd();
}
#else
__attribute__((noinline)) long sum(const int *a, int n) {
	long all = 0;
	for (int i = 0; i < n; i++)
		all += a[i] * 2;
	return all;
}
static long twice(void) {
	int a[64];
	for (int i = 0; i < 64; i++)
		a[i] = i % 2;
	return sum(a, 64) - 58;
}
#endif
int wrong(void) {
	int all = 0;
	for (long i = 0; i < 1000; i++)
		all += outside(i) != i + 1 || twice() != 6;
	return all;
}
EOF
cat >plain.c <<'EOF'
int wrong(void);
__attribute__((noinline)) long outside(long x) {
	return x + 1;
}
int main(void) {
	return wrong() != 0;
}
EOF
for machine in $machines; do
	case $machine in
	aarch64) architecture=armv8-a+sve processor=max ;;
	riscv64) architecture=rv64gcv processor=rv64,v=true ;;
	*) continue ;;
	esac
	for level in event count; do
		target=--target=$machine-linux-gnu
		expect 0 "$TEEPERF" cc --level=$level $target -march=$architecture -O2 -c vectors.c
		says 'functions are compiled for scalable vectors .* are not recorded: ' err
		[ "$(grep -c scalable err)" = 1 ] ||
			fail "$machine: said more than once: $(cat err)"
		expect 0 "$TEEPERF" cc --level=$level $target -O2 plain.c vectors.o -o app
		expect 0 "$TEEPERF" record -q --clock soft -o run.trace -- \
			qemu-$machine -cpu $processor -L /usr/$machine-linux-gnu ./app
		"$TEEPERF" analyze run.trace --view top --format csv 2>odd | cut -d, -f1,2 |
			sort >got
		printf 'function,calls\nmain,1\noutside,1000\n' | diff - got ||
			fail "$machine, $level: calls"
	done
done
