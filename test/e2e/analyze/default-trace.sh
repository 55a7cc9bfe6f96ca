#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Commands that read a trace take the one that 'teeperf record' writes by default; if it does not
# exist, they name the file that they have looked for.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

for command in analyze report dump query 'export --format folded'; do
	# shellcheck disable=SC2086 # words are meant
	expect 129 "$TEEPERF" $command
	says "which trace\? Name its FILE: this folder has no 'teeperf.trace', the default of 'teeperf record'" err
done
expect 129 "$TEEPERF" query 'SELECT 1'
says "this folder has no 'teeperf.trace'" err
expect 129 "$TEEPERF" dump --assemble
says 'which text\? name its FILE' err
expect 129 "$TEEPERF" diff

cat >app.c <<'EOC'
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
int main(void)
{
	for (int i = 0; i < 77; i++)
		leaf();
	return 0;
}
EOC
"$TEEPERF" cc -O1 -o app app.c
expect 0 "$TEEPERF" record -q ./app
expect 0 "$TEEPERF" analyze --format csv
says '^leaf,77,' out
expect 0 "$TEEPERF" query "SELECT calls FROM functions WHERE function = 'leaf'"
says '77' out
expect 0 "$TEEPERF" query --format csv "SELECT 1 AS one" \
	"SELECT calls FROM functions WHERE function = 'leaf'"
says '^77' out
expect 0 "$TEEPERF" export --format folded --weight calls
says 'main;leaf 77' out
expect 0 "$TEEPERF" dump -o text
expect 0 "$TEEPERF" dump --assemble text -o again.trace
cmp again.trace teeperf.trace || fail "dump showed another trace"
expect 0 "$TEEPERF" report -o page.html
says 'leaf' page.html
# A name that is given is the one that counts.
expect 1 "$TEEPERF" analyze nothing.trace
says "'nothing.trace'" err
