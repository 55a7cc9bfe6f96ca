#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that no command writes its output over what it reads, by whatever name, nor loses an older
# output when it fails; and that folded stacks of a recursion too deep for them are refused.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

"$TEEPERF" dump --assemble "$root/test/golden/border/trace.txt" -o keep
cp keep before
cp keep other
ln keep hard
ln -s keep soft

# refused OUT COMMAND...
refused() {
	path=$1
	shift
	expect 1 "$TEEPERF" "$@" -o "$path"
	says "'$path': is an input, and would be overwritten" err
	[ "$(wc -l <err)" -ge 1 ] && cmp keep before || fail "overwritten: $*"
}
for out in keep hard soft "$PWD/keep"; do
	for format in folded flamegraph pprof chrome sqlite; do
		refused "$out" export --format $format keep
	done
	refused "$out" export --format flamegraph --baseline keep other
	refused "$out" report keep
	refused "$out" report --baseline keep other
	refused "$out" dump keep
done
cp keep keep.html
cp keep before.html
rm keep
ln keep.html keep
cp keep before
expect 1 "$TEEPERF" report keep
says 'would be overwritten' err
cmp keep before

# ---- an output without a name is none, and not standard output
for command in 'export --format csv' 'export --format folded' report dump; do
	for option in -o --output; do
		expect 129 "$TEEPERF" $command $option '' before
		says "option '--output' needs a name" err
		[ ! -s out ] || fail "$command writes to standard output"
	done
done

# ---- nor do the parts of an output
ln keep.html part.0001
for format in chrome perfetto; do
	expect 1 "$TEEPERF" export --format $format --split 1ms -o part keep
	says "'part.0001': is an input, and would be overwritten" err
	cmp keep before
done
rm part.0001

# ---- an older output is replaced as a whole, or not at all; a link and a mode stay
for format in chrome folded; do
	echo old >output
	chmod 640 output
	ln -sf output link
	expect 0 "$TEEPERF" export --format $format -o link other
	expect 0 "$TEEPERF" export --format $format -o - other
	cmp out output
	[ -L link ] && [ "$(stat -c %a output)" = 640 ] || fail "link or mode"
done
# Without -o, a file that standard output is redirected into gets it, but no log and no pipe.
for format in chrome dot flamegraph speedscope callgrind pprof csv folded; do
	expect 0 "$TEEPERF" export --format $format -o wanted other
	"$TEEPERF" export --format $format other >redirected 2>err || fail "$(cat err)"
	cmp wanted redirected || fail "$format: not in the file that was redirected"
done
[ -z "$(find . -name 'other.*')" ] || fail "written elsewhere: $(ls)"
"$TEEPERF" export --format dot other >log 2>&1
says "wrote 'other.dot'" log
rm other.dot
"$TEEPERF" export --format dot other 2>err | cmp - /dev/null || fail "written into a pipe"
says "wrote 'other.dot'" err
rm other.dot
python3 - <<'EOS' >deep.txt
print('clock kind=tsc hz=1000000000\ncommand\n\tstring "/"\n\tstring "deep"\nsymbols')
print('\tsymbol 0x401000 "down" file="deep.c" line=1')
DEPTH, time, sequence = 25000, 0, 0
lines = ["enter 0x401000"] * DEPTH + ["exit 0x401000"] * DEPTH
for at in range(0, len(lines), 8000):
    print(f"chunk thread=0 tid=100 sequence={sequence} time={time}")
    sequence += 1
    for line in lines[at:at + 8000]:
        time += 1
        print(f"\t{time} {line}")
print("end")
EOS
expect 0 "$TEEPERF" dump --assemble deep.txt -o deep.trace
for weight in self calls; do
	echo old >output
	expect 1 "$TEEPERF" export --format folded --weight $weight -o output deep.trace
	says 'up to 25000 calls deep, would be 312512500 functions' err
	[ "$(cat output)" = old ] || fail "a failed export lost the old output"
done
expect 0 "$TEEPERF" export --format folded --depth 100 -o output deep.trace
[ "$(wc -l <output)" = 100 ] || fail "with --depth"
for command in 'export --format chrome' report dump; do
	echo old >output
	if (ulimit -f 8 && "$TEEPERF" $command -o output deep.trace) >out 2>err; then
		fail "an output of more than the limit: $command"
	fi
	says "'output': cannot write" err
	[ "$(cat output)" = old ] || fail "a failed write lost the old output: $command"
done
[ -z "$(ls -A | grep '^\.teeperf-')" ] || fail "a temporary file is left"
expect 0 "$TEEPERF" export --format folded -o /dev/null other

# ---- so do the commands that read no trace
cp "$TEEPERF_BUILD/bin/teeperf" program
expect 1 "$TEEPERF" inventory -o program program
says "'program': is an input" err
cmp program "$TEEPERF_BUILD/bin/teeperf"
