// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++20 coroutines: a generator, a recursion of tasks, exceptions through co_await, and symmetric
// transfer. A coroutine appears as itself where it is made, and as its clones .resume and .destroy
// where it goes on and ends, below whoever resumes it.
#include <coroutine>
#include <exception>
#include <stdexcept>
#include <utility>

#include "flow.h"

KEEP void work(void)
{
	DONE;
}
// Volatile: or the optimiser knows which coroutine it is, and has it all in one function.
KEEP void go(void *frame)
{
	void *volatile place = frame;
	std::coroutine_handle<>::from_address(place).resume();
	DONE;
}
KEEP void drop(void *frame)
{
	void *volatile place = frame;
	std::coroutine_handle<>::from_address(place).destroy();
	DONE;
}

struct Task {
	struct promise_type {
		int value = 0;
		std::exception_ptr error;
		Task get_return_object()
		{
			return Task{std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_value(int v)
		{
			value = v;
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
	};
	std::coroutine_handle<promise_type> handle;
	explicit Task(std::coroutine_handle<promise_type> made) : handle(made)
	{
	}
	Task(Task &&other) : handle(std::exchange(other.handle, nullptr))
	{
	}
	~Task()
	{
		if (handle)
			drop(handle.address());
	}
	bool next()
	{
		go(handle.address());
		return !handle.done();
	}
	// Awaited, it runs to its end below the one that awaits it.
	bool await_ready()
	{
		go(handle.address());
		return true;
	}
	void await_suspend(std::coroutine_handle<>)
	{
	}
	int await_resume()
	{
		if (handle.promise().error)
			std::rethrow_exception(handle.promise().error);
		return handle.promise().value;
	}
};

__attribute__((noinline)) Task numbers(int n)
{
	for (int i = 0; i < n; i++) {
		work();
		co_yield i;
	}
	co_return 0;
}
__attribute__((noinline)) Task fact(int n)
{
	if (n == 0) {
		work();
		co_return 1;
	}
	co_return n *co_await fact(n - 1);
}
__attribute__((noinline)) Task bad(int n)
{
	if (n == 0)
		throw std::runtime_error("bad");
	co_return co_await bad(n - 1);
}
__attribute__((noinline)) Task tries(int n)
{
	try {
		co_await bad(n);
	} catch (std::exception &) {
		work();
	}
	work();
	co_return 1;
}
// Symmetric transfer: one leaves as the other goes on, and neither is the other's caller.
struct Transfer {
	void *volatile *to;
	bool await_ready() noexcept
	{
		return false;
	}
	std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept
	{
		return std::coroutine_handle<>::from_address(*to);
	}
	void await_resume() noexcept
	{
	}
};
static void *volatile sides[2];
__attribute__((noinline)) Task side(int me)
{
	for (int i = 0; i < 100; i++) {
		work();
		co_await Transfer{&sides[1 - me]};
	}
	co_return 1;
}
KEEP int transfers(void)
{
	Task left = side(0);
	Task right = side(1);
	sides[0] = left.handle.address();
	sides[1] = right.handle.address();
	left.next();
	return left.handle.promise().value;
}
KEEP int all(int n)
{
	Task task = numbers(n);
	int sum = 0;
	while (task.next())
		sum += task.handle.promise().value;
	return sum;
}
// Abandoned at its second number.
KEEP int some(void)
{
	Task task = numbers(5);
	task.next();
	task.next();
	return task.handle.promise().value;
}
KEEP int factorial(int n)
{
	Task task = fact(n);
	task.next();
	return task.handle.promise().value;
}
KEEP int tried(void)
{
	Task task = tries(1);
	task.next();
	return task.handle.promise().value;
}

int main()
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += all(5) + some() + factorial(3) + tried() + transfers();
	return sum != 10 * (10 + 1 + 6 + 1 + 1);
}

// flags: -std=c++20
// allow: fun:_Z*numbersi*
// allow: fun:_Z*facti*
// allow: fun:_Z*badi*
// allow: fun:_Z*triesi*
// allow: fun:_Z*sidei*
// allow: fun:*await_suspend*=skip
// want: main 1
// want: main;all 10
// want: main;all;drop 10
// want: main;all;drop;numbers.destroy 10
// want: main;all;go 60
// want: main;all;go;numbers.resume 60
// want: main;all;go;numbers.resume;work 50
// want: main;all;numbers 10
// want: main;factorial 10
// want: main;factorial;drop 10
// want: main;factorial;drop;fact.destroy 10
// want: main;factorial;fact 10
// want: main;factorial;go 10
// want: main;factorial;go;fact.resume 10
// want: main;factorial;go;fact.resume;drop 10
// want: main;factorial;go;fact.resume;drop;fact.destroy 10
// want: main;factorial;go;fact.resume;fact 10
// want: main;factorial;go;fact.resume;go 10
// want: main;factorial;go;fact.resume;go;fact.resume 10
// want: main;factorial;go;fact.resume;go;fact.resume;drop 10
// want: main;factorial;go;fact.resume;go;fact.resume;drop;fact.destroy 10
// want: main;factorial;go;fact.resume;go;fact.resume;fact 10
// want: main;factorial;go;fact.resume;go;fact.resume;go 10
// want: main;factorial;go;fact.resume;go;fact.resume;go;fact.resume 10
// want: main;factorial;go;fact.resume;go;fact.resume;go;fact.resume;drop 10
// want: main;factorial;go;fact.resume;go;fact.resume;go;fact.resume;drop;fact.destroy 10
// want: main;factorial;go;fact.resume;go;fact.resume;go;fact.resume;fact 10
// want: main;factorial;go;fact.resume;go;fact.resume;go;fact.resume;go 10
// want: main;factorial;go;fact.resume;go;fact.resume;go;fact.resume;go;fact.resume 10
// want: main;factorial;go;fact.resume;go;fact.resume;go;fact.resume;go;fact.resume;work 10
// want: main;some 10
// want: main;some;drop 10
// want: main;some;drop;numbers.destroy 10
// want: main;some;go 20
// want: main;some;go;numbers.resume 20
// want: main;some;go;numbers.resume;work 20
// want: main;some;numbers 10
// want: main;transfers 10
// want: main;transfers;drop 20
// want: main;transfers;drop;side.destroy 20
// want: main;transfers;go 10
// want: main;transfers;go;side.resume 2010
// want: main;transfers;go;side.resume;work 2000
// want: main;transfers;side 20
// want: main;tried 10
// want: main;tried;drop 10
// want: main;tried;drop;tries.destroy 10
// want: main;tried;go 10
// want: main;tried;go;tries.resume 10
// want: main;tried;go;tries.resume;bad 10
// want: main;tried;go;tries.resume;drop 10
// want: main;tried;go;tries.resume;drop;bad.destroy 10
// want: main;tried;go;tries.resume;go 10
// want: main;tried;go;tries.resume;go;bad.resume 10
// want: main;tried;go;tries.resume;go;bad.resume;bad 10
// want: main;tried;go;tries.resume;go;bad.resume;drop 10
// want: main;tried;go;tries.resume;go;bad.resume;drop;bad.destroy 10
// want: main;tried;go;tries.resume;go;bad.resume;go 10
// want: main;tried;go;tries.resume;go;bad.resume;go;bad.resume 10
// want: main;tried;go;tries.resume;work 20
// want: main;tried;tries 10
