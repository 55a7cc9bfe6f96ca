#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that a fleet has each run once while it is compacted, added to and read at the same time,
# when compact, add or expire are killed at any system call that changes files, and after expire;
# and that files of a newer schema, and damaged ones, are refused and stay.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

runs=24
python3 "$lib/fleet_traces.py" traces $runs 60
for i in $(seq 0 $((runs - 1))); do
	"$TEEPERF" dump --assemble traces/$i.txt -o traces/$i.trace
done
traces() {
	for i in $(seq "$1" "$2"); do echo "traces/$i.trace"; done
}
add() {
	"$TEEPERF" fleet add -q --to "$@" 2>err || fail "$(cat err)"
}
check() {
	fleet=$1
	shift
	python3 "$lib/fleet_check.py" "$TEEPERF" "$fleet" "$@" >checked ||
		fail "$fleet: $(cat checked)"
}

# In pieces, with a compaction after each; the result is that of all at once.
for i in 0 6 12 18; do
	add pieces $(traces $i $((i + 5)))
	expect 0 "$TEEPERF" fleet compact -q pieces
done
check pieces $(traces 0 $((runs - 1)))
[ "$(find pieces/profile -name '*.parquet' | wc -l)" = 6 ] || fail "$(find pieces/profile)"
add whole $(traces 0 $((runs - 1)))
expect 0 "$TEEPERF" fleet compact -q whole
for table in runs functions paths profile histograms path_histograms; do
	for program in 0 1 2; do
		for day in 2023-11-14 2023-11-15; do
			cat pieces/$table/day=$day/program=program$program/run=*/*.parquet
		done >one
		cat whole/$table/day=*/program=program$program/run=*/*.parquet >other
		cmp one other || fail "$table: the order of runs makes a difference"
	done
done
# Nothing more to do.
find whole -type f | sort | xargs cksum >was
expect 0 "$TEEPERF" fleet compact whole
find whole -type f | sort | xargs cksum | cmp - was || fail "compact again changes files"
# A run that is in a large file is known.
add whole traces/3.trace
find whole -type f | sort | xargs cksum | cmp - was || fail "added again"

# Killed at any call that changes a name.
cat >kill_nth.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
static void count(void)
{
	static int calls;
	const char *nth = getenv("KILL_NTH");
	if (nth && ++calls == atoi(nth))
		raise(SIGKILL);
}
#define WRAP(name, parameters, arguments) \
	int name parameters { int (*real) parameters = dlsym(RTLD_NEXT, #name); count(); return real arguments; }
WRAP(rename, (const char *a, const char *b), (a, b))
WRAP(renameat2, (int a, const char *b, int c, const char *d, unsigned e), (a, b, c, d, e))
WRAP(mkdir, (const char *a, mode_t b), (a, b))
WRAP(unlink, (const char *a), (a))
WRAP(rmdir, (const char *a), (a))
WRAP(remove, (const char *a), (a))
END
${CC:-cc} -shared -fPIC -O1 -o kill_nth.so kill_nth.c -ldl || skip "no C compiler"
add few $(traces 0 5)
kills=0
for command in "fleet compact -q" "fleet expire -q --keep-last 1" \
	"fleet add -q traces/6.trace traces/7.trace --to"; do
	n=1
	while :; do
		rm -rf killed
		cp -r few killed
		got=0
		KILL_NTH=$n LD_PRELOAD=$PWD/kill_nth.so "$TEEPERF" $command killed \
			>out 2>err || got=$?
		case $command in
		*compact*) check killed $(traces 0 5) ;;
		*) # The files are whole; once more completes it.
			"$TEEPERF" $command killed >out 2>err || fail "after a kill: $(cat err)"
			case $command in
			*expire*) check killed $(traces 3 5) ;;
			*) check killed $(traces 0 7) ;;
			esac
			;;
		esac
		[ $got != 0 ] || break
		kills=$((kills + 1))
		# Each of them takes minutes.
		[ "${TEEPERF_FULL:-0}" = 1 ] && n=$((n + 1)) || n=$((n * 2))
	done
done
[ $kills -gt 15 ] || fail "killed $kills times"
# Left-over files are removed, by those that add, too, unless they are new or in use.
rm -rf killed
cp -r few killed
KILL_NTH=3 LD_PRELOAD=$PWD/kill_nth.so "$TEEPERF" fleet compact -q killed >out 2>err || :
mkdir -p killed/.compact-abcdef/program=x
touch -d '3 days ago' killed/.compact-abcdef
expect 0 "$TEEPERF" fleet compact -q killed
[ ! -e killed/.compact-abcdef ] || fail "an old temporary folder is left"
mkdir killed/.add-1 killed/.compact-2 killed/.add-used killed/.add-new
touch -d '20 minutes ago' killed/.add-1 killed/.compact-2 killed/.add-used
expect 0 flock killed/.add-used "$TEEPERF" fleet add -q --to killed traces/9.trace
[ -d killed/.add-used ] && [ -d killed/.add-new ] || fail "removed in use: $(ls -a killed)"
[ ! -e killed/.add-1 ] && [ ! -e killed/.compact-2 ] || fail "left: $(ls -a killed)"

# Several add, one compacts, one reads: it never sees a run twice.
cat >read.py <<'END'
import glob, os, sys
sys.path.insert(0, os.environ["LIB"])
import parquet_read
looks = 0
open("reading", "w").close()
while not os.path.exists("stop") or not looks:
    try:
        files = glob.glob("busy/functions/day=*/program=*/run=*/*.parquet")
        seen = set()
        for path in files:
            columns, _ = parquet_read.read(path)
            rows = list(zip(columns["run_id"], columns["fn_key"]))
            assert not seen & set(rows) and len(set(rows)) == len(rows), path
            seen |= set(rows)
        looks += 1
    except FileNotFoundError:
        pass  # exchanged after it was listed
print(looks)
END
rm -f stop reading
mkdir -p busy
LIB=$lib python3 read.py >looks &
reader=$!
await_true '[ -e reading ]' 'the reader'
"$TEEPERF" fleet add -q --to busy $(traces 0 11) 2>err1 &
one=$!
"$TEEPERF" fleet add -q --to busy $(traces 8 23) 2>err2 &
other=$!
while kill -0 $one 2>/dev/null || kill -0 $other 2>/dev/null; do
	"$TEEPERF" fleet compact -q busy 2>err || says 'is not a folder of a fleet' err
done
wait $one || fail "$(cat err1)"
wait $other || fail "$(cat err2)"
expect 0 "$TEEPERF" fleet compact -q busy
touch stop
wait $reader || fail "a reader saw a run twice"
[ "$(cat looks)" -gt 0 ] || fail "the reader saw nothing"
check busy $(traces 0 $((runs - 1)))

# Old runs.
expect 0 "$TEEPERF" fleet expire --keep-last 2 --dry-run busy
[ "$(wc -l <out)" = $((runs - 6)) ] || fail "$(cat out)"
check busy $(traces 0 $((runs - 1)))
cut -d' ' -f1 out >gone
expect 0 "$TEEPERF" fleet expire --keep-last 2 busy
says "removed $((runs - 6)) runs" err
for i in $(seq 0 $((runs - 1))); do
	"$TEEPERF" fleet add --to busy traces/$i.trace 2>err
	! grep -q 'is already in the fleet' err || echo $i
done >kept
[ "$(wc -l <kept)" = 6 ] || fail "$(cat kept)"
check busy $(traces 0 $((runs - 1)))
expect 0 "$TEEPERF" fleet expire --older-than 1h busy
[ -z "$(find busy -name '*.parquet' -o -name '*.json')" ] || fail "$(find busy)"
expect 129 "$TEEPERF" fleet expire busy
expect 129 "$TEEPERF" fleet expire --older-than 90 busy
expect 129 "$TEEPERF" fleet expire --keep-last 0 busy
mkdir empty
expect 1 "$TEEPERF" fleet expire --keep-last 1 empty
says 'is not a folder of a fleet' err
[ -z "$(ls -A empty)" ] || fail "$(ls -A empty)"

# What cannot be read stays, and is said.
cp -r few damaged
file=$(find damaged/functions -name '*.parquet' | sort | head -n 1)
printf 'x' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 20)) conv=notrunc 2>/dev/null
find damaged -name '*.parquet' | sort | xargs cksum >was
expect 1 "$TEEPERF" fleet compact -q damaged
says 'is damaged' err
find damaged/functions -name '*.parquet' | sort | xargs cksum >now
grep functions was | cmp - now || fail "a damaged file is touched"
cp -r few newer
file=$(find newer/functions -name '*.parquet' | sort | head -n 1)
python3 - "$file" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"teeperf.schema")
at = data.index(b"2", at)
open(sys.argv[1], "wb").write(data[:at] + b"9" + data[at + 1:])
END
expect 1 "$TEEPERF" fleet compact -q newer
says 'has schema 9, but this program knows 2' err
