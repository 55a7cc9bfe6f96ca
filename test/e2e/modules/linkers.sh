#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Whatever the linker, a program and a library that it loads share one runtime, and one log.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >library.c <<'EOF'
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

int main(int argc, char **argv)
{
	(void)argc;
	void *library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		puts(dlerror());
		return 1;
	}
	int (*answer)(int) = (int (*)(int))dlsym(library, "answer");
	int sum = 0;
	for (int i = 0; i < 100; i++)
		sum += answer(i);
	return sum != 100 * 101;
}
EOF
"$TEEPERF" cc -O1 -shared -fPIC library.c -o library.so
for linker in bfd gold lld; do
	"$TEEPERF" cc -O1 "-fuse-ld=$linker" main.c -o main -ldl 2>linker.err || {
		grep -q 'invalid linker name' linker.err && continue
		fail "$linker: $(cat linker.err)"
	}
	expect 0 "$TEEPERF" record -q -o linkers.trace -- ./main ./library.so
	"$TEEPERF" analyze linkers.trace --format csv >top.csv 2>/dev/null
	says '^main,1,' top.csv
	says '^answer,100,' top.csv
	says '^inner,100,' top.csv
done
