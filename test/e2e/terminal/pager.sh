#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# On a terminal, results and help go through the pager, and nowhere else; the exit status is the
# command's, also where who reads leaves early. Colour is where it is wanted.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
unset PAGER TEEPERF_PAGER NO_COLOR LESS LV
TERM=xterm
export TERM

{
	printf 'clock kind=tsc hz=1000000000\nsymbols\n'
	seq 4096 16 12000 | sed 's/.*/\tsymbol & function_&/'
	printf 'chunk\n'
	seq 4096 16 12000 |
		awk '{ printf "\t%d enter %d\n\t%d exit %d\n", 10 * NR, $1, 10 * NR + 9, $1 }'
	printf 'end\n'
} >a.txt
"$TEEPERF" dump --assemble a.txt -o a.trace
head -c -300 a.trace >bad.trace
expect 1 "$TEEPERF" analyze bad.trace

# on STATUS COMMAND...: on a terminal of 100 columns.
on() {
	wanted_status=$1
	shift
	expect "$wanted_status" python3 "$lib/terminal.py" 100 "$@" </dev/null
}
TEEPERF_PAGER='sed s/^/paged:/'
export TEEPERF_PAGER
for command in 'analyze a.trace' 'analyze --format csv a.trace' 'analyze --view tree a.trace' \
	'diff a.trace a.trace' 'what-if --help' 'help' '--help' 'help record' 'record --help' \
	'fleet --help' 'query --schema' 'query --example' 'query --example=top --show'; do
	# shellcheck disable=SC2086 # words are meant
	on 0 "$TEEPERF" $command
	[ "$(grep -c '^paged:' out)" -eq "$(wc -l <out)" ] ||
		fail "'$command' is not paged: $(cat out)"
	# shellcheck disable=SC2086
	expect 0 "$TEEPERF" $command
	! grep -q 'paged:' out || fail "'$command' is paged where there is no terminal"
done
on 0 "$TEEPERF" query a.trace 'SELECT count(*) FROM functions'
says '^paged:.*495' out
for command in 'analyze --no-pager a.trace' '--no-pager analyze a.trace' '--no-pager help' 'ctl'; do
	# shellcheck disable=SC2086
	python3 "$lib/terminal.py" 100 "$TEEPERF" $command >out 2>err </dev/null || true
	! grep -q 'paged:' out || fail "'$command' is paged"
done
# The status is the command's, not the pager's; also if the pager has not read all.
on 1 "$TEEPERF" analyze bad.trace
says '^paged:' out
TEEPERF_PAGER='head -n 1'
on 0 "$TEEPERF" analyze --limit 0 a.trace
[ "$(wc -l <out)" -eq 1 ] && [ ! -s err ] || fail "left early: $(cat out err)"
on 1 "$TEEPERF" analyze --limit 0 bad.trace
TEEPERF_PAGER=false
on 0 "$TEEPERF" analyze --limit 0 a.trace
[ ! -s out ] || fail "the pager has shown nothing: $(cat out)"
TEEPERF_PAGER='cat; exit 3'
on 0 "$TEEPERF" analyze a.trace
# Which one.
PAGER='sed s/^/other:/'
export PAGER
TEEPERF_PAGER='sed s/^/paged:/'
on 0 "$TEEPERF" analyze a.trace
says '^paged:' out
unset TEEPERF_PAGER
on 0 "$TEEPERF" analyze a.trace
says '^other:' out
for none in '' cat; do
	PAGER=$none
	on 0 "$TEEPERF" analyze a.trace
	! grep -q '^other:' out || fail "a pager that nobody wants"
	says 'function_' out
done
PAGER=no-such-pager
on 0 "$TEEPERF" analyze a.trace
says "the pager 'no-such-pager' does not exist: set TEEPERF_PAGER or PAGER" err
says 'function_' out
PAGER='echo "LESS is $LESS"; cat'
on 0 "$TEEPERF" analyze a.trace
says '^LESS is FRX$' out
LESS=S
export LESS
on 0 "$TEEPERF" analyze a.trace
says '^LESS is S$' out
unset LESS PAGER
if command -v less >/dev/null; then
	# What fits one screen is shown without waiting for a key; of the rest, q leaves.
	on 0 "$TEEPERF" analyze a.trace
	says 'function_' out
	printf q | expect 0 python3 "$lib/terminal.py" 100x10 "$TEEPERF" analyze --limit 0 a.trace
	says 'function_|functions' out
	[ "$(wc -l <out)" -lt 100 ] || fail "less has shown all"
fi

# colored YES_OR_NO COMMAND...
escape=$(printf '\033')
colored() {
	wanted_color=$1
	shift
	"$@" >out 2>err </dev/null || fail "$*: $(cat err)"
	color=no
	! grep -q "$escape\\[1m" out || color=yes
	[ $color = "$wanted_color" ] || fail "colour: $color, wanted $wanted_color: $*"
}
PAGER=cat
export PAGER
colored yes python3 "$lib/terminal.py" 100 "$TEEPERF" analyze a.trace
PAGER='sed s/x/x/'
colored yes python3 "$lib/terminal.py" 100 "$TEEPERF" analyze a.trace
colored no python3 "$lib/terminal.py" 100 "$TEEPERF" analyze --color=never a.trace
colored no python3 "$lib/terminal.py" 100 "$TEEPERF" --color=never analyze a.trace
colored no "$TEEPERF" analyze a.trace
colored yes "$TEEPERF" analyze --color always a.trace
colored yes "$TEEPERF" --color=always analyze a.trace
NO_COLOR=1
export NO_COLOR
colored no python3 "$lib/terminal.py" 100 "$TEEPERF" analyze a.trace
colored yes "$TEEPERF" analyze --color=always a.trace
NO_COLOR=
colored yes python3 "$lib/terminal.py" 100 "$TEEPERF" analyze a.trace
TERM=dumb colored no python3 "$lib/terminal.py" 100 "$TEEPERF" analyze a.trace
expect 129 "$TEEPERF" --color=red analyze a.trace
says "'--color' takes auto, always or never, not 'red'" err
