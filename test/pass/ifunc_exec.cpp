// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an ifunc's resolver calls, by whatever name, runs before thread-local storage is there: in a
// static program a record would be the end of it. What the resolver chooses is instrumented.
// REQUIRES: x86_64
// RUN: %clangxx -O0 -static -fpass-plugin=%plugin %s %runtime -o %t.0 && %t.0
// RUN: %clangxx -O2 -static -fpass-plugin=%plugin %s %runtime -o %t.2 && %t.2
// RUN: llvm-objdump -d --no-show-raw-insn --disassemble-symbols=chosen %t.2 | FileCheck %s
// CHECK-COUNT-2: rdtsc
#define KEEP extern "C" __attribute__((noinline, used))

KEEP int deep()
{
	asm volatile("");
	return 1;
}
KEEP int named()
{
	asm volatile("");
	return deep();
}
extern "C" int alias() __attribute__((alias("named")));
struct guard {
	int *count;
	__attribute__((noinline)) ~guard()
	{
		asm volatile("");
		++*count;
	}
};
KEEP int chosen(int x)
{
	asm volatile("");
	return x + 1;
}
// Its call of alias() is an invoke, for the guard's sake.
extern "C" int (*resolve())(int)
{
	int count = 0;
	{
		guard g{&count};
		count += alias();
	}
	return count == 2 ? chosen : nullptr;
}
extern "C" int pick(int x) __attribute__((ifunc("resolve")));

int main()
{
	return pick(41) != 42;
}
