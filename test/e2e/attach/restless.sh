#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# record --pid beside what changes all the time: exceptions and longjmp, a storm of signals,
# libraries that are loaded and closed, threads that come and go, forks. The recordings come at any
# moment, in each mode, of programs of both shapes. The program checks itself, and no trace has a
# call that is unmatched.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

rounds=1
[ "${TEEPERF_FULL:-}" != 1 ] || rounds=25

cat >plugin.c <<'EOC'
__attribute__((noinline)) static int plugin_leaf(int n)
{
	__asm__ volatile("");
	return n + 1;
}
int plugin(int n)
{
	return plugin_leaf(n) + 1;
}
EOC
cat >restless.cpp <<'EOC'
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP extern "C" __attribute__((noinline, used))
#define STAYS asm volatile("" ::: "memory")
static std::atomic<bool> over;
static std::atomic<long> handled;
enum { KINDS = 5 };
static std::atomic<long> turns[KINDS]; // of each kind of thread

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}
KEEP int leaf(int n)
{
	STAYS;
	return n + 1;
}
KEEP int throws(int depth)
{
	if (!depth)
		throw leaf(depth);
	const int r = throws(depth - 1);
	STAYS;
	return r;
}
KEEP int catches(int depth)
{
	try {
		return throws(depth);
	} catch (int thrown) {
		return leaf(thrown);
	}
}
static void *unwind(void *)
{
	for (int i = 0; !over; i++, turns[0]++)
		check(catches(i % 5) == 2, "an exception is caught");
	return nullptr;
}
static jmp_buf place;
KEEP void jumps(int depth)
{
	leaf(depth);
	if (!depth)
		longjmp(place, 1);
	jumps(depth - 1);
	STAYS;
}
KEEP int lands(int depth)
{
	if (setjmp(place))
		return leaf(depth);
	jumps(depth);
	return 0;
}
static void *jump(void *)
{
	for (int i = 0; !over; i++, turns[1]++)
		check(lands(i % 5) == i % 5 + 1, "longjmp comes back");
	return nullptr;
}
KEEP int plugin_user(int n)
{
	void *library = dlopen("./libplugin.so", RTLD_NOW);
	check(library, "the library is loaded");
	int (*plugin)(int) = (int (*)(int))dlsym(library, "plugin");
	const int r = plugin(n);
	dlclose(library);
	return r;
}
static void *load(void *)
{
	for (int i = 0; !over; i++, turns[2]++)
		check(plugin_user(i % 9) == i % 9 + 2, "the library works");
	return nullptr;
}
static void *live_short(void *argument)
{
	for (int i = 0; i < 20; i++)
		leaf(i);
	return argument;
}
static void *churn(void *)
{
	for (; !over; turns[3]++) {
		pthread_t threads[4];
		void *result = nullptr;
		for (pthread_t &thread : threads)
			check(!pthread_create(&thread, nullptr, live_short, threads), "a thread begins");
		for (pthread_t thread : threads)
			check(!pthread_join(thread, &result) && result == threads, "a thread ends");
	}
	return nullptr;
}
KEEP int in_child(int n)
{
	return leaf(n) + 1;
}
static void *forks(void *)
{
	for (; !over; turns[4]++) {
		int status = 0;
		const pid_t pid = fork();
		if (!pid)
			_exit(in_child(5));
		check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
			  WEXITSTATUS(status) == 7,
		    "a child does its work");
		usleep(1000);
	}
	return nullptr;
}
KEEP int in_handler(int n)
{
	return leaf(n);
}
static void handle(int number)
{
	handled += in_handler(number) == number + 1;
}

// Until each of them has turned once more, from its beginning to its end.
static void await_turns()
{
	for (std::atomic<long> &kind : turns)
		for (const long wanted = kind + 2; kind < wanted;)
			usleep(1000);
}

int main()
{
	struct sigaction action = {};
	struct itimerval storm = {{0, 300}, {0, 300}};
	char byte;
	ssize_t size;
	void *(*const kinds[])(void *) = {unwind, jump, load, churn, forks};
	pthread_t threads[KINDS];
	action.sa_handler = handle;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, nullptr);
	for (int i = 0; i < KINDS; i++)
		check(!pthread_create(&threads[i], nullptr, kinds[i], nullptr), "it begins");
	setitimer(ITIMER_REAL, &storm, nullptr);
	puts("ready");
	fflush(stdout);
	while ((size = read(0, &byte, 1)) == 1) {
		await_turns();
		puts("turned");
		fflush(stdout);
	}
	check(size == 0, "no call is interrupted");
	over = true;
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	check(handled > 0, "signals came");
	return 5;
}
EOC
"$TEEPERF" cc -O1 -fPIC -shared -o libplugin.so plugin.c
for shape in plain dual; do
	flags=
	[ $shape = plain ] || flags=--shape=dual
	"$TEEPERF" c++ $flags -O1 -o restless restless.cpp -lpthread -ldl
	begin restless sh -c 'exec ./restless <commands'
	exec 3>commands
	program=$begun
	turned=0
	await restless.out ready
	for round in $(seq $rounds); do
		for mode in stream full ring; do
			attach $shape --mode $mode --size 64M
			printf t >&3
			turned=$((turned + 1))
			await_true '[ "$(grep -c turned restless.out)" = $turned ]' \
				'a turn of each thread'
			expect 0 "$TEEPERF" ctl stop "$recorder"
			ended 0 record
			facts $shape.trace end_sections=1
			expect 0 "$TEEPERF" analyze --format csv $shape.trace
			# Where the log has got full, some threads have found no place.
			[ $mode = full ] || for function in catches lands plugin_user leaf; do
				says "^$function,[1-9]" out
			done
			says '^leaf,[1-9]' out
			! grep -q ^in_child out || fail "the trace has calls of a forked child"
			[ $mode = stream ] || continue
			# What does not fit, or was overwritten, leaves calls without an end.
			[ "$(fact lost)" != 0 ] ||
				sound $shape.trace
			# Threads that were there before, and those that came later.
			expect 0 "$TEEPERF" analyze --view tree --format csv $shape.trace
			says '^[0-9]+,2,catches,' out
			! grep '^[0-9]*,1,catches,' out ||
				fail 'a call of a thread that was there has no caller'
			says '^[0-9]+,1,live_short' out
		done
	done
	exec 3>&-
	ended 5 restless
done
