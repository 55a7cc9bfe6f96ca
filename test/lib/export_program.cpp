// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What exports have to get right, in one program: threads, recursion of one and of two functions,
// exceptions, templates and lambdas, functions of one name.
#include <algorithm>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define KEEP __attribute__((noinline))

static volatile unsigned sink;

KEEP static unsigned fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KEEP static bool is_odd(unsigned n);
KEEP static bool is_even(unsigned n)
{
	sink = n;
	return n == 0 || is_odd(n - 1);
}
KEEP static bool is_odd(unsigned n)
{
	sink = n;
	return n != 0 && is_even(n - 1);
}

namespace shapes
{
struct Shape {
	virtual ~Shape() = default;
	virtual unsigned area() const = 0;
};
template <unsigned N> struct Box : Shape {
	KEEP unsigned area() const override
	{
		return sink + N;
	}
};
} // namespace shapes

namespace one
{
KEEP static unsigned twin(unsigned n)
{
	sink = n;
	return sink + 1;
}
} // namespace one
namespace two
{
KEEP static unsigned twin(unsigned n)
{
	sink = n;
	return one::twin(n) + 1;
}
} // namespace two

KEEP static unsigned throws(unsigned n)
{
	if (n == 0)
		throw std::runtime_error("bottom");
	const unsigned r = throws(n - 1);
	sink = r;
	return r + 1;
}
KEEP static unsigned catches(unsigned n)
{
	try {
		return throws(n % 7);
	} catch (const std::exception &e) {
		return static_cast<unsigned>(std::string(e.what()).size());
	}
}

KEEP static bool operator<(const std::vector<unsigned> &a, unsigned b)
{
	sink = b;
	return a.size() < b;
}

KEEP static void work(unsigned rounds)
{
	shapes::Box<1> small;
	shapes::Box<70000> large;
	const shapes::Shape *all[] = {&small, &large};
	std::vector<unsigned> numbers;
	for (unsigned i = 0; i < rounds; i++) {
		sink = all[i % 2]->area() + catches(i) + two::twin(i);
		numbers.push_back(rounds - i);
	}
	sink = fibonacci(12) + is_even(rounds) + (numbers < rounds);
	std::sort(numbers.begin(), numbers.end(), [](unsigned a, unsigned b) KEEP {
		sink = a;
		return a < b;
	});
}

int main()
{
	std::vector<std::thread> threads;
	for (unsigned i = 1; i <= 3; i++)
		threads.emplace_back([i] {
			pthread_setname_np(pthread_self(), ("worker;" + std::to_string(i)).c_str());
			work(100 * i);
		});
	work(50);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}
