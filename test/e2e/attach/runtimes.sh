#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Several runtimes in one process. Of libraries that use the executable's all is recorded, though
# libteeperf.so is there, too, to which nothing comes. What has a runtime of its own is not
# recorded, and that is said: with --pid, and where 'record' starts the program.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

cat >library.c <<'EOC'
__attribute__((noinline)) int library_work(int n)
{
	__asm__ volatile("");
	return n + 1;
}
EOC
cat >loads.c <<'EOC'
#include <dlfcn.h>
#include <stdio.h>
__attribute__((noinline)) int own_work(int n)
{
	__asm__ volatile("");
	return n + 1;
}
int main(int count, char **arguments)
{
	int sum = 0;
	void *library = dlopen(arguments[count - 1], RTLD_NOW);
	int (*const work)(int) = library ? (int (*)(int))dlsym(library, "library_work") : NULL;
	if (!work)
		return 1;
	puts("ready");
	fflush(stdout);
	while (getchar() == 'w') {
		sum += work(own_work(sum));
		puts("worked");
		fflush(stdout);
	}
	return 7;
}
EOC
"$TEEPERF" cc -O1 -shared -fPIC -o shares.so library.c
"$TEEPERF" cc -O1 -fPIC -c library.c
${CC:-cc} -shared -o apart.so library.o -Wl,-Bsymbolic,--exclude-libs,ALL \
	"$TEEPERF_BUILD/lib/libteeperf.a" -lpthread
"$TEEPERF" cc -O1 -o loads loads.c -ldl
cp loads.c plain.c
${CC:-cc} -O1 -o plain plain.c -ldl

# record PROGRAM LIBRARY: three turns, while it is recorded.
record_turns() {
	begin loads sh -c 'exec "$@" <commands' sh "$@"
	exec 3>commands
	await loads.out ready
	program=$begun
	attach turns
	printf www >&3
	await_true '[ "$(grep -c worked loads.out)" = 3 ]' 'three turns'
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 record
	exec 3>&-
	ended 7 loads
	facts turns.trace lost=0 end_sections=1
	expect 0 "$TEEPERF" analyze --format csv turns.trace
}

# The executable's, for both. libteeperf.so is loaded as well.
record_turns ./loads ./shares.so
says '^own_work,3,' out
says '^library_work,3,' out
! grep -E 'runtimes of teeperf|not recorded' record.err err ||
	fail 'a runtime to which nothing has come is told of'

# The library's, of a program that has none.
record_turns ./plain ./apart.so
says '^library_work,3,' out
! grep -E 'runtimes of teeperf|not recorded' record.err err || fail 'there is one runtime only'

# Two.
record_turns ./loads ./apart.so
says '^own_work,3,' out
! grep library_work out || fail 'it is recorded, after all'
says "warning: .*2 runtimes.*'apart.so'" record.err
says '1 more instrumented process was not recorded .*its own runtime' err

# The same where the program begins with a recorder.
expect 7 "$TEEPERF" record -q -o turns.trace -- ./loads ./apart.so <<'EOC'
www
EOC
says '1 more .*its own runtime' err
expect 0 "$TEEPERF" analyze --format csv turns.trace
says '^own_work,3,' out
says '1 more instrumented process was not recorded .*its own runtime' err
