#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that stacks are exact however control flows: each program in test/lib/flow says in its
# comments (flow.h) which paths it takes and how often, and the trace has these and no others.
# TEEPERF_FULL=1 adds optimisations, LTO, the called sequence, untimed exits, and each LLVM that
# there is a plugin for.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
full=0
[ "${TEEPERF_FULL:-0}" = 1 ] && full=1

# section NUMBER KEY SOURCE: what the comments of a source say for its run of that number.
section() {
	awk -v run="$1" -v key="// $2: " '
		/^\/\/ args: / { at++ }
		index($0, key) == 1 && (at == run || !at) { print substr($0, length(key) + 1) }' \
		"$3"
}

# run WHAT SOURCE: run ./prog as its comments say, once for each "args:".
run() {
	what=$1
	source=$2
	runs=$(grep -c '^// args: ' "$source" || true)
	number=0
	[ "$runs" = 0 ] || number=1
	while [ "$number" -le "$runs" ]; do
		section $number want "$source" |
			sed -E 's/\.(resume|destroy)\b/ [clone .\1]/g' | LC_ALL=C sort >want
		[ -s want ] || fail "$source expects nothing"
		ends=$(section $number ends "$source")
		# shellcheck disable=SC2046 # words are meant
		expect "${ends:-0}" "$TEEPERF" record -q -o run.trace -- ./prog \
			$(section $number args "$source")
		"$TEEPERF" analyze run.trace --view tree --format csv >tree.csv 2>odd
		but_busy odd
		python3 "$lib/tree_paths.py" tree.csv | LC_ALL=C sort >got
		diff want got || fail "$what: the stacks are not exact"
		section $number says "$source" >right
		[ -s right ] || echo 'nothing is' >right
		! grep -Ev -f right odd || fail "$what: these are oddities"
		number=$((number + 1))
	done
}

# deep NUMBER: flow_tails again, NUMBER calls deep: each is counted, and ends.
deep() {
	expect 0 "$TEEPERF" record -q --size 256M -o run.trace -- ./prog "$1"
	"$TEEPERF" analyze run.trace --view top --format csv >top.csv 2>odd
	but_busy odd
	[ ! -s odd ] || {
		cat odd >&2
		fail "$what: oddities in a stack of $1 calls"
	}
	awk -F, '$1 == "even" || $1 == "odd" || $1 == "deep" { print $1, $2 }' top.csv | sort >got
	printf 'deep 1\neven %d\nodd %d\n' $(($1 / 2 + 1)) $(($1 / 2)) | diff - got ||
		fail "$what: $1 deep"
}

# program OPTION...: build and run each.
program() {
	# Only functions with KEEP: constructors and compiler-made functions differ from level to
	# level.
	printf 'src:*%s\nfun:_Z*=skip\nfun:_GLOBAL_*=skip\nfun:__cxx_*=skip\nfun:__clang_*=skip\nfun:__tls_*=skip\n' \
		"$name" >list.allow
	section 0 allow "$source" >>list.allow
	compiler=cc
	case $name in *.cpp) compiler=c++ ;; esac
	case "$*" in *-flto*) lto "$TEEPERF" $compiler "$@" "$source" -o prog || return 0 ;; esac
	# shellcheck disable=SC2046 # words are meant
	expect 0 "$TEEPERF" $compiler --allowlist list.allow "$@" $(section 0 flags "$source") \
		-g "$source" -o prog -lpthread
	run "$name $*" "$source"
}

for source in "$lib"/flow/flow_*.c "$lib"/flow/flow_*.cpp; do
	name=$(basename "$source")
	program -O2
	program --shape=dual -O2
	[ "$name" != flow_tails.c ] || deep 100000
	program -O0
	[ "$name" != flow_tails.c ] || deep 100000
	[ $full = 1 ] || continue
	for level in -O1 -O3 -Os; do
		program $level
		[ "$name" != flow_tails.c ] || deep 1000000
	done
	program -O2 -flto
	program --shape=dual -O0
	program --shape=dual -O2 -flto
	program --shape=call -O0
	program --shape=call -O2
	program --exits=untimed -O2
	for plugin in "$TEEPERF_BUILD"/lib/teeperf/llvm-*; do
		program --llvm "${plugin##*-}" -O0
		program --llvm "${plugin##*-}" -O2
	done
done
