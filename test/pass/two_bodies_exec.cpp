// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With TEEPERF_SHAPE=dual programs compute the same in both bodies, on every processor: exceptions
// through them, inline functions of two files of which one is discarded, arguments on the stack,
// results in memory, recursion. Without a recorder the constructors run the second bodies (a gate
// is open until the runtime has looked for a log), and main the first.
// RUN: env TEEPERF_SHAPE=dual %clangxx -DOTHER -O0 -g -ffunction-sections -fpass-plugin=%plugin -c %s -o %t.other.o
// RUN: for o in 0 1 2 s; do env TEEPERF_SHAPE=dual %clangxx -O$o -g -ffunction-sections -fpass-plugin=%plugin %s %t.other.o %runtime -Wl,--gc-sections -o %t.$o && %t.$o || exit 1; done
// RUN: env TEEPERF_SHAPE=dual %clangxx -O2 -fno-omit-frame-pointer -fstack-protector-all -static -fpass-plugin=%plugin %s %t.other.o %runtime -o %t.static && %t.static
// RUN: llvm-nm %t.0 | FileCheck %s
// CHECK-DAG: {{ t .*kept.*[.]recorded}}
// CHECK-NOT: unused{{.*}}recorded
// RUN: for t in aarch64 riscv64; do for o in "-O0" "-O2 -DOTHER"; do env TEEPERF_SHAPE=dual %clangxx --target=$t-linux-gnu $o -fPIC -fno-optimize-sibling-calls -fpass-plugin=%plugin -c %s -o %t.$t.o || exit 1; llvm-nm %t.$t.o | grep '[.]recorded' >/dev/null || exit 1; done; done
struct Large {
	long words[5];
};

struct Guard {
	int *count;
	~Guard()
	{
		++*count;
	}
};

// In both files: one of them is discarded with its second body.
__attribute__((noinline)) inline int both_files(int x)
{
	static int calls;
	if (x < 0)
		throw x;
	return x ? both_files(x - 1) + 1 : ++calls;
}

#ifdef OTHER
int other_file(int x)
{
	Guard guard = {&x};
	return both_files(x);
}
__attribute__((noinline)) int unused(int x)
{
	return both_files(x) + 1;
}
#else
int other_file(int x);

__attribute__((noinline)) long kept(
    int a, long b, int c, double d, int e, int f, int g, char h, float i, long j)
{
	char room[64];
	__builtin_memset(room, a, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	return a + b + c + (long)d + e + f + g + h + (long)i + j + room[3];
}

__attribute__((noinline)) Large in_memory(long x, Large y)
{
	y.words[0] += x;
	return y;
}

__attribute__((noinline)) int catches(int x, int *cleaned)
{
	try {
		Guard guard = {cleaned};
		return other_file(x);
	} catch (int y) {
		return y * 10;
	}
}

__attribute__((noinline)) static int wrong(void)
{
	static int calls;
	int cleaned = 0;
	calls++;
	int count = kept(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) != 56;
	Large large = {{1, 2, 3, 4, 5}};
	large = in_memory(41, large);
	count += large.words[0] != 42 || large.words[4] != 5;
	count += catches(-3, &cleaned) != -30;
	count += catches(2, &cleaned) != calls + 2;
	return count + (cleaned != 2);
}

__attribute__((constructor(0))) static void early(void)
{
	if (wrong())
		__builtin_trap();
}

int main()
{
	return wrong();
}
#endif
