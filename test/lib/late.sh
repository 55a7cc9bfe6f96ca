# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions for tests of 'record --pid' with late_program.c; after e2e.sh.
[ "$(uname -m)" = x86_64 ] || skip "'--pid' is for x86-64"
fake=
"$TEEPERF" cc -O1 -o late "$lib/late_program.c" -lpthread
mkfifo commands

# start KIND...: a program with such threads; sets $program.
start() {
	begin late sh -c 'exec ./late "$@" <commands' sh "$@"
	is_there
}
# is_there: what 'begin late' started is ready; sets $program, its own number for itself.
is_there() {
	exec 3>commands
	await late.out ready
	program=$(sed -n 's/^ready //p' late.out)
	told=0
}
# find_outside: the same in a namespace of processes of its own; $program is its number here.
find_outside() {
	inner=$program
	for program in $(tree $begun); do
		! grep -q "^NSpid:.*[[:space:]]$inner\$" "/proc/$program/status" || break
	done
}
# go AMOUNT: each thread makes AMOUNT calls.
go() {
	echo "go $1" >&3
	told=$((told + 1))
	await_true '[ "$(grep -c ^done late.out)" = $told ]' "all threads to have made their calls"
}
# over: the program ends by itself, and has seen nothing.
over() {
	exec 3>&-
	ended 0 late
	says '^over 0 5$' late.out
}
# attach NAME [OPTIONS...]: a recorder, which records when this is over.
attach() {
	name=$1
	shift
	begin record "$TEEPERF" record --pid "$program" --size 16M -o "$name.trace" "$@" 3>&-
	recorder=$begun
	await_true 'grep -q "recording process" record.err || ! kill -0 $recorder 2>/dev/null' \
		'a recorder that records'
	grep -q 'recording process' record.err || {
		cat record.err >&2
		fail "the recorder has ended"
	}
}
# counted NAME CALLS
counted() {
	facts "$1.trace" lost=0 end_sections=1
	"$TEEPERF" analyze "$1.trace" --format csv >top.csv 2>err
	says "^work,$2," top.csv
	says "^leaf,$2," top.csv
}
# sound TRACE: each exit is of a call, each call has its exit. In out: its functions. (Where a
# handler comes in the middle of a record, times run backwards.)
sound() {
	expect 0 "$TEEPERF" analyze --fail-if note:unmatched-enters --fail-if note:unmatched-exits \
		--fail-if note:unknown-resyncs --fail-if note:holes --format csv "$1"
}
