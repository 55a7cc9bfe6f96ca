#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program that reads a cold file, maps one, and touches new memory: how long each function ran and
# waited is what the program's own clocks say, by an ordinary user, too; and its calls, bytes,
# requests and page faults are what /proc/self/io and getrusage say, while another program uses the
# same device. TEEPERF_FULL=1 touches 1 GiB.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"

file_mib=64 passes=4 memory_mib=256
if [ "${TEEPERF_FULL:-0}" = 1 ]; then
	file_mib=256 passes=8 memory_mib=1024
fi

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "own_clocks.h"
enum { PIECE = 1 << 20, MAPPED = 8 << 20, NEW = 4 << 20 };
static long page;
static size_t file_size, memory_size;
static char piece[PIECE];
static void need(int is_so)
{
	if (!is_so)
		abort();
}
/* All that is told of the program, by itself. */
enum { WALL, CPU, DELAY, STOLEN, RCHAR, SYSCR, READ_BYTES, MINFLT, MAJFLT, NVCSW, FIGURES };
struct figures {
	long long of[FIGURES];
};
static ssize_t read_text(const char *name, char text[1024])
{
	const int fd = open(name, O_RDONLY);
	const ssize_t size = fd < 0 ? 0 : read(fd, text, 1023);
	text[size > 0 ? size : 0] = 0;
	if (fd >= 0)
		close(fd);
	return size;
}
/* The last look before a piece of work adds to what is read meanwhile: its own text. */
static struct figures look(ssize_t *own)
{
	char text[1024];
	struct figures f = {0};
	struct rusage usage;
	long long irq = 0, softirq = 0, steal = 0;
	need(!getrusage(RUSAGE_SELF, &usage));
	f.of[MINFLT] = usage.ru_minflt;
	f.of[MAJFLT] = usage.ru_majflt;
	f.of[NVCSW] = usage.ru_nvcsw;
	read_text("/proc/stat", text);
	sscanf(text, "cpu %*d %*d %*d %*d %*d %lld %lld %lld", &irq, &softirq, &steal);
	f.of[STOLEN] = (irq + softirq + steal) * (1000000000 / sysconf(_SC_CLK_TCK));
	read_text("/proc/self/schedstat", text);
	sscanf(text, "%*d %lld", &f.of[DELAY]);
	*own = read_text("/proc/self/io", text);
	need(sscanf(text, "rchar: %lld wchar: %*d syscr: %lld syscw: %*d read_bytes: %lld", &f.of[RCHAR],
		 &f.of[SYSCR], &f.of[READ_BYTES]) == 3);
	return f;
}
/* Its own calls, behind the one that it reads the figures with, are taken off. */
static void tell(const char *name, struct figures before, ssize_t own, long long wall, long long cpu)
{
	ssize_t unused;
	struct rusage usage;
	char text[1024];
	need(!getrusage(RUSAGE_SELF, &usage));
	const long long minflt = usage.ru_minflt - before.of[MINFLT];
	const ssize_t others = read_text("/proc/stat", text) + read_text("/proc/self/schedstat", text);
	struct figures after = look(&unused);
	after.of[RCHAR] -= own + 2 * others;
	after.of[SYSCR] -= 5;
	if (!*name)
		return;
	printf("%s %lld %lld %lld %lld", name, inside.wall, inside.cpu, wall, cpu);
	for (int i = DELAY; i < FIGURES; i++)
		printf(" %lld", i == MINFLT ? minflt : after.of[i] - before.of[i]);
	printf("\n");
}
__attribute__((noinline)) void read_cold(int fd)
{
	INSIDE(for (size_t at = 0; at < file_size; at += PIECE)
			need(pread(fd, piece, PIECE, (off_t)at) == PIECE));
}
__attribute__((noinline)) void touch_file(const volatile char *at)
{
	INSIDE(for (size_t i = 0; i < MAPPED; i += page)
			(void)at[i]);
}
__attribute__((noinline)) void touch_memory(volatile char *at)
{
	INSIDE(for (size_t i = 0; i < memory_size; i += page)
			at[i] = 1);
}
/* What the kernel touches for the program. */
__attribute__((noinline)) void read_to_new(int fd, char *at)
{
	INSIDE(need(pread(fd, at, NEW, 0) == NEW));
}
static void forget(int fd)
{
	need(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
}
static char *map(int fd)
{
	char *at = mmap(NULL, MAPPED, PROT_READ, MAP_SHARED, fd, 0);
	need(at != MAP_FAILED && !madvise(at, MAPPED, MADV_RANDOM));
	forget(fd);
	return at;
}
#define MEASURE(name, work)                                                \
	do {                                                               \
		ssize_t own;                                               \
		const struct figures before = look(&own);                  \
		inside.wall = inside.cpu = 0;                              \
		const long long wall = now(CLOCK_MONOTONIC_RAW);           \
		const long long cpu = now(CLOCK_THREAD_CPUTIME_ID);        \
		work;                                                      \
		const long long ran = now(CLOCK_THREAD_CPUTIME_ID) - cpu;  \
		tell(name, before, own, now(CLOCK_MONOTONIC_RAW) - wall, ran); \
	} while (0)
static char *new_memory(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(at != MAP_FAILED);
	madvise(at, size, MADV_NOHUGEPAGE);
	return at;
}
int main(int argc, char **argv)
{
	struct stat info;
	need(argc == 4);
	const int fd = open(argv[1], O_RDONLY);
	need(fd >= 0 && !fstat(fd, &info));
	page = sysconf(_SC_PAGESIZE);
	file_size = (size_t)info.st_size;
	memory_size = (size_t)atol(argv[3]) << 20;
	memset(piece, 1, sizeof(piece));
	if (!memory_size) /* the neighbour, until it is ended */
		for (alarm(300);; touch_file(map(fd)), forget(fd))
			read_cold(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	MEASURE("", (void)0); /* what all of this touches first is no work's */
	printf("device %d\n", major(info.st_dev) != 0);
	for (int i = 0; i < atoi(argv[2]); i++) {
		forget(fd);
		MEASURE("read_cold", read_cold(fd));
	}
	char *mapped = map(fd);
	MEASURE("touch_file", touch_file(mapped));
	char *memory = new_memory(memory_size);
	MEASURE("touch_memory", touch_memory(memory));
	memory = new_memory(NEW);
	MEASURE("read_to_new", read_to_new(fd, memory));
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -I"$lib" -o app app.c
${CC:-cc} -O1 -w -I"$lib" -o neighbour app.c || skip "no C compiler (CC=${CC:-cc})"

cat >check.py <<'EOS'
"""check.py TRACE TOLD FUNCTIONS [SYSTEM IO LOST]: tables of a trace against what the program told."""
import csv
import os
import sys

trace, told, functions, *system = sys.argv[1:]
NAMES = "wall_inside cpu_inside wall cpu delay stolen rchar syscr read_bytes minflt majflt nvcsw".split()
TICK = 1e9 / os.sysconf("SC_CLK_TCK")
work, device, failed = {}, 0, 0
for line in open(told):
    name, *figures = line.split()
    if name == "device":
        device = int(figures[0])
        continue
    sums = work.setdefault(name, dict.fromkeys(NAMES, 0))
    for key, figure in zip(NAMES, figures):
        sums[key] += int(figure)


def wrong(what, got, wanted):
    global failed
    print(f"{trace}: {what}: {got:,}, not {wanted:,}")
    failed = 1


def is_time(what, got, least, most, off):
    """From LEAST to MOST, within 3 %, or a tick of 10 ms; and OFF."""
    off += max(0.03 * most, 10e6)
    if not least - off <= got <= most + off:
        wrong(what + " in ns", got, most if got > most else least)


rows = {row["function"]: row for row in csv.DictReader(open(functions))}
for name, told in work.items():
    got = {key: int(rows[name]["inclusive_%sns" % key]) for key in ("", "cpu_", "wait_", "preempted_")}
    idle = told["wall"] - told["cpu"]
    idle_inside = told["wall_inside"] - told["cpu_inside"]
    # What the hypervisor and interrupts took, of which no switch tells; and the way from where the kernel's clock goes over to
    # a thread to where it tells so, in a virtual machine that others use, too. Where the hypervisor stops a processor, that
    # clock stands still at most a tick behind the last one, and jumps with the next: what ran then is a tick off or two.
    off = told["stolen"] + 40e3 * told["nvcsw"] + 2 * TICK
    if not told["nvcsw"]:
        off = max(off, idle - told["delay"])  # exactly: the kernel's clock says that it neither ran nor waited
    is_time(name + " in all", got[""], told["wall_inside"], told["wall"], 0)
    is_time(name + " running", got["cpu_"], told["cpu_inside"], told["cpu"], off)
    is_time(name + " not running", got["wait_"] + got["preempted_"], idle_inside, idle, off)
    # What waits for a processor is counted as delay, also behind a wait.
    if got["preempted_"] > told["delay"] * 1.03 + 10e6 + off:
        wrong(name + " preempted", got["preempted_"], told["delay"])
    if got["wait_"] < (idle_inside - told["delay"]) * 0.97 - 10e6 - off:
        wrong(name + " waiting", got["wait_"], idle_inside - told["delay"])
    if bool(got["wait_"]) != bool(told["nvcsw"]):
        wrong(name + " waiting, and switches of its own will", got["wait_"], told["nvcsw"])
cold = work["read_cold"]["read_bytes"] >= 0.97 * work["read_cold"]["rchar"]
if not cold:
    print("not tried: a cold file, as this file system keeps it in memory", file=sys.stderr)
elif not work["read_cold"]["nvcsw"] or not work["touch_file"]["majflt"]:
    wrong("the cold file was not waited for", work["read_cold"]["nvcsw"], 1)
if not system:
    sys.exit(failed)

# What the kernel's events say. Those that were lost are counted by kind.
view = list(csv.DictReader(open(system[0])))
table = {row["function"]: row for row in csv.DictReader(open(system[1]))}
lost = dict.fromkeys(("lost-calls", "lost-faults", "lost-blocks", "lost-allocations"), 0)
lost.update(part.split("=") for part in open(system[2]).read().split()[2:])


def is_count(what, got, wanted, missing, each=1):
    if not wanted - missing * each <= got <= wanted:
        wrong(what, got, wanted)


for name, told in work.items():
    mine = [row for row in view if row["function"] == name and not row["event"].startswith("kernel memory: ")]

    def total(key, *words):
        return sum(int(row[key] or 0) for row in mine if row["event"].endswith(words))

    missing = int(lost["lost-calls"])
    is_count(name + ": calls that read", total("count", "pread64"), told["syscr"], missing)
    is_count(name + ": bytes of them", total("bytes", "pread64"), told["rchar"], missing, 1 << 22)
    is_count(name + ": calls in io", int(table[name]["calls"]), told["syscr"], missing)
    majors = sum(int(row["count"]) for row in mine if row["event"].startswith("major "))
    missing = int(lost["lost-faults"])
    is_count(name + ": major faults", majors, told["majflt"], missing)
    missing += 2  # of the program's own looks, around the function
    is_count(name + ": faults", total("count", " fault"), told["minflt"] + told["majflt"], missing)
    is_count(name + ": faults in faults", int(table[name]["faults"]), told["minflt"] + told["majflt"], missing)
    if device:
        missing = int(lost["lost-blocks"])
        is_count(name + ": bytes of requests", total("bytes", "block read"), told["read_bytes"], missing, 1 << 23)
        is_count(name + ": the same in io", int(table[name]["blocks"]), told["read_bytes"], missing, 1 << 23)
    page = os.sysconf("SC_PAGESIZE")
    pages = int(table[name]["pages"] or 0)
    if name == "touch_memory" and not 0.97 <= pages / page / told["minflt"] <= 1.03 and not int(lost["lost-allocations"]):
        wrong(name + ": bytes of pages", pages, told["minflt"] * page)
sys.exit(failed)
EOS

functions() {
	"$TEEPERF" analyze --format csv "$1" >functions.csv 2>notes
}

# `told` TRACE: the kernel reported its switches.
told() {
	"$TEEPERF" dump "$1" | grep -q '^sched '
}

# make_file FILE: one that can be cold, as it is on the device.
make_file() {
	dd if=/dev/zero of="$1" bs=1048576 count=$file_mib 2>/dev/null
	sync "$1"
}

# agrees WHAT TRACE [FILE...]: what check.py says; on a machine that others use, of one recording in
# three.
agrees() {
	what=$1
	shift
	python3 check.py "$@" || {
		tries=$((tries + 1))
		[ $tries -lt 3 ] || fail "not what $what"
		return 1
	}
}

make_file data
tries=0
while :; do
	expect 0 "$TEEPERF" record -q -o run.trace -- ./app data $passes $memory_mib
	cp out told
	if ! told run.trace; then
		echo "not tried: running and waiting, of which the kernel does not tell here"
		break
	fi
	functions run.trace
	! agrees "the program's own clocks showed" run.trace told functions.csv || break
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	user=$(mktemp -d)
	trap 'rm -rf "$user"' EXIT
	cp app "$user"
	cp "$TEEPERF" "$user/teeperf"
	make_file "$user/data"
	chmod 777 "$user"
	tries=0
	while :; do
		(cd "$user" && setpriv --reuid=65534 --regid=65534 --clear-groups ./teeperf record \
			-q -o run.trace -- ./app data $passes $memory_mib >told) ||
			fail "an ordinary user cannot record"
		told "$user/run.trace" || break
		functions "$user/run.trace"
		! agrees "the program's own clocks showed an ordinary user" \
			"$user/run.trace" "$user/told" functions.csv || break
	done
	rm -rf "$user"
fi

if ! may_bpf; then
	echo "not tried: system events, as there is no BPF here"
	exit 0
fi
cp data other
sync other
./neighbour other 0 0 &
neighbour=$!
trap 'kill $neighbour; rm -rf "${user:-/nonexistent}"' EXIT
tries=0
while :; do
	expect 0 "$TEEPERF" record -q -o events.trace \
		--events sched,syscalls,io,faults,mem -- ./app data $passes $memory_mib
	cp out told
	functions events.trace
	"$TEEPERF" analyze --view system --limit 0 --format csv events.trace >system.csv 2>notes
	"$TEEPERF" query --format csv events.trace "SELECT function,
		(SELECT count(*) FROM io i WHERE i.fn = f.fn AND call LIKE '%read%' AND call NOT LIKE 'block %') AS calls,
		(SELECT coalesce(sum(bytes), 0) FROM io i WHERE i.fn = f.fn AND call = 'block read') AS blocks,
		(SELECT count(*) FROM faults p WHERE p.fn = f.fn) AS faults,
		(SELECT sum(page_bytes) FROM allocations a WHERE a.fn = f.fn) AS pages FROM functions f" \
		>table.csv 2>notes
	"$TEEPERF" dump events.trace | grep '^system ' | tail -1 >lost
	! agrees "the kernel counted of the program" events.trace told functions.csv \
		system.csv table.csv lost || break
done
cat told
