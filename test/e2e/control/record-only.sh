#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --only narrows a selection without compiling anew: by names, by globs and demangled names,
# by exclusion, in the program and in a library that is loaded later, and for programs without an
# inventory.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >app.cpp <<'EOS'
#include <dlfcn.h>
namespace geo {
struct Point {
	__attribute__((noinline)) int norm(int x) { __asm__ volatile(""); return x * x; }
	__attribute__((noinline)) int shift(int x) { __asm__ volatile(""); return x + 1; }
};
}
extern "C" __attribute__((noinline)) int helper(int x) { __asm__ volatile(""); return x; }
extern "C" __attribute__((noinline)) int counted(int x) { __asm__ volatile(""); return x; }
int main(int argc, char **)
{
	geo::Point p;
	int s = 0;
	for (int i = 0; i < 100; i++)
		s += p.norm(i) + p.shift(i) + helper(i) + counted(i);
	if (argc > 1) {
		void *library = dlopen("./library.so", RTLD_NOW);
		if (!library)
			return 2;
		int (*other)(int) = (int (*)(int))dlsym(library, "other");
		for (int i = 0; i < 10; i++)
			s += other(i);
	}
	return s == 12345;
}
EOS
cat >library.c <<'EOS'
__attribute__((noinline)) int inner(int x) { __asm__ volatile(""); return x; }
int other(int x) { return inner(x) + 1; }
EOS
printf 'fun:*\nfun:counted=count\n' >build.allow
expect 0 "$TEEPERF" c++ --allowlist=build.allow -O2 -g -o app app.cpp -ldl
expect 0 "$TEEPERF" cc -O2 -g -fPIC -shared -o library.so library.c
norm=_ZN3geo5Point4normEi

# only LIST WANTED [ARGUMENT...]: compares the recorded calls with WANTED.
only() {
	list=$1
	desired=$2
	shift 2
	printf "$list" >only.allow
	expect 0 "$TEEPERF" record -q --only only.allow -o run.trace "$@"
	"$TEEPERF" analyze run.trace --view top --format csv >top.csv 2>notes
	# Without what link-time optimisation has put behind names.
	got=$(awk -F, 'NR > 1 && $2 > 0 {
			sub(/\.(llvm\.)?[0-9]+$/, "", $1)
			calls[$1] += $2
		}
		END { for (name in calls) print name "=" calls[name] }' top.csv | sort |
		tr '\n' ' ')
	[ "$got" = "$desired" ] || {
		cat err notes >&2
		fail "'$list' gives '$got', not '$desired'"
	}
}

only "fun:helper\n" 'helper=100 ' -- ./app
only "fun:$norm\nfun:main\n" 'geo::Point::norm(int)=100 main=1 ' -- ./app
only 'name:geo::Point::*\n' 'geo::Point::norm(int)=100 geo::Point::shift(int)=100 ' -- ./app
only 'src:*app.cpp\nname:geo::*=skip\nfun:counted=count\n' 'counted=100 helper=100 main=1 ' -- ./app
says 'left out +2 of 5 instrumented functions' notes
# A list that leaves out.
only "default:allow\nfun:helper=skip\nfun:main=forbid\n" \
	'counted=100 geo::Point::norm(int)=100 geo::Point::shift(int)=100 ' -- ./app
# A library that comes later: named outright, or by its inventory.
only 'fun:inner\n' 'inner=10 ' -- ./app library
only 'src:*library.c\n' 'inner=10 other=10 ' --inventory library.so -- ./app library
only 'default:allow\nsrc:*app.cpp=skip\n' 'inner=10 other=10 ' -- ./app library
# A list that wants less than was compiled.
only 'fun:helper=count\nfun:main\n' 'main=1 ' -- ./app
says '1 function of the list is to be counted or sampled, but compiled with events' err
# It stays narrowed when recording is switched.
printf 'fun:helper\n' >only.allow
expect 0 "$TEEPERF" record -q --on-start off --only only.allow -o run.trace -- ./app
says 'never switched on' err

# Link-time optimisation renames static functions; lists name them as the source does.
printf 'static __attribute__((noinline)) int work(int x) { __asm__ volatile(""); return x; }\nint one(int x) { return work(x); }\n' >one.c
printf 'static __attribute__((noinline)) int work(int x) { __asm__ volatile(""); return -x; }\nint one(int x);\nint main(void) { return one(1) + work(1); }\n' >two.c
for lto in full thin; do
	if lto "$TEEPERF" cc -flto=$lto -O2 one.c two.c -o joined; then
		expect 0 "$TEEPERF" cc -flto=$lto -O2 one.c two.c -o joined
		only 'fun:work\n' 'work=2 ' -- ./joined
		only 'fun:wor*\n' 'work=2 ' -- ./joined
	fi
done

# Without an inventory.
objcopy --remove-section=.teeperf.inventory app stripped
only "fun:$norm\n" 'geo::Point::norm(int)=100 ' -- ./stripped
printf "fun:$norm\nname:geo::*\n" >only.allow
expect 0 "$TEEPERF" record -q --only only.allow -o run.trace -- ./stripped
says "'./stripped' has no inventory, so only lines" err

# Lists that leave nothing.
printf 'fun:nothing_like_it*\n' >only.allow
expect 1 "$TEEPERF" record -q --only only.allow -o run.trace -- ./app
says 'only.allow.: the list selects none of the 5 known instrumented functions' err
printf 'fun:nothing_like_it\n' >only.allow
expect 0 "$TEEPERF" record -q --only only.allow -o run.trace -- ./app
says "left out all of the 5 instrumented functions" err
printf 'func:main\n' >only.allow
expect 1 "$TEEPERF" record -q --only only.allow -o run.trace -- ./app
says "only.allow:1:1: .*did you mean 'fun:'" err
expect 1 "$TEEPERF" record -q --only missing.allow -o run.trace -- ./app
says 'missing.allow' err
