// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions, destructors, longjmp and virtual functions, with the same calls wherever it runs.
// Opening braces are on the line of the name, as addr2line tells where the body begins.
// clang-format off
#include <csetjmp>
#include <cstdio>
#include <stdexcept>
#define KEEP __attribute__((noinline, used))
static jmp_buf place;
KEEP double leaf(double x, int n) {
	asm volatile("" : "+m"(x), "+r"(n)); // so that nothing of the next line comes first
	return x * 1.5 + n;
}
struct Guard {
	KEEP ~Guard() {
		asm volatile("");
	}
};
KEEP int throws(int n) {
	Guard guard;
	if (n == 0)
		throw std::runtime_error("deep");
	int r = throws(n - 1);
	asm volatile("" ::: "memory");
	return r + 1;
}
KEEP int catches(int n) {
	try {
		return throws(n);
	} catch (std::exception &) {
		return (int)leaf(n, 1);
	}
}
KEEP int jumps(int n) {
	if (n == 0)
		longjmp(place, 1);
	int r = jumps(n - 1);
	asm volatile("" ::: "memory");
	return r;
}
KEEP int lands(int n) {
	if (setjmp(place))
		return (int)leaf(n, 2);
	return jumps(n);
}
struct Base {
	KEEP virtual double run(double x) {
		return leaf(x, 3);
	}
};
struct Derived : Base {
	KEEP double run(double x) override {
		double more = Base::run(x);
		asm volatile("" ::: "memory");
		return more + 1;
	}
};
int main() {
	Derived derived;
	Base base;
	double sum = 0;
	for (int i = 0; i < 500; i++) {
		sum += catches(3) + lands(2);
		for (Base *object : {(Base *)&derived, &base})
			sum += object->run(i * 0.25);
	}
	// Code of ours between any two instructions leaves the program's own numbers alone.
	return !(std::printf("%.3f\n", sum) > 0);
}
