#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves on the eight kernels of benchmarks/phoenix that instrumentation and recording do not change
# what a program computes, whatever the number of threads; that each kernel computes what its name
# says; and, with inlining off, that string_match's calls are counted exactly.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

phoenix=$root/benchmarks/phoenix
native=${CC:-cc}
command -v "$native" >/dev/null || skip "no C compiler (CC=$native)"
expect 0 "$phoenix/build-all" native "$native" -O2
expect 0 "$phoenix/build-all" inlined "$TEEPERF" cc -O2 -g
expect 0 "$phoenix/build-all" calls "$TEEPERF" cc -O2 -g -fno-inline

# size KERNEL: small, and no multiple of 3 threads.
size() {
	case $1 in
	matrix_multiply|pca) echo 37 ;;
	reverse_index) echo 151 ;;
	*) echo 2000 ;;
	esac
}

# same WHAT COMMAND...: it prints what was expected, and its times to standard error.
same() {
	what=$1
	shift
	expect 0 "$@"
	cmp -s out expected || {
		diff expected out >&2 || true
		fail "$kernel, $what, computes something else"
	}
	says "^$kernel [0-9]+ [0-9]+\$" err
}

# recorded BUILD THREADS: run under the recorder; nothing is lost and each thread seen.
recorded() {
	same "recorded ($1, $2 threads)" "$TEEPERF" record -q --mode full --size 256M \
		-o run.trace -- "$1/$kernel" --size "$n" --seed 7 --threads "$2"
	"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv
	awk -F, 'NR > 1 && $5 != 0 { exit 1 }' threads.csv || fail "$kernel: events were lost"
	"$TEEPERF" analyze run.trace --view top --format csv >top.csv
}

# calls FUNCTION: of the last recorded run.
calls() {
	awk -F, -v name="$1" 'NR > 1 && $1 == name { sum += $2 } END { print sum + 0 }' top.csv
}

# counted FUNCTION COUNT
counted() {
	[ "$(calls "$1")" = "$2" ] || {
		cat top.csv >&2
		fail "$kernel: $(calls "$1") calls of $1, not $2"
	}
}

for source in "$phoenix"/*.c; do
	kernel=$(basename "$source" .c)
	[ "$kernel" != phoenix ] || continue
	n=$(size "$kernel")
	expect 0 "native/$kernel" --size "$n" --seed 7 --dump-input
	mv out input
	python3 "$lib/phoenix_expect.py" "$kernel" <input >expected
	cat expected
	for build in native inlined calls; do
		for threads in 1 3 16; do
			same "$build, $threads threads" "$build/$kernel" --size "$n" --seed 7 \
				--threads $threads
		done
	done
	recorded inlined 1
	counted main 1
	recorded calls 3
	counted main 1
	counted share_run $((3 * $(calls phx_threads_run)))
	[ "$(calls share_run)" -ge 3 ] || fail "$kernel did not start its threads"

	# The comparison itself: another input gives another result.
	expect 0 "native/$kernel" --size "$n" --seed 8
	! cmp -s out expected || fail "$kernel does not depend on its seed"
done

# Four keys of one line each, then the words: every letter of both is encrypted by a call.
kernel=string_match
n=$(size string_match)
expect 0 native/string_match --size "$n" --seed 7 --dump-input
mv out input
python3 "$lib/phoenix_expect.py" string_match <input >expected
recorded calls 3
counted next_word "$n"
counted match_word "$n"
counted keys_equal $((4 * n))
counted encrypt_word $((n + 4))
counted encrypt_letter "$(tr -d '\n' <input | wc -c)"
counted phx_text_append_word "$n"
counted line_from 6

for wrong in --size=0 --size=12x --threads=0 --threads=-1 --seed= --nothing surplus; do
	expect 129 native/string_match $wrong
	[ ! -s out ] || fail "$wrong: prints to standard output"
	says . err
done
