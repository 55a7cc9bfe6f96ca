# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Traces for views_agree.py, after e2e.sh: golden ones, one with all at once, and one of a real
# program. All of them have a clock of 1 GHz, so that nothing is rounded, and functions of different
# names.

cat >mutual.txt <<'EOS'
clock kind=tsc hz=1000000000
host
	line "cost_in_ps=10000"
	line "cost_out_ps=6000"
	line "cost_untimed_ps=12000"
	line "cost_in_off_ps=3000"
	line "cost_out_off_ps=2000"
command
	string "/"
	string "mutual"
symbols
	symbol 0x401000 "main" file="m.c" line=1
	symbol 0x401010 "even" file="m.c" line=2
	symbol 0x401020 "odd" file="m.c" line=3
	symbol 0x401030 "self" file="n.c" line=4
	symbol 0x401040 "leaf" file="n.c" line=5
	symbol 0x401050 "counted" file="n.c" line=6
	symbol 0x401060 "sampled" file="n.c" line=7
	symbol 0x401070 "instant" file="n.c" line=8
	symbol 0x401080 "worker" file="n.c" line=9
threads
	thread tid=21 name="first"
	thread tid=22 name="second"
	thread tid=23 name="third"
chunk tid=21
	0 enter main
	counts 2
	count counted 7
	sampled sampled 12
	100 enter even
	200 enter odd
	300 enter even
	400 enter odd
	450 enter leaf
	500 exit leaf
	600 exit odd
	700 exit even
	750 enter leaf
	800 exit leaf
	900 exit odd
	1000 exit even
	1000 enter odd
	1100 enter even
	1200 exit even
	1300 exit odd
	1400 enter self
	1500 enter self
	1600 enter self
	1700 enter leaf
	1750 exit leaf
	1800 exit self
	1850 enter self
	1900 exit self
	2000 exit self
	2050 enter even
	2100 enter self
	2150 exit self
	2200 exit even
	2300 exit self
	2400 enter instant
	2400 exit instant
	2450 enter leaf
	2450 enter instant
	2450 exit instant
	2500 exit leaf
	2550 enter sampled
	2600 exit sampled
	3000 exit main
chunk thread=1 tid=22
	50 enter worker
	counts 1
	sampled sampled 5
	100 enter odd
	200 enter even
	250 enter odd
	300 exit odd
	350 exit even
	400 exit odd
	450 enter self
	500 enter even
	550 enter self
	600 exit self
	700 exit even
	800 exit self
	850 enter sampled
	900 exit sampled
	1000 exit worker
chunk thread=2 tid=23
	60 enter even
	160 enter even
	260 enter leaf
	270 exit leaf
	360 exit even
	460 exit even
	500 enter leaf
	560 exit leaf
end
EOS
cat >agree.c <<'EOS'
#include <pthread.h>

#define KEEP __attribute__((noinline))

static volatile unsigned sink;

KEEP static unsigned fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KEEP static unsigned is_odd(unsigned n);
KEEP static unsigned is_even(unsigned n)
{
	sink = n + fibonacci(n % 4);
	return n == 0 || is_odd(n - 1);
}
KEEP static unsigned is_odd(unsigned n)
{
	sink = n;
	return n != 0 && is_even(n - 1);
}

KEEP static void *work(void *rounds)
{
	for (unsigned i = 0; i < *(unsigned *)rounds; i++)
		sink = is_even(i % 9) + fibonacci(i % 7);
	return rounds;
}

int main(void)
{
	unsigned rounds[3] = {20, 30, 40};
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, work, &rounds[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	work(&rounds[0]);
	return 0;
}
EOS

views_traces="recursion two-threads contexts resync compensated counts sampled unmatched open lost no-clock attached selections selections-odd windows mutual real"

# make_views_traces: NAME.trace for each of $views_traces.
make_views_traces() {
	expect 0 "$TEEPERF" cc -O1 -g -pthread -o agree agree.c
	expect 0 "$TEEPERF" record -q --clock tsc -o recorded.trace -- ./agree
	"$TEEPERF" dump recorded.trace |
		sed '/^\tpoint/d; s/^clock kind=tsc hz=[0-9]*/clock kind=tsc hz=1000000000/' \
		>real.txt
	for name in $views_traces; do
		text=$root/test/golden/$name/trace.txt
		[ -e "$text" ] || text=$name.txt
		expect 0 "$TEEPERF" dump --assemble "$text" -o "$name.trace"
	done
}
