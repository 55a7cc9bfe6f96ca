#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A budget for a program whose threads run one after the other, beside a worker that waits: nobody's
# waiting is own time, and the time of the program is what its threads had of the processors, less
# all their events.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >app.c <<'EOS'
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool over;
static volatile unsigned sink;
__attribute__((noinline)) void get(unsigned n)
{
	for (unsigned i = 0; i < 20; i++)
		sink += n * i;
}
__attribute__((noinline)) void *bench(void *argument)
{
	for (unsigned i = 0; i < 20000; i++)
		get(i);
	return argument;
}
__attribute__((noinline)) void *worker(void *argument)
{
	pthread_mutex_lock(&mutex);
	while (!over)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	return argument;
}
int main(void)
{
	pthread_t waiting;
	pthread_create(&waiting, NULL, worker, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_t one;
		pthread_create(&one, NULL, bench, NULL);
		pthread_join(one, NULL);
	}
	usleep(100000); // twice what is asked for: what starting took of the processor hides some of it
	pthread_mutex_lock(&mutex);
	over = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	pthread_join(waiting, NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O2 -g -o app app.c -pthread
expect 0 "$TEEPERF" record -q -o all.trace -- ./app
# check TRACE: what it says of times, waiting and names.
check() {
	expect 0 "$TEEPERF" allowlist generate --profile "$1" --event-cost 1ns --budget 5% \
		--format json -o hot.allow
	cp out all.json
	grep -q '"cpu_ns":' all.json ||
		skip "this system does not say how long a process had a processor"
	python3 - <<'EOS' || fail "$1: $(head -c 2000 all.json)"
import json
o = json.load(open("all.json"))
f = {x["function"]: x for x in o["functions"]}
own = sum(x["self_ns"] for x in o["functions"])
# All own times fit what the program had of the processors, but for what is too little to be waiting; and as its time
# counts that less 60,005 events.
assert own <= 1.03 * o["cpu_ns"] + 1e6, (own, o["cpu_ns"])
assert abs(o["time_ns"] - (o["cpu_ns"] - 60005)) < 2, o["time_ns"]
# 50 ms and more had no processor, in two threads at least; the worker has nothing of them.
assert o["waited_ns"] > 100e6 and o["waiting_threads"] >= 2, o["waited_ns"]
assert f["worker"]["raw_self_ns"] > 50e6 and f["main"]["raw_self_ns"] > 50e6, f
assert f["worker"]["self_ns"] < f["worker"]["raw_self_ns"] - 49e6, f["worker"]
assert f["main"]["self_ns"] < f["main"]["raw_self_ns"] - 49e6, f["main"]
assert f["get"]["calls"] == 60000, f["get"]
for x in o["functions"]:
    assert x["sure_ns"] <= x["self_ns"] * 1.000001 + 0.1, x
assert o["named_by_events"] + o["named_by_samples"] + o["untold"] <= 1.000001, o["untold"]
assert o["named_by_events"] <= o["bound"] + 1e-6, o["bound"]
assert o["named_by_samples"] <= o["sample_bound"] + 1e-6, o["sample_bound"]
EOS
}

# One that tells when threads ran, and one that has sums of each thread only.
check all.trace
cp err told
"$TEEPERF" dump all.trace >all.txt
if grep -q '^sched ' all.txt; then
	says 'of its functions. time passed without a processor, in [2-5] threads: that time is known' told
fi
sed -e '/^sched /d' -e '/^	switch /d' all.txt >sums.txt
expect 0 "$TEEPERF" dump --assemble sums.txt -o sums.trace
check sums.trace
says 'of its functions. time passed without a processor, in [2-5] threads, waiting or preempted' err
expect 0 "$TEEPERF" allowlist generate --profile all.trace --event-cost 1ns -o hot.allow
says '^program +.* \(processor time of the recording, less its events; recorded: .* of it on processors\)$' out
says '^waiting +.* in [2-5] threads without a processor' out
# A trace that does not tell says so.
sed -e '/^cpu /d' -e '/of-thread /d' -e 's/ cpu=[0-9]*//' sums.txt >old.txt
expect 0 "$TEEPERF" dump --assemble old.txt -o old.trace
expect 0 "$TEEPERF" allowlist generate --profile old.trace --event-cost 1ns -o old.allow
says "'old.trace': has no processor times: waiting counts as self time" err
! grep -q '^waiting ' out || fail "$(cat out)"
says 'the calls of 5 threads are summed' err
# Where the kernel reports who waited, each function has the time that it had a processor, as
# analyze says: the one that waits here is not the first on its path.
cat >rest.c <<'EOS'
#include <unistd.h>
static volatile unsigned sink;
__attribute__((noinline)) void early(void)
{
	for (unsigned i = 0; i < 3000000; i++)
		sink += i;
}
__attribute__((noinline)) void rest(void)
{
	usleep(50000);
	early();
}
int main(void)
{
	early();
	rest();
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O2 -g -o rest rest.c
expect 0 "$TEEPERF" record -q -o rest.trace -- ./rest
if "$TEEPERF" dump rest.trace | grep -q '^sched '; then
	expect 0 "$TEEPERF" allowlist generate --profile rest.trace --event-cost 1ns \
		--format json -o rest.allow
	cp out rest.json
	"$TEEPERF" query --raw --format csv rest.trace \
		'SELECT function, self_cpu_ns FROM functions' >cpu.csv 2>notes
	python3 - <<'EOS' || fail "not the processor times of analyze: $(cat cpu.csv)"
import csv, json
got = {x["function"]: x["self_ns"] for x in json.load(open("rest.json"))["functions"]}
for row in csv.DictReader(open("cpu.csv")):
    name, wanted = row["function"], float(row["self_cpu_ns"])
    assert abs(got[name] - wanted) <= 1e5, (name, got[name], wanted)
EOS
fi
