#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that fibers of Boost.Fiber, which its work-stealing scheduler takes from thread to thread
# in the middle of nested calls and of try blocks, have exact counts of calls in each path, once
# '--switches' names what of the library switches.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >fibers.cpp <<'EOS'
#include <atomic>
#include <boost/fiber/all.hpp>
#include <mutex>
#include <stdexcept>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define KEEP __attribute__((noinline))
enum { FIBERS = 60, STEPS = 10, THREADS = 4 };
static std::atomic<bool> moved;
static std::atomic<int> yields;
static std::atomic<int> serving;
static int alive = FIBERS;
static boost::fibers::mutex lock;
static boost::fibers::condition_variable_any changed;

extern "C" {
KEEP void leaf(int n)
{
	for (volatile int i = 0; i < n + 20; i++)
		;
}
// The first ones come back when one has gone on in another thread.
KEEP void pause_here()
{
	const long thread = syscall(SYS_gettid);
	do {
		boost::this_fiber::yield();
		if (syscall(SYS_gettid) != thread)
			moved = true;
		// Only a thread without any ready fiber takes one from another: where each has some, they would yield for ever.
	} while (!moved && ++yields < 1000000);
}
KEEP void inner(int n)
{
	leaf(n);
	pause_here();
	leaf(n);
}
KEEP void thrower(int n)
{
	pause_here();
	if (n % 2)
		throw std::runtime_error("odd");
	leaf(n);
}
KEEP void outer(int n)
{
	try {
		inner(n);
		thrower(n);
	} catch (const std::runtime_error &) {
		pause_here();
		leaf(n);
	}
}
KEEP void task(int n)
{
	for (int i = 0; i < STEPS; i++)
		outer(n + i);
}
}

static void serve(bool first)
{
	boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(THREADS);
	// The others may begin late: all fibers could be over by then.
	for (serving++; first && serving < THREADS;)
		std::this_thread::yield();
	for (int i = 0; first && i < FIBERS; i++)
		boost::fibers::fiber([i] {
			task(i);
			std::unique_lock<boost::fibers::mutex> held(lock);
			if (!--alive)
				changed.notify_all();
		}).detach();
	std::unique_lock<boost::fibers::mutex> held(lock);
	changed.wait(held, [] { return !alive; });
}

int main()
{
	std::vector<std::thread> others;
	for (int i = 1; i < THREADS; i++)
		others.emplace_back([] { serve(false); });
	serve(true);
	for (auto &other : others)
		other.join();
	return 7;
}
EOS

# What of the library the program calls that may switch.
switches=
for name in context5yieldEv context7suspendEv \
	context7suspendERSt11unique_lockINS0_6detail13spinlock_ttasEE \
	context9terminateEv fiber6start_Ev mutex4lockEv mutex6unlockEv; do
	case $name in
	context*) name=_ZN5boost6fibers7$name ;;
	*) name=_ZN5boost6fibers5$name ;;
	esac
	switches=$switches${switches:+,}$name
done
"$TEEPERF" c++ -O2 -g -std=c++17 -pthread --switches="$switches" fibers.cpp -o fibers \
	-lboost_fiber -lboost_context 2>err || {
	! grep -q 'boost/fiber/all.hpp.*not found' err || skip "no Boost.Fiber (libboost-fiber-dev)"
	fail "$(cat err)"
}

cat >wanted <<'EOS'
task 60
task;outer 600
task;outer;inner 600
task;outer;inner;leaf 1200
task;outer;inner;pause_here 600
task;outer;leaf 300
task;outer;pause_here 300
task;outer;thrower 600
task;outer;thrower;leaf 300
task;outer;thrower;pause_here 600
EOS
for mode in stream full; do
	expect 7 "$TEEPERF" record -q --mode $mode -o fibers.trace -- ./fibers
	expect 0 "$TEEPERF" export --format folded --weight calls -o - fibers.trace
	grep -E '(task|outer|inner|thrower|leaf|pause_here)( |;)' out |
		awk '{ count = $NF; sub(/ [0-9]+$/, "")
			match($0, /;(main|task|outer|inner|thrower|leaf|pause_here)(;|$)/)
			n[substr($0, RSTART + 1)] += count }
			END { for (path in n) print path, n[path] }' | LC_ALL=C sort >got
	LC_ALL=C sort wanted | diff - got >&2 || fail "the paths are not right"
	expect 0 "$TEEPERF" analyze fibers.trace
	says '^moved +[0-9]+ times? a stack moved to another thread' out
	expect 0 "$TEEPERF" analyze --format json fibers.trace
	for fact in lost unmatched_enters unmatched_exits problems unknown_resyncs; do
		grep -q "\"$fact\":0[,}]" out || fail "$fact is not 0: $(head -c 2000 out)"
	done
done
