#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Marks and phases that a library makes are in the trace, however it gets the runtime: from an
# instrumented program that makes none and loads it later, from one that it is linked to, and from a
# program that is not instrumented.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >library.c <<'EOC'
#include <teeperf/teeperf.h>
int answer(int x)
{
	teeperf_phase_begin("phase");
	teeperf_mark("mark");
	teeperf_phase_end("phase");
	return x * 2;
}
EOC
cat >linked.c <<'EOC'
int answer(int x);
int main(void)
{
	return answer(1) != 2;
}
EOC
cat >loads.c <<'EOC'
#include <dlfcn.h>
int main(void)
{
	void *library = dlopen("./libanswer.so", RTLD_NOW);
	int (*answer)(int) = library ? (int (*)(int))dlsym(library, "answer") : 0;
	return !answer || answer(1) != 2;
}
EOC
expect 0 "$TEEPERF" cc -O2 -I "$root/include" -shared -fPIC library.c -o libanswer.so
expect 0 "$TEEPERF" cc -O2 loads.c -o loads -ldl
expect 0 "$TEEPERF" cc -O2 linked.c -o linked ./libanswer.so
expect 0 cc -O2 loads.c -o plain -ldl
for program in loads linked plain; do
	expect 0 "$TEEPERF" record -q -o $program.trace -- ./$program
	"$TEEPERF" query --format csv $program.trace \
		'SELECT kind, name FROM marks ORDER BY kind, name' >got 2>notes ||
		fail "$(cat notes)"
	printf 'kind,name\nmark,mark\nphase,phase\n' | diff - got || fail "$program: its marks"
done
