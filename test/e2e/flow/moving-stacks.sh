#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that a stack which goes on in other threads keeps its calls: tasks that each pause hands to
# the next of four threads, in the middle of nested calls, with exceptions through calls that began
# elsewhere. Every path is counted exactly, each thread has the time for which calls ran in it, and
# filters, ranges of time, single calls and exports agree with that.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >tasks.cpp <<'EOS'
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>
#ifdef BY_HAND
#include <teeperf/teeperf.h>
#endif

#define KEEP __attribute__((noinline))
enum { TASKS = 40, STEPS = 12, THREADS = 4 };
struct task {
	ucontext_t context;
	bool done;
};
struct worker_state {
	ucontext_t home;
	struct task *queue[TASKS * STEPS * 3];
	int first, last;
	struct task *running;
	int number;
};
static struct task tasks[TASKS];
static struct worker_state workers[THREADS];
static int alive = TASKS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;

// Not a thread-local variable: the compiler may keep its address while the stack moves.
static inline __attribute__((always_inline)) struct worker_state *me()
{
	return (struct worker_state *)pthread_getspecific(key);
}
static inline __attribute__((always_inline)) void change(ucontext_t *from, ucontext_t *to)
{
#ifdef BY_HAND
	struct teeperf_context here;
	teeperf_leave(&here);
#endif
	swapcontext(from, to);
#ifdef BY_HAND
	teeperf_arrive(&here);
#endif
}

extern "C" {
KEEP void leaf(int n)
{
	for (volatile int i = 0; i < n + 20; i++)
		;
}
KEEP void pause_task()
{
	struct worker_state *worker = me();
	change(&worker->running->context, &worker->home);
}
KEEP int deep(int depth)
{
	leaf(depth);
	if (depth)
		deep(depth - 1);
	else
		pause_task();
	leaf(depth);
	return depth;
}
KEEP void thrower(int i)
{
	pause_task();
	if (i % 2)
		throw i;
}
KEEP void step(int i)
{
	try {
		deep(i % 4);
		thrower(i);
	} catch (int caught) {
		leaf(caught);
	}
}
KEEP void finish()
{
	me()->running->done = true;
	pause_task();
	abort();
}
KEEP void body()
{
	for (int i = 0; i < STEPS; i++)
		step(i);
	finish();
}
KEEP void run_task(struct worker_state *worker, struct task *task)
{
	worker->running = task;
	change(&worker->home, &task->context);
}
KEEP struct task *take(struct worker_state *worker)
{
	pthread_mutex_lock(&lock);
	while (alive && worker->first == worker->last)
		pthread_cond_wait(&changed, &lock);
	struct task *task = worker->first == worker->last ? NULL : worker->queue[worker->first++];
	pthread_mutex_unlock(&lock);
	return task;
}
KEEP void give(struct worker_state *worker, struct task *task)
{
	pthread_mutex_lock(&lock);
	struct worker_state *next = &workers[(worker->number + 1) % THREADS];
	if (task->done)
		alive--;
	else
		next->queue[next->last++] = task;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}
KEEP void *work(void *argument)
{
	struct worker_state *worker = (struct worker_state *)argument;
	pthread_setspecific(key, worker);
	while (struct task *task = take(worker)) {
		run_task(worker, task);
		give(worker, task);
	}
	return NULL;
}
}

int main()
{
	pthread_t threads[THREADS];
	pthread_key_create(&key, NULL);
	for (int i = 0; i < TASKS; i++) {
		getcontext(&tasks[i].context);
		tasks[i].context.uc_stack.ss_sp = malloc(262144);
		tasks[i].context.uc_stack.ss_size = 262144;
		makecontext(&tasks[i].context, body, 0);
		struct worker_state *worker = &workers[i % THREADS];
		worker->queue[worker->last++] = &tasks[i];
	}
	for (int i = 0; i < THREADS; i++) {
		workers[i].number = i;
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOS
# 40 tasks of 12 steps, a quarter of which goes 1, 2, 3 or 4 calls deep; half of them throw.
sort >want <<'EOS'
body 40
body;finish 40
body;finish;pause_task 40
body;step 480
body;step;deep 480
body;step;deep;deep 360
body;step;deep;deep;deep 240
body;step;deep;deep;deep;deep 120
body;step;deep;deep;deep;deep;leaf 240
body;step;deep;deep;deep;deep;pause_task 120
body;step;deep;deep;deep;leaf 480
body;step;deep;deep;deep;pause_task 120
body;step;deep;deep;leaf 720
body;step;deep;deep;pause_task 120
body;step;deep;leaf 960
body;step;deep;pause_task 120
body;step;leaf 240
body;step;thrower 480
body;step;thrower;pause_task 480
main 1
work 4
work;give 1000
work;run_task 1000
work;take 1004
EOS
sed '/pause_task/d; /run_task/d' want >want-less
printf 'fun:*\nfun:pause_task=skip\nfun:run_task=skip\n' >less.allow

# check WANT WHAT: the paths of run.trace, and the notes about them.
check() {
	"$TEEPERF" analyze run.trace --raw --view tree --format csv >tree.csv 2>tree.err
	python3 "$lib/tree_paths.py" tree.csv | sort >got
	diff "$1" got || fail "$2: the paths are not exact"
	! grep -Ei 'unmatched|lost |unknown|begin anew' tree.err || fail "$2: $(cat tree.err)"
	says 'moved +960 times a stack moved to another thread' tree.err
	says 'left +40 stacks' tree.err
	"$TEEPERF" analyze run.trace --raw --view threads --format csv >threads.csv 2>/dev/null
	"$TEEPERF" analyze run.trace --raw --format csv >top.csv 2>/dev/null
	"$TEEPERF" query --raw --format csv run.trace \
		"SELECT f.function, count(*), sum(c.duration_ns),
		sum(c.self_raw_ns), min(c.duration_ns), max(c.duration_ns),
		count(p.id), sum(c.depth > 1), sum(c.parent IS NOT NULL AND p.depth <> c.depth - 1), count(DISTINCT c.id)
		FROM calls c JOIN functions f ON f.fn = c.fn
		LEFT JOIN calls p ON p.id = c.parent AND p.thread = c.thread
		GROUP BY f.function" >calls.csv
	python3 - "$2" <<'EOS'
import collections, csv, sys
def rows(name):
    return list(csv.DictReader(open(name, newline="")))
def need(right, text):
    if not right:
        sys.exit("FAILED: %s: %s" % (sys.argv[1], text))
own = collections.Counter()
functions = collections.Counter()
for row in rows("tree.csv"):
    own[row["thread"]] += int(row["self_ns"])
    functions[row["function"].split("(")[0]] += int(row["calls"])
    need(int(row["self_ns"]) <= int(row["inclusive_ns"]), row)
for row in rows("threads.csv"):
    need(abs(int(row["busy_ns"]) - own[row["thread"]]) <= 200, "thread %s is busy for %s, its calls for %s" % (row["thread"], row["busy_ns"], own[row["thread"]]))
top = {row["function"].split("(")[0]: row for row in rows("top.csv")}
need(abs(sum(int(row["self_ns"]) for row in top.values()) - sum(own.values())) < 500, "top and tree differ")
single = {list(row.values())[0].split("(")[0]: list(row.values())[1:] for row in rows("calls.csv")}
need(set(single) == set(top), "functions of calls: %s" % sorted(single))
for name, row in top.items():
    count, duration, self, least, most, parents, deep, wrong, ids = (int(value or 0) for value in single[name])
    need(count == int(row["calls"]) == functions[name], "%s: %d single calls, %s in all" % (name, count, row["calls"]))
    # A caller that ended in another thread is none there.
    need(parents <= deep and wrong == 0 and ids == count, "%s: callers of single calls: %s" % (name, single[name]))
    # The single calls have the times of the functions, each rounded.
    need(abs(self - int(row["self_ns"])) <= count + 100, "%s: self %d, %s" % (name, self, row["self_ns"]))
    need(abs(most - int(row["max_ns"])) <= 2 and abs(least - int(row["min_ns"])) <= 2, "%s: %s, %s" % (name, single[name], row))
EOS
}

# BY_HAND beside the name of swapcontext: both tell of each switch.
for options in '-O0 tsc' '-O2 -DBY_HAND soft' '-O2 tsc'; do
	# shellcheck disable=SC2086 # words are meant
	expect 0 "$TEEPERF" c++ ${options% *} -I"$root/include" -g tasks.cpp -o prog -lpthread
	expect 0 "$TEEPERF" record --clock "${options##* }" -q -o run.trace -- ./prog
	check want "$options"
done
cp run.trace all.trace
expect 0 "$TEEPERF" record --clock none -q -o run.trace -- ./prog
"$TEEPERF" analyze run.trace --view tree --format csv 2>/dev/null >tree.csv
python3 "$lib/tree_paths.py" tree.csv | sort >got
diff want got || fail "without a clock: the paths are not exact"
# Functions that are not recorded pause and resume.
expect 0 "$TEEPERF" c++ -O2 -g --allowlist=less.allow tasks.cpp -o other -lpthread
expect 0 "$TEEPERF" record --clock tsc -q -o run.trace -- ./other
check want-less "those who switch are not recorded"
# Untimed exits.
expect 0 "$TEEPERF" c++ -O2 -g --exits=untimed tasks.cpp -o other -lpthread
expect 0 "$TEEPERF" record --clock tsc -q -o run.trace -- ./other
check want "untimed"

# Two parts of the time are the whole. The middle is that of main, which begins with the first
# record: the recording may last long after the last one.
middle=$("$TEEPERF" query --raw --format tsv all.trace "SELECT duration_ns / 2 FROM calls
	JOIN functions USING (fn) WHERE function LIKE 'main%'" 2>/dev/null | tail -n 1)
"$TEEPERF" analyze all.trace --raw --time-range "0ns..${middle}ns" \
	--format csv >early.csv 2>/dev/null
"$TEEPERF" analyze all.trace --raw --time-range "${middle}ns.." --format csv >late.csv 2>/dev/null
"$TEEPERF" analyze all.trace --raw --format csv >all.csv 2>/dev/null
python3 - <<'EOS'
import csv, sys
def self_of(name):
    return {row["function"]: int(row["self_ns"]) for row in csv.DictReader(open(name, newline=""))}
early, late, whole = self_of("early.csv"), self_of("late.csv"), self_of("all.csv")
for function in whole:
    parts = early.get(function, 0) + late.get(function, 0)
    if abs(parts - whole[function]) > 10:
        sys.exit("FAILED: %s: self %d in two parts of the time, %d in all of it" % (function, parts, whole[function]))
EOS
# One thread alone is what it is among all.
"$TEEPERF" analyze all.trace --view tree --format csv 2>/dev/null >tree.csv
for thread in 1 3; do
	"$TEEPERF" analyze all.trace --thread $thread --view tree --format csv 2>/dev/null >one.csv
	grep -E "^(thread|$thread),|^\"$thread\"," tree.csv >of-all.csv
	diff of-all.csv one.csv >&2 || fail "thread $thread by itself is another one"
done
# Whatever leaves out calls, or writes them one by one, takes such a trace.
"$TEEPERF" analyze all.trace --min-time 1us --format csv >least.csv 2>err ||
	fail "least: $(cat err)"
"$TEEPERF" analyze all.trace --focus 'deep*' --depth 3 --format csv >focus.csv 2>err ||
	fail "focus: $(cat err)"
"$TEEPERF" analyze all.trace --view timeline --function deep --around-slowest 3 >timeline 2>err ||
	fail "timeline: $(cat err)"
"$TEEPERF" analyze all.trace --view contention >contention 2>err || fail "contention: $(cat err)"
"$TEEPERF" report all.trace -o report.html 2>err || fail "report: $(cat err)"
for format in chrome perfetto firefox speedscope "speedscope --calls" callgrind pprof perfdata \
	uftrace csv sqlite folded flamegraph parquet; do
	expect 0 "$TEEPERF" export all.trace --format $format -o "out-$format"
done
python3 - <<'EOS'
import collections, json, sys
# In the export for Chrome each slice has an end, in its thread.
open_slices, depth, seen = collections.Counter(), collections.Counter(), collections.Counter()
for event in json.load(open("out-chrome"))["traceEvents"]:
    if event["ph"] == "B":
        depth[event["tid"]] += 1
        seen[event["name"]] += 1
    elif event["ph"] == "E":
        depth[event["tid"]] -= 1
        if depth[event["tid"]] < 0:
            sys.exit("FAILED: a slice ends that has not begun")
if any(depth.values()):
    sys.exit("FAILED: slices without an end: %s" % depth)
EOS

# In SQL calls are in the order of their starts, callers first, also those that came from other
# threads: what uses that finds what a search through all calls finds.
number() {
	"$TEEPERF" query --format tsv all.trace "SELECT count(*) FROM $1" 2>err | tail -n 1
}
[ "$(number 'calls c JOIN calls p ON p.id = c.parent WHERE p.id >= c.id')" = 0 ] ||
	fail 'a caller stands behind its callee'
[ "$(number '(SELECT start_ns, lag(start_ns) OVER (PARTITION BY thread ORDER BY id) AS before
	FROM calls) WHERE start_ns < before')" = 0 ] ||
	fail 'calls are not in the order of their starts'
quick=$(number 'calls p, calls c WHERE c.parent = p.id')
[ "$quick" -gt 100 ] || fail "only $quick calls have a caller"
[ "$quick" = "$(number 'calls c WHERE +c.parent IS NOT NULL')" ] || fail 'callees are not found'
