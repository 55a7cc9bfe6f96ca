#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that the micro benchmarks measure what they say: each call that they divide by is made, by
# a function of its own, and the hand-written limits have the clock reads and stores of their names.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

micro=$root/benchmarks/micro
native=${CC:-cc}
command -v "$native" >/dev/null || skip "no C compiler (CC=$native)"
for limit in '' LIMIT LIMIT_SOFT LIMIT_NONE LIMIT_COUNT; do
	programs='leaf recursion threads2 many'
	# The thousand functions take as long to compile as all else here: in short form once.
	[ -z "$limit" ] || [ "${TEEPERF_FULL:-0}" != 0 ] || programs='leaf recursion threads2'
	expect 0 env MICRO_PROGRAMS="$programs" "$micro/build-all" "native$limit" "$native" \
		-O2 ${limit:+-D$limit}
	for program in $programs; do
		expect 0 "native$limit/$program" --rounds 3 --calls 1000
		number='[0-9]+\.[0-9]{3}'
		[ "$program" = threads2 ] && lines=2 || lines=1
		[ "$(grep -Ec "^$program(\.one|\.two)?( $number){4}\$" out)" = $lines ] &&
			[ "$(wc -l <out)" = $lines ] || {
			cat out >&2
			fail "$program prints something else ($limit)"
		}
	done
done

# counted PATTERN COUNT FUNCTIONS: FUNCTIONS that match have COUNT calls together.
counted() {
	awk -F, -v pattern="^($1)\$" 'NR > 1 && $1 ~ pattern { calls += $2; functions++ }
		END { print calls + 0, functions + 0 }' top.csv >found
	[ "$(cat found)" = "$2 $3" ] || {
		cat top.csv >&2
		fail "$program: calls and functions of $1 are $(cat found), not $2 $3"
	}
}
expect 0 "$micro/build-all" instrumented "$TEEPERF" cc -O2 -g
# Three rounds, and an eighth of one to warm up. fib(20) are 21891 calls, fib(16) to warm up 3193.
for program in leaf recursion threads2 many; do
	expect 0 "$TEEPERF" record -q --mode full --size 64M -o run.trace -- \
		"instrumented/$program" --rounds 3 --calls 24000
	"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv
	awk -F, 'NR > 1 && $5 != 0 { exit 1 }' threads.csv || fail "$program: events were lost"
	"$TEEPERF" analyze run.trace --view top --format csv >top.csv
	case $program in
	leaf) counted leaf $((3 * 24000 + 3001)) 1 ;;
	recursion) counted fib $((3 * 21891 + 3193)) 1 ;;
	threads2) counted leaf $((9 * (24000 + 3001))) 1 ;;
	many) counted 'function1[0-9][0-9][0-9]' $((3 * 24000 + 3001)) 1000 ;;
	esac
done

# instructions LIMIT PATTERN: how many of leaf's match.
instructions() {
	objdump -d --no-show-raw-insn "native$1/leaf" | sed -n '/<leaf>:$/,/^$/p' >leaf.dump
	grep -Ec "$2" leaf.dump || true
}
if [ "$(uname -m)" = x86_64 ] && command -v objdump >/dev/null; then
	while read -r limit reads loads stores counts; do
		for what in "$reads rdtsc" "$loads mov .*<micro_counter>" \
			"$stores mov +%r[a-z0-9]+,%fs:.*\(.*8\)" "$counts (inc|add)q? .*%fs:"; do
			pattern=${what#* }
			found=$(instructions "$limit" "$pattern")
			[ "$found" = "${what%% *}" ] || {
				cat leaf.dump >&2
				fail "$limit: $found times '$pattern', not ${what%% *}"
			}
		done
	done <<'ROWS'
LIMIT 2 0 2 0
LIMIT_SOFT 0 2 2 0
LIMIT_NONE 0 0 2 0
LIMIT_COUNT 0 0 0 1
ROWS
fi
expect 129 native/leaf --rounds 0
expect 129 native/leaf --period
expect 129 native/leaf surplus
