#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that autotune builds, runs, chooses, builds with its list and leaves the program so, with
# nothing beside it; that it notices builds that were left over, programs that do something else
# when they are instrumented, and programs that it cannot run; and that level off is the compiler
# alone.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v make >/dev/null || skip "make is not there"

mkdir app tmp
TMPDIR=$PWD/tmp
export TMPDIR
cat >app/work.c <<'EOS'
__attribute__((noinline)) unsigned tiny(unsigned x) { return x * 2654435761u; }
__attribute__((noinline)) unsigned large(unsigned x)
{
	for (int i = 0; i < 50000; i++)
		x = x * 1664525 + 1013904223;
	return x;
}
EOS
cat >app/main.c <<'EOS'
#include <stdio.h>
unsigned tiny(unsigned x);
unsigned large(unsigned x);
int main(int argc, char **argv)
{
	unsigned x = (unsigned)getchar();
	for (int i = 0; i < 200000; i++)
		x = tiny(x);
	for (int i = 0; i < 300; i++)
		x = large(x);
	printf("%u %d %s\n", x, argc, argv[1]);
	return 3;
}
EOS
cat >app/Makefile <<'EOS'
CFLAGS = -O2
app: main.o work.o
	$(CC) main.o work.o -o app
EOS
printf 'A' >input
# What one run costs is not asked here: a budget that noise does not exceed, of the processor's
# time, as the wall's is that of all who are busy; and builds that do not wait for these.
tune() {
	"$TEEPERF" autotune --no-idle --budget 1000% --time cpu --runs 1 --rounds 1 \
		--input input "$@"
}

# The makefile says nothing of teeperf: CC comes from the environment.
expect 0 tune -o list.allow --work work -- make -B -C app -- ./app/app word
says '^not instrumented +[0-9.]+ [mu]?s$' out
says '^calls counted .* 200301 calls$' out
says '^events for all ' out
says '^list 1 \(kept\) ' out
says '^Budget 1000 %: measured [-+][0-9.]+ %' out
says "ended with exit status 3 when it is not instrumented" err
# The list is one that the pass takes, and the program is left built with it.
says '^fun:large$' list.allow
expect 3 ./app/app word
[ -z "$(ls tmp)" ] || fail "a folder was left over: $(ls tmp/*)"
cmp -s list.allow work/list.allow ||
	fail "the list that was built with is not the one that was written"
ls app >files
[ "$(cat files)" = "$(printf 'Makefile\napp\nmain.c\nmain.o\nwork.c\nwork.o')" ] ||
	fail "something was left over: $(cat files)"
expect 3 "$TEEPERF" record -q -o run.trace -- ./app/app word
expect 0 "$TEEPERF" analyze --format csv run.trace
says '^large,300,' out
# Exact counts reach the profile.
says '^large,300,[0-9]+,[0-9]+,[0-9]+,1,' work/profile.csv
says '^tiny,200000,' work/profile.csv

# Make splits CC as a shell does: a folder with spaces is no word of it.
mkdir 'my tools' 'my tools/bin'
cp "$TEEPERF" 'my tools/bin/teeperf'
ln -s "$(cd "$(dirname "$TEEPERF")/../lib" && pwd)" 'my tools/lib'
(
	TEEPERF="$PWD/my tools/bin/teeperf"
	expect 0 tune --no-sample -o own.allow -- make -B -C app -- ./app/app word
	says '^fun:large$' own.allow
)
rm -r 'my tools'

expect 0 tune --format json --no-sample --never 'fun:large' -- make -B -C app -- ./app/app word
python3 - <<'EOS' || fail "$(cat out)"
import json
found = json.load(open("out"))
assert found["calls"] == 200301 and found["within_budget"] is True, found
assert found["best"] == 0 and len(found["rounds"]) == 1, found
assert found["rounds"][0]["samples"] == 0, found
EOS
! grep -q '^fun:large$' teeperf.allow || fail "--never was not heard"

# Samples instead of a trace: the names come from the native program, the calls from the one that
# counts.
if command -v perf >/dev/null && perf record -q -o perf.data true 2>/dev/null; then
	expect 0 tune --samples perf --work perf -- make -B -C app -- ./app/app word
	says 'self times of functions are from samples by perf' out
	says '^large[[:space:]][0-9]+$' perf/samples
	says '^large,300,[1-9]' perf/profile.csv
else
	echo "perf does not work here: samples were not tried" >&2
fi

# Level off: the compiler alone, also where objects are instrumented.
expect 0 "$TEEPERF" cc --level off -O2 app/main.c app/work.c -o plain
! nm plain | grep -q teeperf || fail "a program at level off has something of ours"
expect 0 "$TEEPERF" cc -O2 -c app/work.c -o work.o
expect 0 "$TEEPERF" cc --level=off -O2 app/main.c work.o -o mixed
expect 3 ./mixed word
expect 0 "$TEEPERF" cc --level off -O2 -shared -fPIC app/work.c -o libwork.so
! readelf -d libwork.so | grep -q libteeperf || fail "a library at level off needs ours"
expect 129 "$TEEPERF" cc --level of app/main.c
says "takes event, count, off" err

# Builds that do not build everything.
expect 1 tune -- make -C app -- ./app/app word
says "was not rebuilt by the build command.*make -B" err
touch app/main.c
cp app/work.o old.o
expect 1 tune --build 'touch app/main.c && cp old.o app/work.o && make -C app' -- ./app/app word
says "is still instrumented after a build without instrumentation.*work.c.*make -B" err
expect 1 tune --build 'make -B -C app CC="teeperf cc --level=count"' -- ./app/app word
says "is still instrumented|compiled for level" err
expect 1 tune --build 'make -B -C app CC="clang-19 -w" || make -B -C app CC="gcc -w"' -- \
	./app/app word
says "has no inventory.*CC='teeperf cc'" err
ls app | grep -q teeperf- && fail "copies were left over: $(ls app)"

# A list that cannot be written is refused before anything is built.
expect 1 tune -o missing/list.allow -- touch built -- ./app/app word
says "'missing/list.allow': cannot write the list: No such file or directory" err
[ ! -e built ] || fail "it was built for a list that cannot be written"

# Programs that are no product, builds that fail, programs that change.
printf '#!/bin/sh\nexec ./app/app word\n' >script
chmod +x script
expect 1 tune --build 'touch script; make -B -C app' -- ./script
says "is not an ELF file.*--product" err
expect 0 tune --product app/app --build 'make -B -C app' -- ./script
expect 1 tune -- sh -c 'echo broken by the test; exit 9' -- ./app/app word
says "'sh' failed with exit status 9" err
log=$(sed -n "s/.*'\(.*build.log\)'.*/\1/p" err)
says 'broken by the test' "$log"
expect 1 tune -- no-such-command -- ./app/app word
says "'no-such-command' was not found" err
sed 's/"%u %d %s\\n", x/"%u %d %s\\n", x + INSTRUMENTED/' app/main.c >changed.c
expect 1 tune --build '
	flag=1
	[ "$TEEPERF_LEVEL" != off ] || flag=0
	$CC -DINSTRUMENTED=$flag -O2 changed.c app/work.c -o changed' -- ./changed word
says "prints something else when built to count calls" err
sed 's/return 3/return INSTRUMENTED/' app/main.c >changed.c
expect 1 tune --build '
	flag=1
	[ "$TEEPERF_LEVEL" != off ] || flag=0
	$CC -DINSTRUMENTED=$flag -O2 changed.c app/work.c -o changed' -- ./changed word
says "ended with exit status 1 when built to count calls, but not otherwise" err

# A signal ends what runs, and leaves nothing.
rm -rf tmp/*
begin tune "$TEEPERF" autotune \
	--build "make -B -C app && sleep 1000 & echo \$! >sleeping; wait" -- ./app/app
await_true '[ -s sleeping ] && [ -e app/app ]' 'a build'
kill -TERM "$begun"
ended 143 tune
gone "$(cat sleeping)"
ls app | grep -q teeperf- && fail "copies were left over: $(ls app)"
[ -z "$(ls tmp)" ] || fail "a folder was left over: $(ls tmp/*)"

expect 129 tune
says "no build command" err
expect 129 tune -- make
says "no program to run" err
expect 129 tune --budget none -- make -- ./app/app
says "option '--budget'" err
expect 129 tune --runs 0 -- make -- ./app/app
