#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# README's sample has the heading and the columns that the demo's command prints, and what takes
# minutes in the demo, installing and building, says how far it is: without a terminal ten times,
# not hundreds.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >app.c <<'EOC'
__attribute__((noinline)) static int leaf(int x)
{
	__asm__ volatile("");
	return x;
}
int main(void)
{
	for (int i = 0; i < 20000; i++)
		leaf(i);
	return 0;
}
EOC
expect 0 "$TEEPERF" cc -g -O1 -o app app.c
expect 0 "$TEEPERF" record -q -o teeperf.trace --clock tsc ./app
# The command is the demo's, with another trace and fewer functions; README's is the tutorial's, and
# has the tutorial's program.
command=$(grep '^show "$bin/teeperf" analyze "$demo/teeperf.trace" --limit' "$root/tools/demo") ||
	fail "the demo has no such command"
eval "$(echo "$command" | sed 's|^show "$bin/teeperf"|"$TEEPERF"|; s|$demo/||')" >shown
says '^\$ teeperf analyze best.trace --limit 3$' "$root/README.md"
sed -n '/^\$ teeperf analyze best.trace --limit 3$/,/^```$/p' "$root/README.md" |
	sed '1d;$d' >sample
program=$(sed -n 's/^program *//p' sample)
grep -qF "teeperf record -o best.trace -- $program >" "$root/docs/tutorial.md" ||
	fail "docs/tutorial.md does not record '$program'"
# columns FILE: of its table; keys FILE: what the lines of its heading begin with.
columns() {
	grep -E '^ *calls ' "$1" | tr -s ' ' | sed 's/^ //; s/ $//'
}
keys() {
	sed '/^$/,$d' "$1" | cut -d ' ' -f 1
}
[ "$(columns sample)" ] || fail "README.md has no table"
[ "$(columns sample)" = "$(columns shown)" ] ||
	fail "README.md: the columns are '$(columns sample)'; what comes out has '$(columns shown)'"
# What the heading says of a busy machine may come and go; the rest is always there.
for key in $(keys sample); do
	grep -qF "\"$key " "$root"/analyzer/output/*.c "$root"/analyzer/output/notes.def ||
		fail "README.md: no line of a heading begins with '$key'"
done
for key in program duration events clock times; do
	keys sample | grep -Fxq "$key" || fail "README.md: the sample has no line '$key'"
	keys shown | grep -Fxq "$key" ||
		fail "no line of the heading begins with '$key': $(cat shown)"
done

progress() {
	"$root/tools/progress" "$@"
}
{
	for step in $(seq 1 400); do
		echo "[$step/400] Building C object x.dir/$step.c.o"
		[ "$step" != 200 ] || echo 'x.c:1: warning: see x:exit 3'
	done
	echo 'exit 0'
} | progress tools/build ninja >out
[ "$(grep -c '^tools/build: [1-9]0 % ([0-9]* of 400 steps)$' out)" = 9 ] || fail "$(cat out)"
[ "$(wc -l <out)" = 10 ] || fail "more than ten lines: $(cat out)"
says '^x.c:1: warning' out
got=0
printf '[1/2] x\nFAILED: x.o\nexit 3\n' | progress tools/build ninja >out || got=$?
[ $got = 3 ] && [ "$(cat out)" = 'FAILED: x.o' ] || fail "$got: $(cat out)"
{
	echo '0 upgraded, 30 newly installed, 0 to remove and 2 not upgraded.'
	echo 'Need to get 123 MB of archives.'
	for step in $(seq 1 30); do
		echo "Get:$step http://example.org/debian bookworm/main amd64 package$step" \
			"amd64 1.0 [12 kB]"
	done
	for step in $(seq 1 30); do
		echo "Unpacking package$step (1.0) ..."
	done
	for step in $(seq 1 30); do
		echo "Setting up package$step (1.0) ..."
	done
	echo 'exit 0'
} | progress tools/setup apt log >out
says '^tools/setup: downloading 123 MB of archives.$' out
says '^tools/setup: 30 % \(downloading package[0-9]+\)$' out
says '^tools/setup: 60 % \(unpacking package[0-9]+\)$' out
says '^tools/setup: 90 % \(setting up package[0-9]+\)$' out
[ "$(wc -l <out)" = 10 ] || fail "more than ten lines: $(cat out)"
[ "$(wc -l <log)" = 92 ] || fail "the log lacks lines"
grep -q 'tools/progress' "$root/tools/build" && grep -q '/progress"' "$root/tools/setup" ||
	fail "the demo does not say how far it is"
