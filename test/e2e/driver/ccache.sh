#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that 'ccache teeperf cc' never hands out an object of another level, list, shape or plugin,
# that it does find those of the same, and that what it cannot know is refused or not kept.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v ccache >/dev/null || skip "there is no ccache"
unset CCACHE_DEPEND CCACHE_DISABLE CCACHE_NOCPP2 CCACHE_PREFIX CCACHE_SLOPPINESS
CCACHE_DIR=$PWD/cache
CCACHE_CONFIGPATH=$PWD/ccache.conf
PATH=$(dirname "$TEEPERF"):$PATH
export CCACHE_DIR CCACHE_CONFIGPATH PATH
: >ccache.conf

echo 'int one(int x) { return x + 1; } int two(int x) { return x + 2; }' >part.h
echo '#include "part.h"' >a.c
mkdir -p plain

# The number of objects that were found so far.
hits() {
	ccache --print-stats | awk '/^(direct|preprocessed)_cache_hit/ { n += $2 } END { print n }'
}
# compile HIT ARGS...: the object is that which the command makes without ccache, and was found
# (HIT 1) or not (0).
compile() {
	hit=$1
	shift
	before=$(hits)
	rm -f a.o
	expect 0 ccache teeperf cc "$@" -O2 -c a.c
	after=$(hits)
	[ $((after - before)) = "$hit" ] || fail "$((after - before)) hits, not $hit: $*"
	(cd plain && "$TEEPERF" cc "$@" -O2 -I.. -c -o a.o ../a.c) 2>/dev/null
	objdump -dr a.o | sed '/file format/d' >got
	objdump -dr plain/a.o | sed '/file format/d' >want
	cmp got want || fail "the object is another one: $*"
}
for round in 0 1; do
	TEEPERF_LEVEL=off compile $round
	compile $round
	TEEPERF_LEVEL=count compile $round
	TEEPERF_SHAPE=call compile $round
	TEEPERF_SWITCHES=one compile $round
	compile $round --exits=untimed
	compile $round --level=off
done
# Lists: by option or in the environment, the same file with another text.
list=$PWD/l.allow
for round in 0 1; do
	echo fun:one >l.allow
	compile $round --allowlist="$list"
	TEEPERF_ALLOWLIST=$list compile $round
	echo fun:two >>l.allow
	compile $round --allowlist="$list"
	TEEPERF_ALLOWLIST=$list compile $round
done
# What the source includes counts as ever.
echo 'int one(int x) { return x + 3; }' >part.h
compile 0
compile 0 -MD -MF a.d
compile 1 -MD -MF a.d
! grep -q 'null\|teeperf' a.d || fail "the dependencies have files of ours: $(cat a.d)"
# So it is with time stamps that are not looked at.
export CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime
TEEPERF_LEVEL=off compile 0 -fno-inline
compile 0 -fno-inline
unset CCACHE_SLOPPINESS

# Inventories in files are written each time.
for round in 1 2; do
	rm -rf inventory
	compile 0 --inventory="$PWD/inventory"
	ls inventory/*.tpinv >/dev/null || fail "there is no inventory"
done
# Where ccache does not ask, nothing is compiled that it could keep.
echo depend_mode=true >ccache.conf
expect 1 ccache teeperf cc -O2 -MD -MF a.d -c a.c
says '^teeperf cc: ccache is in its depend mode' err
CCACHE_NODEPEND=1 compile 1
: >ccache.conf
expect 0 ccache teeperf cc -O2 -E a.c -o a.i
! grep -q teeperf a.i || fail "who only preprocesses gets settings: $(cat a.i)"
expect 1 ccache teeperf cc -O2 -c a.i
says '^teeperf cc: ccache does not ask what preprocessed source depends on' err
CCACHE_DISABLE=1 expect 0 ccache teeperf cc -O2 -c a.i
