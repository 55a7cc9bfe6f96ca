#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A library that is compiled for another clock than the log's, loaded by a program that records
# already: the program runs on unharmed, and what it recorded before is in the trace.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >late.c <<'EOF'
__attribute__((noinline)) static int inner(int x)
{
	return x + 1;
}
int answer(int x)
{
	return inner(x) * 2;
}
EOF
cat >main.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline)) int work(int x)
{
	__asm__ volatile("");
	return x;
}
int main(int argc, char **argv)
{
	(void)argc;
	int sum = work(0);
	void *library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		puts(dlerror());
		return 1;
	}
	int (*answer)(int) = (int (*)(int))dlsym(library, "answer");
	for (int i = 0; i < 100; i++)
		sum += answer(work(i));
	return sum != 100 * 101;
}
EOF
"$TEEPERF" cc -O1 main.c -o main -ldl
for pair in tsc,soft soft,tsc; do
	log=${pair%,*}
	library=${pair#*,}
	"$TEEPERF" cc --clock "$library" -O1 -shared -fPIC late.c -o late.so
	expect 0 "$TEEPERF" record --clock "$log" -q -o late.trace -- ./main ./late.so
	says "recorded only until an incompatible library .*compiled for another clock" err
	"$TEEPERF" analyze late.trace --format csv >top.csv 2>/dev/null
	says '^work,' top.csv
done
