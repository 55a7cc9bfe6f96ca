#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that logs of the original TEE-Perf are read as traces: a program whose hooks write that
# layout, of one thread and of several, position-independent or not, optimized or not, and the same
# program recorded by teeperf have the same calls on the same paths. All commands take such logs;
# --program names functions, and a wrong one does not; missing, cut off, overwritten or wrong parts
# are reported, and nothing crashes.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
CC=${CC:-gcc}
command -v "$CC" >/dev/null || skip "no C compiler with -finstrument-functions (CC=$CC)"
program=$lib/original_program.c
ORIGINAL_SIZE=4000000
export ORIGINAL_SIZE

# original NAME HOW FLAG...: builds the program with hooks, and runs it: NAME.log
original() {
	name=$1
	how=$2
	shift 2
	"$CC" -g "$@" -c "$lib/original_hooks.c" -o hooks.o
	"$CC" -g "$@" -finstrument-functions "$program" hooks.o -o "$name" -pthread
	rm -f "$name.log"
	ORIGINAL_LOG=$name.log "./$name" "$how"
}

# paths FILE OPTION...: its call paths, each with how often it was called
paths() {
	file=$1
	shift
	# Whether one thread or two ran after one another, they have one number in the original: add
	# them up.
	"$TEEPERF" export --format folded --weight calls "$@" "$file" 2>notes | awk '
		{ calls = $NF; sub(/ [0-9]*$/, ""); sub(/^[^;]*;/, "") }
		!/^(main|run)(;|$)/ { sub(/^[^;]*;/, "") }
		{ sum[$0] += calls }
		END { for (path in sum) print path, sum[path] }' | sort
}

"$TEEPERF" cc -g -O1 "$program" -o ours -pthread
for how in plain threads nest; do
	"$TEEPERF" record -o ours.trace -- ./ours $how >/dev/null
	paths ours.trace >want
	[ "$(wc -l <want)" -gt 10 ] || fail "few paths"
	for flags in "-O2" "-O0" "-Os -no-pie" "-O2 -DTHREADS" "-O0 -no-pie -DTHREADS"; do
		case "$how $flags" in threads*THREADS | [!t]*) ;; *) continue ;; esac
		original p $how $flags
		paths p.log --program p >have
		diff want have >&2 || fail "$how $flags: other calls than teeperf has recorded"
		expect 0 "$TEEPERF" analyze --view top --format csv --program p p.log
		says '^leaf,[0-9]+,.*,p,.*original_program.c,1[0-3],leaf,' out
		! grep -q 'address' err || fail "addresses are told"
	done
done

# For the program of one thread, every command. The unit of times is ticks.
original p plain -O2
expect 0 "$TEEPERF" analyze --program p p.log
says '^unit +ticks' out
says '^program +p$' out
for view in threads tree inverted timeline contention; do
	expect 0 "$TEEPERF" analyze --view $view --program p p.log
done
expect 0 "$TEEPERF" analyze --view transitions --border leaf --program p p.log
for view in function histogram; do
	expect 0 "$TEEPERF" analyze --view $view --function work --program p p.log
done
for format in folded flamegraph chrome callgrind pprof perfdata perfetto speedscope \
	"speedscope --calls" firefox csv; do
	expect 0 "$TEEPERF" export --format $format -o "p.$format" --program p p.log
	says 'unit +ticks' err
	[ -s "p.$format" ] || fail "$format: nothing was written"
done
says '"unit":"ticks"|ticks' p.speedscope
expect 0 "$TEEPERF" query --program p p.log \
	"SELECT count(*) FROM calls WHERE fn = (SELECT fn FROM functions WHERE function = 'work')"
says '2' out
expect 0 "$TEEPERF" report --program p -o p.html p.log
says 'ticks' p.html
expect 0 "$TEEPERF" diff --program p p.log p.log
says 'work' out
expect 0 "$TEEPERF" dump --program p -o p.txt p.log
"$TEEPERF" dump --assemble p.txt -o p.trace
paths p.log --program p >want
paths p.trace >have
diff want have >&2 || fail "the dump is another trace"
expect 0 "$TEEPERF" allowlist generate --counts p.log --program p --profile ours.trace -o list
# Its times are in no unit, and nothing is chosen by them.
expect 1 "$TEEPERF" allowlist generate --profile p.log --program p -o list2
says 'calls alone do not show' err

# Without a program, with one that is another, one without the symbol, and several of which one is
# right.
expect 0 "$TEEPERF" analyze p.log
says 'name it with --program FILE' err
says ' 0x[0-9a-f]{6,}$' out
"$CC" -O0 -g -finstrument-functions "$program" "$lib/original_hooks.c" -o other -pthread
expect 0 "$TEEPERF" analyze --program other p.log
says 'is not the recorded one' err
! grep -q leaf out || fail "a wrong name"
expect 0 "$TEEPERF" analyze --program ours p.log
says "has no symbol '?__profiler_map_info" err
expect 0 "$TEEPERF" analyze --program other --program p --program ours p.log
says ' leaf ' out
expect 1 "$TEEPERF" analyze --program nothing p.log
says "'nothing'" err
expect 1 "$TEEPERF" analyze --program p.log p.log
says "'p.log'" err
strip -o stripped p
expect 0 "$TEEPERF" analyze --program stripped p.log
says 'give the unstripped file' err
mkdir -p debug
objcopy --only-keep-debug p debug/p.debug
(cd debug && objcopy --add-gnu-debuglink=p.debug ../stripped)
expect 0 "$TEEPERF" analyze --program stripped --debug-dir debug p.log
says ' leaf ' out

# The recorder's own records, which lie over entries that say their thread: the entries below are
# lost, and reported.
original s switch -O2
expect 0 "$TEEPERF" analyze --program s s.log
says 'switched off 1 time' out
! grep -q '^lost' out || fail "lost in a log of one thread"
original s switch -O2 -DTHREADS
expect 0 "$TEEPERF" analyze --program s s.log
says 'switched off 1 time' out
says '^lost +[1-4] events' out

# Full: the program dies, and the log has as many entries as fit.
ORIGINAL_SIZE=4096
name=f
"$CC" -O2 -finstrument-functions "$program" "$lib/original_hooks.c" -o f -pthread
(ulimit -c 0; ORIGINAL_LOG=f.log ./f) 2>/dev/null && fail "it is not full"
expect 0 "$TEEPERF" analyze --program f f.log
says '^events +252, incomplete: ' out
says '^lost +[12] events' out

# A recorder whose program never came; files that only look alike.
head -c 4096 /dev/zero >unused
printf '\020\000' | dd of=unused bs=1 seek=33 conv=notrunc 2>/dev/null
printf '\000' >>unused
expect 1 "$TEEPERF" analyze unused
says 'without entries' err
for at in 8 10 11 15 16 28 31 39 55; do
	cp p.log alike
	printf '\377' | dd of=alike bs=1 seek=$at conv=notrunc 2>/dev/null
	expect 1 "$TEEPERF" analyze alike
	says 'not a TeePerf trace' err
done

# What people give by mistake.
expect 1 "$TEEPERF" analyze "$TEEPERF"
says "not a TeePerf trace: a program; 'teeperf record' runs it" err
expect 1 "$TEEPERF" report -o x.html "$script"
says 'not a TeePerf trace: a text file' err

# No room for the translation, and no folder for it.
expect 1 env TMPDIR=/nowhere "$TEEPERF" analyze p.log
says 'TMPDIR' err
(ulimit -f 8; trap '' XFSZ; expect 1 "$TEEPERF" analyze p.log; says 'TMPDIR' err) || exit 1

# Cut off anywhere, and every byte of the header and of some entries changed: a result or one clear
# error, never a crash.
cat >hostile.py <<'EOS'
import os, random, subprocess, sys
teeperf, full = os.environ["TEEPERF"], os.environ.get("TEEPERF_FULL") == "1"
runs = 0
def check(data, what):
    global runs
    runs += 1
    with open("bad.log", "wb") as file:
        file.write(data)
    got = subprocess.run([teeperf, "analyze", "--format", "csv", "--program", "s", "bad.log"], capture_output=True, timeout=60)
    if got.returncode not in (0, 1) or got.returncode == 1 and not got.stderr:
        sys.exit("%s: exit status %d: %s" % (what, got.returncode, got.stderr.decode(errors="replace")))
    return got
whole = open("s.log", "rb").read()
used = 56 + 24 * int.from_bytes(whole[40:48], "little")
random.seed(1)
for at in sorted(random.sample(range(57, used), 400 if full else 20)):
    got = check(whole[:at], "cut at %d" % at)
    if b"cut off" not in got.stderr:
        sys.exit("cut at %d is not told: %s" % (at, got.stderr))
for at in range(56):
    for bit in range(8) if full else [random.randrange(8)]:
        bad = bytearray(whole)
        bad[at] ^= 1 << bit
        check(bad, "bit %d of byte %d" % (bit, at))
for i in range(1000 if full else 20):
    bad = bytearray(whole[:used + 1])
    for _ in range(random.randrange(1, 40)):
        at = random.randrange(56, used)
        bad[at:at + 1] = bytes([random.choice([0, 255, random.randrange(256)])])
    check(bad, "random %d" % i)
print(runs, "damaged logs")
EOS
python3 -B hostile.py
