#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# teeperf ctl only, add and drop: 16 threads call while single functions are dropped and added, with
# signals, forks, libraries that come and go, exceptions and longjmp; with the records in line and
# in second bodies. Functions that are chosen between two phases are counted exactly, no call has a
# wrong caller, and nothing is damaged.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake= # the functions are where the trace says
switches=500 # of each shape
[ "${TEEPERF_FULL:-0}" != 1 ] || switches=10000

cat >storm.cpp <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP extern "C" __attribute__((noinline, used))
enum { THREADS = 16, CALLS = 4 };
static pthread_barrier_t begin, end;
static volatile int over;

// Exact: they are chosen only while no thread is in them.
#define EXACT(name) KEEP void name(void) { __asm__ volatile(""); }
EXACT(exact0)
EXACT(exact1)
EXACT(exact2)
EXACT(exact3)
// They are chosen at any time.
KEEP void leaf(void) { __asm__ volatile(""); }
KEEP int deep(int n)
{
	leaf();
	const int r = n ? deep(n - 1) : 0;
	leaf();
	return r + 1;
}
KEEP void thrower(int n)
{
	leaf();
	if (n > 2)
		throw n;
	leaf();
}
KEEP void catcher(int n)
{
	try {
		thrower(n);
	} catch (int) {
		leaf();
	}
	leaf();
}
KEEP void jumper(jmp_buf to)
{
	leaf();
	longjmp(to, 1);
}
KEEP void lander(void)
{
	jmp_buf here;
	if (!setjmp(here))
		jumper(here);
	leaf();
}
KEEP void inside(void) { leaf(); }
KEEP void handler(int) { inside(); }
KEEP void outer(int n)
{
	deep(n % 4);
	catcher(n % 5);
	lander();
}
KEEP void phase(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		for (int j = 0; j < CALLS; j++) {
			exact0();
			exact1();
		}
		outer(i);
		for (int j = 0; j < CALLS; j++) {
			exact2();
			exact3();
		}
	}
}
static void library(void)
{
	void *handle = dlopen("./plug.so", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		abort();
	reinterpret_cast<void (*)(int)>(dlsym(handle, "plug"))(3);
	dlclose(handle);
}
KEEP void family(void)
{
	library();
	const pid_t child = fork();
	if (!child)
		_exit(0);
	while (waitpid(child, NULL, 0) < 0)
		;
}
KEEP void *worker(void *number)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		if (over)
			return NULL;
		phase(10);
		if (number == NULL)
			family();
		pthread_barrier_wait(&end);
	}
}
static pthread_t threads[THREADS];
static void *signals(void *)
{
	for (unsigned i = 0; !over; i++) {
		const struct timespec nap = {0, 500000};
		nanosleep(&nap, NULL);
		pthread_kill(threads[i % THREADS], SIGUSR1);
	}
	return NULL;
}
int main(void)
{
	char line[16];
	pthread_t sender;
	struct sigaction action = {};
	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, reinterpret_cast<void *>(i));
	pthread_create(&sender, NULL, signals, NULL);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		puts("done");
		fflush(stdout);
	}
	over = 1;
	pthread_join(sender, NULL);
	pthread_barrier_wait(&begin);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOF
cat >plug.cpp <<'EOF'
extern "C" __attribute__((noinline, used)) void plug_leaf(void) { __asm__ volatile(""); }
extern "C" __attribute__((used)) void plug(int n)
{
	for (int i = 0; i < n; i++)
		plug_leaf();
}
EOF
cat >drive.py <<'EOF'
# Drives the program, and asks for selections as 'teeperf ctl' does, which would be started too often. Prints the calls that
# functions must have.
import glob, os, random, select, socket, struct, subprocess, sys, time

teeperf, switches = sys.argv[1], int(sys.argv[2])
VERSION, ADD, DROP = 0x54504303, 8, 9
DONE, REFUSED = 0, 7
THREADS, ROUNDS, CALLS = 16, 10, 4
# Calls in each phase; the library comes and goes in each.
EXACT = dict.fromkeys(["exact0", "exact1", "exact2", "exact3"], THREADS * ROUNDS * CALLS) | {"plug_leaf": 3}
NOISE = ["leaf", "deep", "thrower", "catcher", "jumper", "lander", "inside", "handler", "outer", "phase", "worker", "family", "plug"]
random.seed(20)
program = subprocess.Popen(
    [teeperf, "record", "-q", "--control", "-o", "storm.trace", "./storm"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open("record.err", "w"))


def name_hash(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def line():
    text = program.stdout.readline().decode().strip()
    if not text:
        sys.exit("the program has ended: " + open("record.err").read())
    return text


def ask(path, verb, name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(path)
        connection.send(struct.pack("<IIII", VERSION, verb, 0, 1))
        connection.send(struct.pack("<Q", name_hash(name)))
        reply = connection.recv(4096)
    version, result = struct.unpack_from("<II", reply)
    if version != VERSION:
        sys.exit("the recorder is another version")
    return result


# Until it is obeyed: on a busy machine the program may take long.
def choose(path, verb, name):
    for _ in range(600):
        result = ask(path, verb, name)
        if result == DONE:
            return
        if result > REFUSED:
            sys.exit(f"the recorder answers {result}")
        time.sleep(0.1)
    sys.exit("a selection is not obeyed")


def running():
    return not select.select([program.stdout], [], [], 0)[0]


line()
(path,) = glob.glob(f"/dev/shm/teeperf-{program.pid}.*.ctl")
on = {name: True for name in [*EXACT, *NOISE]}
calls = {name: 0 for name in EXACT}
done = phases = while_running = 0


def toggle(name):
    global done
    choose(path, DROP if on[name] else ADD, name)
    on[name] = not on[name]
    done += 1


while done < switches:
    for name in random.sample(list(EXACT), 2):
        toggle(name)
    program.stdin.write(b"go\n")
    program.stdin.flush()
    for name in EXACT:
        calls[name] += on[name] * EXACT[name]
    phases += 1
    while running() and done < switches:
        toggle(random.choice(NOISE))
        while_running += 1
    if line() != "done":
        sys.exit("the program says something else")
program.stdin.close()
if program.wait():
    sys.exit("the recording failed: " + open("record.err").read())
if not while_running:
    sys.exit("no choice was made while threads ran")
print(f"{done} selections in {phases} phases, {while_running} of them while threads ran", file=sys.stderr)
for name in EXACT:
    print(name, calls[name])
EOF
cat >check.py <<'EOF'
import csv, sys

# Who may be called by whom, at any distance: a caller that was not recorded is missing in between.
BELOW = {
    "worker": {"phase", "family"},
    "phase": {"exact0", "exact1", "exact2", "exact3", "outer"},
    "outer": {"deep", "catcher", "lander"},
    "deep": {"deep", "leaf"},
    "catcher": {"thrower", "leaf"},
    "thrower": {"leaf"},
    "lander": {"jumper", "leaf"},
    "jumper": {"leaf"},
    "family": {"plug"},
    "plug": {"plug_leaf"},
    "handler": {"inside"},
    "inside": {"leaf"},
}


def reach(name, seen):
    for callee in BELOW.get(name, ()):
        if callee not in seen:
            seen.add(callee)
            reach(callee, seen)
    return seen


REACH = {name: reach(name, set()) for name in BELOW}
calls, stack = {}, []
for row in csv.DictReader(open("tree.csv", newline="")):
    del stack[int(row["depth"]) - 1 :]
    name = row["function"].split("(")[0]
    # A handler comes anywhere; if only what it calls is recorded, that is as good as called by all.
    if stack and name not in REACH.get(stack[-1], ()) and name not in ("handler", "inside", "leaf"):
        sys.exit(f"{name} is below {' > '.join(stack)}")
    stack.append(name)
    calls[name] = calls.get(name, 0) + int(row["calls"])
top = {row["function"].split("(")[0]: int(row["calls"]) for row in csv.DictReader(open("top.csv", newline=""))}
for name in calls:
    if calls[name] != top.get(name):
        sys.exit(f"{name} has {calls[name]} calls in the tree, and {top.get(name)} in the list")
for line in open("want"):
    name, want = line.split()
    if calls.get(name, 0) != int(want):
        sys.exit(f"{name} has {calls.get(name, 0)} calls, not {want}")
EOF
for shape in inline dual; do
	"$TEEPERF" c++ --shape=$shape -O1 -pthread -o storm storm.cpp -ldl
	"$TEEPERF" c++ --shape=$shape -O1 -shared -fPIC -o plug.so plug.cpp
	python3 drive.py "$TEEPERF" "$switches" >want 2>told || {
		cat told >&2
		fail "$shape: the program and its recorder were not driven to the end"
	}
	echo "$shape: $(cat told)"
	facts storm.trace
	"$TEEPERF" dump storm.trace >dump.txt
	[ "$(sed -n 's/^\tselection \([0-9]*\) .*/\1/p' dump.txt | sort -n |
		tail -n 1)" -ge "$switches" ] ||
		fail "$shape: the trace does not have all selections"
	# It is the same when it was written down as text.
	"$TEEPERF" dump --assemble dump.txt -o again.trace
	"$TEEPERF" dump again.trace >again.txt
	cmp dump.txt again.txt
	odd=
	for note in unmatched-enters unmatched-exits unknown-resyncs holes reserved missing \
		switches-missed selections-unknown; do
		odd="$odd --fail-if note:$note"
	done
	expect 0 "$TEEPERF" analyze storm.trace --view top --format csv --limit 0 $odd
	mv out top.csv
	expect 0 "$TEEPERF" analyze storm.trace --view tree --format csv --limit 0 --min-share 0
	mv out tree.csv
	python3 check.py || fail "$shape: the calls are not those that were made"
	expect 0 "$TEEPERF" analyze storm.trace
	says '^changed    the choice of functions changed [0-9,]* times: .* recorded for a part of the time only' out
done
