// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions whose names are hard: templates, operators, constructors, lambdas, internal ones. They
// are put into a source file, which has KEEP for "not inlined", STEP for a function of an int, and
// shared_step somewhere: addr2line of Debian 12 confuses the files of DWARF 5 if there is more than
// one. Each brace stands in the line of its function, so that "declared" and "begins" are the same
// line.
// clang-format off
extern "C" int shared_step(int x);
namespace outer {
namespace {
KEEP int hidden(int x) {
	asm volatile("");
	return x + STEP(x);
}
} // namespace
template <typename T, int N> struct Box {
	T value;
	KEEP Box(T v) : value(v) {
		asm volatile("");
	}
	KEEP ~Box() {
		asm volatile("");
	}
	KEEP T operator()(const T &x) const {
		asm volatile("");
		return value + x + N;
	}
	static T make(T x);
};
template <typename T, int N> KEEP T Box<T, N>::make(T x) {
	Box<T, N> box(x);
	return box(hidden(x));
}
struct Base {
	virtual int run(int x) = 0;
	virtual ~Base() {
	}
};
struct Derived final : Base {
	KEEP int run(int x) override;
};
int Derived::run(int x) {
	auto add = [x](int y) __attribute__((noinline)) {
		asm volatile("");
		return x + y;
	};
	return add(1) + Box<long, -3>::make(x) + Box<int, 4>::make(x) + shared_step(x);
}
KEEP bool operator<(const Base &, int x) {
	asm volatile("");
	return x < 0;
}
} // namespace outer
