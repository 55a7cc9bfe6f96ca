// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executables, position-independent or not, static, and shared libraries loaded at run time: all
// run with one runtime, with no recorder about.
// RUN: %clang -O2 -no-pie -fno-pic -fpass-plugin=%plugin %s %runtime -o %t.nopie -ldl && %t.nopie
// RUN: %clang -O2 -static -fpass-plugin=%plugin %s %runtime -o %t.static && %t.static
// RUN: %clang -O2 -static-pie -fPIE -fpass-plugin=%plugin %s %runtime -o %t.staticpie && %t.staticpie
// RUN: %clang -O2 -fPIC -shared -DLIBRARY -fpass-plugin=%plugin %s -o %t.so
// RUN: %clang -O2 -fpass-plugin=%plugin %s %runtime -Wl,--export-dynamic-symbol='__teeperf_*' -o %t.exe -ldl && %t.exe %t.so
// RUN: %clang -O2 -ffunction-sections -Wl,--gc-sections -fpass-plugin=%plugin %s %runtime -o %t.gc -ldl && %t.gc
#ifdef LIBRARY
__attribute__((noinline)) static int inner(int x)
{
	return x + 1;
}
int answer(int x)
{
	return inner(x) * 2;
}
#else
#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline)) int local(int x)
{
	return x * 2;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);
		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		int (*answer)(int) = (int (*)(int))dlsym(library, "answer");
		return answer(20) != 42;
	}
	return local(21) != 42;
}
#endif
