#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the helper for GDB shows what GDB's own backtrace does of the functions that record,
# and the last records as 'teeperf dump' has them afterwards: of a stopped process, of gdb's core
# and of the kernel's, with and without a symbol for the runtime's state, whatever has been drained;
# and that damage in the log only leads to a message.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v gdb >/dev/null || skip "gdb is not there: run tools/setup"
helper=$TEEPERF_BUILD/share/teeperf/gdb/teeperf-gdb.py
folder=$PWD

cat >app.c <<'EOS'
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline))
#define STAY __asm__ volatile("" ::: "memory") // no tail calls
enum { THREADS = 5 };
static pthread_barrier_t parked;
static int loops;
static jmp_buf back;
static ucontext_t home, other;
static char room[1 << 17];
FUNCTION int leaf(int x) { STAY; return x + 1; }
FUNCTION void park(void) { leaf(1); pthread_barrier_wait(&parked); for (;;) pause(); }
FUNCTION void deep(int n) { leaf(n); if (n < 0) return; if (n) deep(n - 1); else park(); STAY; }
FUNCTION void jump(int n) { if (n) jump(n - 1); else longjmp(back, 1); STAY; }
FUNCTION void jumped(void) { if (!setjmp(back)) jump(3); leaf(2); deep(1); STAY; }
FUNCTION void inside(void) { leaf(3); swapcontext(&other, &home); park(); STAY; }
FUNCTION void switched(void)
{
	getcontext(&other);
	other.uc_stack.ss_sp = room;
	other.uc_stack.ss_size = sizeof(room);
	other.uc_link = &home;
	makecontext(&other, inside, 0);
	swapcontext(&home, &other);
	deep(-1);
	swapcontext(&home, &other);
	STAY;
}
FUNCTION void busy(void)
{
	for (int i = 0; i < loops; i++)
		leaf(i);
	deep(2);
	STAY;
}
FUNCTION void *work(void *argument)
{
	switch ((int)(long)argument) {
	case 0: park(); break;
	case 1: deep(4); break;
	case 2: jumped(); break;
	case 3: switched(); break;
	default: busy();
	}
	STAY;
	return NULL;
}
FUNCTION void stop_here(int die) { leaf(9); if (die) abort(); STAY; }
FUNCTION void outer(int die) { leaf(8); stop_here(die); STAY; }
int main(int argc, char **argv)
{
	loops = argc > 1 ? atoi(argv[1]) : 10;
	pthread_barrier_init(&parked, NULL, THREADS + 1);
	pthread_t thread;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	pthread_barrier_wait(&parked);
	outer(argc > 2 && !strcmp(argv[2], "abort"));
	return 0;
}
EOS

# What gdb runs. CHECK: the calls of each thread are those of gdb's backtrace, or with 'part' the
# inner ones and said to be, and 'names' stands for their number only.
cat >check.py <<'EOP'
import re
import gdb
OURS = "leaf park deep jump jumped inside switched busy work stop_here outer main".split()

def name_of(frame):
    # With two bodies, the one that records is name.recorded where only the table of symbols has names. GDB takes that for a
    # clone, and writes brackets.
    name = frame.name()
    return name.removesuffix("[recorded]") if name and not frame.function() else name

def stacks(text):
    found, rest = {}, {}
    for line in text.splitlines():
        head = re.match(r"thread \d+ .*, thread (\d+) of gdb: ", line)
        call = re.match(r"  #\d+ +(\S+)  ", line)
        if head:
            now = int(head.group(1))
            found[now], rest[now] = [], ""
        elif call:
            found[now].append(call.group(1))
        elif found:
            rest[now] += line
    return found, rest

def check(how):
    text = gdb.execute("teeperf stacks", to_string=True)
    got, rest = stacks(text)
    partly = False
    threads = gdb.selected_inferior().threads()
    assert len(threads) == 6, text
    selected = gdb.selected_thread()
    for thread in threads:
        thread.switch()
        frame, want = gdb.newest_frame(), []
        while frame:
            if name_of(frame) in OURS:
                want.append(name_of(frame))
            frame = frame.older()
        have = got[thread.num]
        note = "began before the records in memory" in rest[thread.num]
        if note and how == "part":
            partly = True
            want = want[:len(have)]
        else:
            assert not note, text
        if how == "names":
            have, want = len(have), len(want)
        assert have == want, "thread %d: %s, not %s\n%s" % (thread.num, have, want, text)
        assert " ?" not in text, text
        if "inside" in want:
            assert "and 2 calls on 1 other stacks" in rest[thread.num], text
    selected.switch()
    gdb.write("STACKS AGREE%s\n" % (" IN PART" if partly else ""))

def save(name):
    with open(name, "w") as file:
        file.write(gdb.execute("teeperf events 1000000", to_string=True))
EOP
gdb_run() {
	gdb -nx -batch -ex 'set disable-randomization off' -ex 'set debuginfod enabled off' \
		-ex "source $helper" -ex 'source check.py' "$@"
}
# at_stop RECORD-OPTIONS -- PROGRAM GDB-OPTIONS...: PROGRAM, recorded, is stopped, and gdb gets the
# commands from standard input.
at_stop() {
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	stopped=$2
	shift 2
	# shellcheck disable=SC2086
	"$TEEPERF" record -q --size 8M --ready 8M $options -o run.trace -- gdb -nx -batch \
		-ex 'set disable-randomization off' -ex 'set debuginfod enabled off' \
		-ex "source $helper" -ex 'source check.py' \
		-ex 'set breakpoint pending on' -ex 'break abort' -ex run "$@" -ex kill \
		--args "$stopped" "${loops:-10}" abort >out 2>err || true
	grep -q 'Breakpoint 1,' out || {
		cat out err >&2
		grep -Eqi 'ptrace|not permitted|could not trace' out err &&
			skip "gdb may not trace programs here"
		fail "no stop: $stopped"
	}
	! grep -q Traceback err out || fail "$(cat out err)"
}

# The same records as in the trace: time, kind, name.
same_events() {
	"$TEEPERF" dump run.trace >dump
	python3 - "$1" dump <<'EOP'
import re
import sys
word = re.compile(r"^\s+((?:\d+ )?(?:enter|exit|resync|leave) 0x\S+(?: \d+)?|sync \d+|lost \d+|pad|counts \d+|(?:count|sampled) \S+ \d+)")
def records(name, head):
    found = {}
    for line in open(name):
        match = re.match(head, line)
        if match:
            now = found.setdefault(int(match.group(1)), [])
        elif not line.startswith((" ", "\t")):
            now = []
        elif word.match(line):
            now.append(word.match(line).group(1))
    return found
shown = records(sys.argv[1], r"thread (\d+) ")
trace = records(sys.argv[2], r"chunk thread=(\d+) ")
assert len(shown) == 6 and shown == trace, (shown, trace)
print(sum(map(len, shown.values())), "records agree")
EOP
}

"$TEEPERF" cc -O1 -g -pthread app.c -o app
"$TEEPERF" cc -O1 -g -c app.c -o app.o
clang=$("$TEEPERF" cc --print-prog-name=clang)
"$TEEPERF" cc -O1 -g -pthread -static app.c -o app-static
"$TEEPERF" cc -O1 -g -pthread -no-pie app.c -o app-fixed
"$TEEPERF" cc -O1 -g -pthread --exits=untimed app.c -o app-untimed
objcopy --strip-debug --wildcard -N 'tp_*' app app-nameless
"$TEEPERF" cc -O1 -g -pthread --shape=dual app.c -o app-dual
objcopy --strip-debug app-dual app-dual-symbols
mkdir -p lib
cp "$(readlink -f "$TEEPERF_BUILD/lib/libteeperf.so")" lib/libteeperf.so
soname=$(readelf -d lib/libteeperf.so | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
[ "$soname" = libteeperf.so ] || cp lib/libteeperf.so "lib/$soname"
"$clang" -pthread app.o -Llib -lteeperf -Wl,-rpath,"$folder/lib" -o app-shared

for program in app app-static app-fixed app-untimed app-nameless app-dual app-dual-symbols \
	app-shared app-stripped; do
	if [ $program = app-stripped ]; then
		strip lib/libteeperf.so "lib/$soname"
		cp app-shared $program
	fi
	at_stop --mode full -- ./$program -ex 'python check("whole")' -ex 'python save("events")' \
		-ex 'teeperf status'
	says '^STACKS AGREE$' out
	says '  attached: yes' out
	case $program in
	app-nameless | app-stripped) says "found by its first word" out ;;
	*) says '  attached: yes; recording' out ;;
	esac
	echo "$program: $(same_events events)"
done
for clock in soft none; do
	at_stop --mode full --clock $clock -- ./app -ex 'python check("whole")' \
		-ex 'python save("events")'
	says '^STACKS AGREE$' out
	echo "clock $clock: $(same_events events)"
done

# Counts, which are records of their own.
"$TEEPERF" cc -O1 -g -pthread --level=sample/2 app.c -o app-sampled
at_stop --mode full -- ./app-sampled -ex 'python save("events")' -ex 'teeperf stacks'
says '^    sampled 0x[0-9a-f]+ [1-9][0-9]*  leaf' events
echo "sampled: $(same_events events)"

# Chunks that the recorder has taken: it goes on while the program is stopped, and is waited for.
cat >wait.py <<'EOP'
import time
while True:
    text = gdb.execute("teeperf status", to_string=True)
    if "complete 0" in text:
        break
    time.sleep(0.05)
check("part")
text = gdb.execute("teeperf stacks -chunks 1", to_string=True)
assert "#2   deep" in text, text
gdb.execute("teeperf stacks")
gdb.write(text)
EOP
loops=20000
at_stop --mode stream --drain now -- ./app -ex 'source wait.py'
says '^STACKS AGREE IN PART$' out
says 'and the calls that began before the records in memory .the recorder has taken the first [1-9][0-9]* chunks.' out
says 'and the calls that began before the records in memory .only the last 1 chunks were read' out

# A flight recorder: it shows the end, to the last record, of the process and in its core.
cat >filter.py <<'EOP'
def dump(filter, name):
    with open("/proc/%d/coredump_filter" % gdb.selected_inferior().pid, "w") as file:
        file.write(filter)
    gdb.execute("gcore " + name)
EOP
at_stop --mode ring --ring 128K -- ./app -ex 'python check("part")' -ex 'python save("events")' \
	-ex 'source filter.py' -ex 'python dump("0x3b", "core.ring")' -ex 'teeperf status' \
	-ex 'teeperf stacks'
says '^STACKS AGREE IN PART$' out
says ', mode ring$' out
says '^  each thread keeps its last 2 chunks' out
says 'and the calls that began before the records in memory .the first [1-9][0-9]* chunks were overwritten.' out
says '^  those before are not in memory: they were overwritten$' events
echo "ring: $(same_events events)"
gdb_run ./app core.ring -ex 'python check("part")' -ex 'python save("events")' >out 2>err
says '^STACKS AGREE IN PART$' out
echo "core of a ring: $(same_events events)"
loops=10

# Recording that is switched off, from the beginning or by now: no calls are shown that may have
# ended.
at_stop --mode full --on-start off -- ./app -ex 'teeperf stacks' -ex 'teeperf status'
says 'switched off: open calls are unknown' out
says 'no thread has recorded anything' out
cat >off.py <<'EOP'
for clock in (True, False):
    gdb.execute("call (void)__teeperf_switch(%d)" % (not clock))
    text = gdb.execute("teeperf stacks", to_string=True)
    assert "#0" not in text and ("unknown" in text) == clock, text
    assert text.count("recording was off") == 6, text
gdb.write("OFF AND ON\n")
EOP
at_stop --mode full --clock count -- ./app -ex 'source off.py'
says 'OFF AND ON' out

# A forked child, without a log and with one of its own.
cat >fork.c <<'EOS'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void child(void) { abort(); }
int main(void)
{
	if (!fork())
		child();
	wait(NULL);
	return 0;
}
EOS
"$TEEPERF" cc -O1 -g fork.c -o fork
at_stop --mode full -- ./fork -iex 'set follow-fork-mode child' -ex 'teeperf stacks'
says 'no log: not recording: .*a forked child without a log$' err
at_stop --mode full --follow-fork -- ./fork -iex 'set follow-fork-mode child' -ex 'teeperf stacks'
says '^  #0   child  ' out
says 'began before the records in memory .the log does not have the thread from its beginning' out

# Cores: gdb's, and the kernel's if it makes them here.
core() {
	for event in 'teeperf stacks' 'python check("whole")' 'python save("events")'; do
		set -- "$@" -ex "$event"
	done
	gdb_run "$@" >out 2>err
	! grep -q Traceback err out || fail "$(cat out err)"
	says '^STACKS AGREE$' out
	same_events events
}
at_stop --mode full -- ./app -ex 'source filter.py' -ex 'python dump("0x3b", "core.with")' \
	-ex 'python dump("0x33", "core.without")' \
	-ex "shell gdb -nx -batch -ex 'source $helper' ./app core.without -ex 'teeperf stacks' >live 2>&1"
says '^  . the core file does not hold the log; this is from the log.s present file' live
says '^  #2   main  ' live
echo "gcore: $(core ./app core.with)"
gdb_run ./app core.without -ex 'teeperf stacks' >out 2>err || true
says 'not in (memory|this core file); cores leave out shared memory' err
mkdir -p kernel
(
	cd kernel
	ulimit -c unlimited 2>/dev/null && echo 0x3b >/proc/self/coredump_filter &&
		"$TEEPERF" record -q --size 8M --ready 8M --mode full \
		-o ../run.trace -- ../app 10 abort
) >out 2>&1 || true
set -- kernel/core*
if [ -e "$1" ]; then
	echo "core of the kernel: $(core ./app "$1")"
else
	echo "the kernel leaves no core file here: not tried"
fi

# No content of the log leads to more than a message: bits are flipped in the bytes that are read.
cat >hostile.py <<'EOP'
import random
import struct
import teeperf_gdb_log
real = teeperf_gdb_log.read
log = teeperf_gdb_log.find_log()[0]
commands = ["teeperf status", "teeperf stacks", "teeperf events 50"]
told = 0
for seed in range(TRIES):
    chance = random.Random(seed)
    where = chance.choice([64, 128, 4096, 1 << 16, 1 << 30])
    def damaged(address, size):
        data = real(address, size)
        at = address - log.base
        if data is None or at < 0 or at >= log.size:
            return data
        data = bytearray(data)
        chance = random.Random(seed * 7919 + at)
        for _ in range(chance.randrange(4)):
            place = chance.randrange(min(size, where)) & ~7
            if place + 8 <= size:
                value = chance.choice([0, 1, 2**63, 2**64 - 1, chance.getrandbits(64), 1 << chance.randrange(64)])
                struct.pack_into("<Q", data, place, value)
        return bytes(data)
    teeperf_gdb_log.read = damaged
    for command in commands:
        try:
            gdb.execute(command, to_string=True)
        except gdb.error as error:
            assert str(error).startswith(("the ", "what ", "no log")), error
            told += 1
teeperf_gdb_log.read = real
assert told
check("whole")
gdb.write("%d OF %d REFUSED\n" % (told, len(commands) * TRIES))
EOP
tries=15
[ "${TEEPERF_FULL:-0}" = 0 ] || tries=3000
gdb_run ./app core.with -ex "python TRIES = $tries" -ex 'source hostile.py' >out 2>err
says '^[0-9]+ OF [0-9]+ REFUSED$' out
grep REFUSED out

# Damaged chunks are named, and nothing from before them is shown.
cat >damage.py <<'EOP'
import struct
import teeperf_gdb_log
real = teeperf_gdb_log.read
log = teeperf_gdb_log.find_log()[0]
chunk = log.chunks - log.base + (log.threads[0].chunks[0][0] << 16)
threads = struct.unpack("<Q", real(log.base + 56, 8))[0]
def told(place, form, value):
    def damaged(address, size):
        data = real(address, size)
        at = log.base + place - address
        if data is None or not 0 <= at <= size - 8:
            return data
        data = bytearray(data)
        struct.pack_into(form, data, at, value)
        return bytes(data)
    teeperf_gdb_log.read = damaged
    try:
        return gdb.execute("teeperf stacks 0", to_string=True)
    except gdb.error as error:
        return str(error)
    finally:
        teeperf_gdb_log.read = real
for place, form, value, want in [
    (0, "<Q", 7, "is not a log: it begins with 0x7"),
    (8, "<H", 2, "has version 2."),
    (20, "<I", 3, "chunk_count 3"),
    (24, "<Q", 1 << 40, "of which 0x"),
    (40, "<Q", log.size - 8, "state_offset is"),
    (64, "<Q", 12, "chunks_offset is 0xc"),
    (76, "<I", 1 << 31, "a table of 2147483648 entries"),
    (log.states - log.base, "<Q", 9, "1 chunks have a state that does not exist"),
    (chunk + 32, "<Q", 1 << 20, "1048576 bytes in use"),
    (chunk + 8, "<Q", 1, "the recorder has taken the first 1 chunks"),
    (threads + 16, "<Q", 5, "unknown: its last chunk is not in memory"),
    (threads + 8, "<Q", 5, "#0   stop_here"),
    (chunk + 64, "<Q", 8 << 32 | 5000, "a chunk is damaged"),
    (chunk + 64 + 800, "<Q", 8 << 32 | 4091, "a chunk is damaged"),
    (chunk + 64, "<Q", 0x12345679 << 32, "1 records do not match others"),
]:
    text = told(place, form, value)
    assert want in text, (place, want, text)
    assert "damaged" not in want or "#0" not in text, text
gdb.write("DAMAGE TOLD\n")
EOP
gdb_run ./app core.with -ex 'source damage.py' >out 2>err
says '^DAMAGE TOLD$' out

# Where there is nothing to show, one sentence.
gdb_run ./app -ex 'teeperf stacks' >out 2>err || true
says 'no process and no core file' err
gdb_run -ex 'break stop_here' -ex run -ex 'teeperf stacks' --args ./app >out 2>err || true
says "no log: .*started without 'teeperf record'" err
printf 'void stop_here(void) {}\nint main(void) { stop_here(); return 0; }\n' >plain.c
"$clang" -g plain.c -o plain
gdb_run -ex 'break stop_here' -ex run -ex 'teeperf status' --args ./plain >out 2>err || true
says 'no log, and no runtime of TeePerf' err
gdb_run ./app core.with -ex 'teeperf stacks 77' -ex 'teeperf events 0' \
	-ex 'teeperf stacks -frames' >out 2>err || true
says 'thread 77 is not in the log' err
