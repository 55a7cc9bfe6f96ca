#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that names and source lines agree with the tools of others: nm, addr2line and, where it is
# installed, llvm-symbolizer. For C and C++, DWARF 4 and 5, each kind of executable, a shared
# object, LTO, debug information in a file of its own; and that a file which is not the recorded one
# names nothing.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v addr2line >/dev/null || skip "addr2line (package binutils) is not there"

# Opening braces are on the line of the name: addr2line tells where the body begins.
cat >lib.c <<'EOS'
static __attribute__((noinline)) int twice(int x) {
	__asm__ volatile("");
	return 2 * x;
}

int shared_step(int x) {
	return twice(x) + 1;
}
EOS
cat >main.c <<'EOS'
#include "part.h"
int shared_step(int x);
static __attribute__((noinline)) int twice(int x) {
	__asm__ volatile("");
	return 3 * x;
}
__attribute__((noinline)) int
walk(int n) {
	int x = 0;
	while (n--)
		x = shared_step(x) % 5 + twice(n) + part(n);
	return x;
}
#line 500 "generated.y"
__attribute__((noinline)) int parse(int n) {
	return walk(n) + 1;
}
int main(void) {
	return parse(10) == -1;
}
EOS
cat >part.h <<'EOS'
static __attribute__((noinline)) int part(int x) {
	__asm__ volatile("");
	return x - 1;
}
EOS
cat >start.cpp <<'EOS'
#include "part.h"
#define KEEP __attribute__((noinline))
#define STEP part
EOS
cat start.cpp "$lib/symbols_outer.h" - >main.cpp <<'EOS'
int main() {
	outer::Derived derived;
	outer::Base *base = &derived;
	asm volatile("" : "+r"(base));
	int x = 0;
	for (int i = 0; i < 10; i++)
		x += base->run(i);
	return *base < x && x == -1;
}
EOS

record() {
	expect 0 "$TEEPERF" record -q -o run.trace -- ./app
	expect 0 "$TEEPERF" analyze --format csv "$@" run.trace
	cp out app.csv
	cp err app.err
}

# agree WHAT COUNT [MODULE=FILE...]: teeperf found nothing amiss, and names what the others name.
agree() {
	what=$1
	shift
	but_busy app.err
	[ ! -s app.err ] || fail "$what: $(cat app.err)"
	python3 "$lib/symbols_agree.py" app.csv "$@" || fail "$what: names or lines differ"
}

# In short form C has DWARF 4 and C++ DWARF 5; symbols/matrix has both of both.
for dwarf in -gdwarf-4 -gdwarf-5; do
	expect 0 "$TEEPERF" cc $dwarf -O1 -fPIC -c lib.c -o lib.o
	for language in c cpp; do
		case ${TEEPERF_FULL:-0}$dwarf$language in
		0-gdwarf-4cpp | 0-gdwarf-5c) continue ;;
		esac
		driver=cc count=7
		[ $language = c ] || driver=c++ count=16
		for kind in -pie -no-pie -static '-O2 -fbasic-block-sections=all' '-flto -gz'; do
			# shellcheck disable=SC2086 # words are meant
			set -- "$TEEPERF" $driver $dwarf -O1 $kind -fPIE main.$language lib.o -o app
			case $kind in *-flto*) lto "$@" || continue ;; esac
			expect 0 "$@"
			record
			agree "$language $dwarf $kind" $count
		done
	done
done

# A shared object beside a position-independent executable; the paths are relative.
expect 0 "$TEEPERF" cc -g -O1 -fPIC -shared lib.c -Wl,--build-id -o libstep.so
expect 0 "$TEEPERF" cc -g -O1 main.c -L. -lstep -Wl,-rpath,. -Wl,--build-id -o app
record
agree "shared object" 7
[ "$(grep -c ',libstep.so,' app.csv)" = 2 ] || fail "two functions are in libstep.so"
cut -d, -f1,2,7-11 app.csv | sort >named

# The debug information in a file of its own, found by build ID; the binaries are stripped.
for module in app libstep.so; do
	id=$(readelf -n $module | sed -n 's/.*Build ID: //p')
	dir=debug/.build-id/$(echo "$id" | cut -c 1-2)
	mkdir -p "$dir"
	file=$dir/$(echo "$id" | cut -c 3-).debug
	objcopy --only-keep-debug $module "$file"
	cp $module $module.whole
	strip $module
	eval "debug_${module%.so}=\$file"
done
record --debug-dir nowhere --debug-dir debug
# shellcheck disable=SC2154 # set by eval
agree "separate debug file" 7 "app=$debug_app" "libstep.so=$debug_libstep"
cut -d, -f1,2,7-11 app.csv | sort | diff named - || fail "other names than before stripping"

# Stripped and without debug files: places instead of names, and what to do about it.
record
says "'.*/app': no debug information: no source lines; compile with -g" app.err
cut -d, -f1,8- app.csv >places
for place in $(sed -n 's/.*,app,.*,\(0x[0-9a-f]*\)$/\1/p' app.csv); do
	says "^app\+$place,,0,,$place\$" places
done
[ "$(grep -c '^app+0x' places)" = 5 ] || fail "five functions of app have no name"
# Exported ones are in the dynamic symbol table, which strip leaves.
says '^shared_step,,0,shared_step,' places

# Another file in the place of the recorded one: no names rather than wrong ones.
cp app.whole app
cp libstep.so.whole libstep.so
record
agree "with symbols again" 7
sed 's/walk/other/' main.c >other.c
expect 0 "$TEEPERF" cc -g -O0 other.c -L. -lstep -Wl,-rpath,. -Wl,--build-id -o app
expect 0 "$TEEPERF" analyze --format csv run.trace
says "'.*/app': the file is not the recorded one \(its build ID differs\)" err
[ "$(grep -c '^app+0x[0-9a-f]*,' out)" = 5 ] || fail "a replaced file gives names"
! grep -E '^(main|walk|other|parse),' out || fail "a replaced file gives names"
[ "$(grep -c ',libstep.so,.*lib.c,' out)" = 2 ] || fail "the other module's names are still right"
expect 0 "$TEEPERF" analyze --format csv --debug-dir debug run.trace
cp out app.csv
cp err app.err
agree "replaced, with its debug file" 7 "app=$debug_app"
# Nothing in its place: another file beside the trace will do if it has the build ID.
rm app
expect 0 "$TEEPERF" analyze --format csv run.trace
cp out app.csv
cp err app.err
agree "moved away" 7 "app=app.whole"
rm app.whole
expect 0 "$TEEPERF" analyze --format csv run.trace
says "'.*/app': cannot open .*No such file or directory; its functions have no names" err
