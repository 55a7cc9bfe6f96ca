// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An instrumented program that knows what must come of its work, while hostile_host overwrites the
// log. Around the mapping of the log there is memory that nobody may touch, and its own memory is
// full of canaries.
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <teeperf/late.h>
#include <teeperf/teeperf.h>

#include "hostile_side.h"

// With HOSTILE_BARE this is linked with the port 'bare', which knows no children and one module; so
// does the log then come and go as hostile_bare.cpp says.
#ifdef HOSTILE_BARE
#include "hostile_bare.h"
static const bool is_bare = true;
#else
static const bool is_bare = false;
static bool hostile_bare_begin()
{
	return false;
}
static void hostile_bare_enter()
{
}
static void hostile_bare_leave()
{
}
#endif

// With HOSTILE_FRAMES it sends frames: hostile_frames.c has its private log, puts guards around it,
// and knows how many words of what it needs for that are wrong.
#ifdef HOSTILE_FRAMES
extern "C" bool hostile_frames_begin();
extern "C" uint64_t hostile_frames_wrong();
#else
static bool hostile_frames_begin()
{
	return false;
}
static uint64_t hostile_frames_wrong()
{
	return 0;
}
#endif

#define PLAIN __attribute__((noinline))

static hostile_side *side;

// ---- not instrumented --------------------------------------------------------------------------

static bool guarded;
static const uint64_t GUARD = UINT64_C(1) << 24;

static char *system_map(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return reinterpret_cast<char *>(syscall(SYS_mmap, at, size, protection, flags, fd, offset));
}

// In place of the runtime's (--wrap): it reserves addresses before it maps the log into them, or
// maps it at once.
extern "C" void *__wrap_tp_port_reserve(uint64_t size)
{
	char *map = system_map(nullptr, size + 2 * GUARD, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return map;
	guarded = true;
	return map + GUARD;
}
extern "C" void *__wrap_tp_port_map_whole(int fd, uint64_t length)
{
	void *at = __wrap_tp_port_reserve(length);
	return at == MAP_FAILED ? at
				: system_map(static_cast<char *>(at), length,
				      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
}

[[noreturn]] PLAIN static void wrong(const char *what, uint64_t found, uint64_t wanted)
{
	snprintf(side->problem, sizeof(side->problem), "%s: %llu, not %llu", what,
	    (unsigned long long)found, (unsigned long long)wanted);
	abort();
}

PLAIN static void expect(const char *what, uint64_t found, uint64_t wanted)
{
	if (found != wanted)
		wrong(what, found, wanted);
}

enum { BLOCKS = 64, WORDS = 512 };
static const uint64_t PATTERN = UINT64_C(0x5ca1ab1e0ddba11);
static uint64_t *blocks[BLOCKS];
static uint64_t data[16 * WORDS] = {PATTERN};
static thread_local uint64_t in_thread[64];
static uint64_t common[16 * WORDS];

PLAIN static void fill(uint64_t *words, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		words[i] = PATTERN * (i + 1);
}

PLAIN static void check(const char *what, const volatile uint64_t *words, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		expect(what, words[i], PATTERN * (i + 1));
}

PLAIN static void check_all()
{
	for (int i = 0; i < BLOCKS; i++)
		check("a word on the heap", blocks[i], WORDS);
	check("a word of the data", data, 16 * WORDS);
	check("a word of the bss", common, 16 * WORDS);
	expect("words of the private log", hostile_frames_wrong(), 0);
	__atomic_fetch_add(&side->checks, 1, __ATOMIC_RELAXED);
}

struct chance {
	uint64_t state;
	PLAIN uint64_t below(uint64_t n)
	{
		state = state * 6364136223846793005u + 1442695040888963407u;
		return (state >> 33) % n;
	}
};

// ---- work ---------------------------------------------------------------------------------------

PLAIN static uint64_t fib(uint64_t n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

struct counter {
	uint64_t &sum;
	PLAIN ~counter()
	{
		sum++;
	}
};

PLAIN static void throw_at(uint64_t depth, uint64_t &sum)
{
	counter count{sum};
	if (!depth)
		throw 7;
	throw_at(depth - 1, sum);
}

PLAIN static uint64_t catch_it(uint64_t depth)
{
	uint64_t sum = 0;
	try {
		throw_at(depth, sum);
	} catch (int value) {
		sum += (uint64_t)value;
	}
	return sum;
}

static thread_local jmp_buf jump_to;

PLAIN static uint64_t jump_from(uint64_t depth)
{
	if (!depth)
		longjmp(jump_to, 5);
	return jump_from(depth - 1) + 1;
}

PLAIN static uint64_t jump(uint64_t depth)
{
	const int value = setjmp(jump_to);
	return value ? (uint64_t)value : jump_from(depth);
}

PLAIN static uint64_t only_counted(uint64_t x)
{
	return x ^ 1;
}

PLAIN static uint64_t only_sampled(uint64_t x)
{
	return x + fib(3);
}

PLAIN static uint64_t count_some()
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < 64; i++)
		sum += only_counted(i) + only_sampled(i);
	return sum;
}

static std::atomic<uint64_t> handled;
static thread_local sigjmp_buf leave_handler;

PLAIN static void on_signal(int)
{
	handled += fib(5);
	teeperf_mark("signal");
}

PLAIN static void on_leaving_signal(int)
{
	siglongjmp(leave_handler, 3);
}

PLAIN static uint64_t signals()
{
	raise(SIGUSR1);
	const int value = sigsetjmp(leave_handler, 1);
	if (value)
		return (uint64_t)value;
	raise(SIGUSR2);
	return 0;
}

PLAIN static void end_deep(uint64_t depth)
{
	if (!depth)
		pthread_exit(reinterpret_cast<void *>(fib(9)));
	end_deep(depth - 1);
	only_counted(depth);
}

static void *run_thread(void *deep)
{
	count_some();
	if (deep)
		end_deep(4);
	return reinterpret_cast<void *>(fib(9));
}

PLAIN static uint64_t thread(bool deep)
{
	pthread_t id;
	void *result = nullptr;
	if (pthread_create(&id, nullptr, run_thread, deep ? &id : nullptr))
		return 34;
	pthread_join(id, &result);
	return reinterpret_cast<uint64_t>(result);
}

PLAIN static uint64_t library()
{
	void *handle = dlopen(side->library, RTLD_NOW);
	if (!handle)
		wrong(dlerror(), 0, 0);
	auto work =
	    reinterpret_cast<unsigned long (*)(unsigned long)>(dlsym(handle, "library_work"));
	const uint64_t sum = work(20);
	dlclose(handle);
	return sum;
}

PLAIN static uint64_t child()
{
	const pid_t id = fork();
	if (id < 0)
		return 55;
	if (!id)
		_exit((int)fib(10));
	int status;
	while (waitpid(id, &status, 0) < 0)
		;
	return WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : 1000 + (uint64_t)status;
}

PLAIN static uint64_t marks(uint64_t length)
{
	char name[128];
	for (uint64_t i = 0; i < length; i++)
		name[i] = static_cast<char>('a' + i % 26);
	name[length] = 0;
	teeperf_phase_scope phase(name);
	teeperf_mark(nullptr);
	for (int i = 0; i < 8; i++)
		teeperf_mark(name + (length ? length / 2 : 0));
	return fib(4) + strlen(name);
}

static void burst(chance &any)
{
	uint64_t canary[64];
	fill(canary, 64);
	const uint64_t which = any.below(is_bare ? 970 : 1000);
	int kind = BURST_CALLS;
	if (which < 440) {
		expect("calls", fib(13), 233);
	} else if (which < 500) {
		kind = BURST_MARK;
		const uint64_t length = any.below(128);
		expect("marks", marks(length), 3 + length);
	} else if (which < 620) {
		kind = BURST_THROW;
		expect("exceptions", catch_it(6), 14);
	} else if (which < 740) {
		kind = BURST_JUMP;
		expect("jumps", jump(5), 5);
	} else if (which < 880) {
		kind = BURST_COUNT;
		expect("counted calls", count_some(), 64 * 63 + 64 * 2);
	} else if (which < 940) {
		kind = BURST_SIGNAL;
		expect("signals", signals(), 3);
	} else if (which < 970) {
		kind = BURST_SWITCH;
		teeperf_off();
		expect("calls, off", fib(10), 55);
		teeperf_on();
		expect("calls, on", fib(10), 55);
	} else if (which < 990) {
		kind = BURST_THREAD;
		expect("threads", thread(any.below(2)), 34);
	} else if (which < 997) {
		kind = BURST_LIBRARY;
		expect("libraries", library(), 380);
	} else {
		kind = BURST_FORK;
		expect("children", child(), 55);
	}
	check("a word on the stack", canary, 64);
	check("a word of the thread", in_thread, 64);
	check("a word on the heap", blocks[any.below(BLOCKS)], WORDS);
	__atomic_fetch_add(&side->kinds[kind], 1, __ATOMIC_RELAXED);
	if (__atomic_fetch_add(&side->bursts, 1, __ATOMIC_RELEASE) % 256 == 0)
		check_all();
}

PLAIN static void work(uint64_t seed)
{
	chance any = {seed};
	fill(in_thread, 64);
	while (!__atomic_load_n(&side->stop, __ATOMIC_ACQUIRE)) {
		hostile_bare_enter();
		for (uint64_t i = any.below(4) + 1; i--;)
			burst(any);
		hostile_bare_leave();
		// Where there may be no log.
		expect("calls outside", fib(6), 8);
	}
}

static void *run_worker(void *number)
{
	work(side->seed + reinterpret_cast<uint64_t>(number));
	return nullptr;
}

// ---- a log that comes late: what the recorder's calls by ptrace do, without a recorder ----------

extern "C" __attribute__((weak)) uint64_t tp_late_call(uint64_t command, const char *path);

PLAIN static void late_call(uint64_t command)
{
	const uint64_t result = tp_late_call(command, nullptr) & UINT32_MAX;
	expect("the answer to a call", result, TEEPERF_LATE_DONE);
}

PLAIN static void *come_and_go(void *)
{
	chance any = {side->seed};
	while (!__atomic_load_n(&side->stop, __ATOMIC_ACQUIRE)) {
		const uint64_t result = tp_late_call(TEEPERF_LATE_ATTACH, side->late) & UINT32_MAX;
		if (result < TEEPERF_LATE_DONE || result > TEEPERF_LATE_COUNTS)
			wrong("the answer to a log", result, TEEPERF_LATE_DONE);
		const bool came = result == TEEPERF_LATE_DONE;
		for (uint64_t i = came ? any.below(6) : 0; i--;) {
			usleep((useconds_t)any.below(1000));
			late_call(TEEPERF_LATE_LOOK);
		}
		if (came) {
			expect("the log is between guards", guarded, true);
			late_call(TEEPERF_LATE_LEAVE);
		}
		__atomic_fetch_add(came ? &side->came : &side->refused, 1, __ATOMIC_RELEASE);
		usleep((useconds_t)any.below(500));
	}
	return nullptr;
}

int main()
{
	const char *fd = getenv("HOSTILE_SIDE");
	side = static_cast<hostile_side *>(mmap(
	    nullptr, sizeof(*side), PROT_READ | PROT_WRITE, MAP_SHARED, fd ? atoi(fd) : -1, 0));
	if (side == MAP_FAILED)
		return 96;
	side->guarded = guarded || hostile_frames_begin() || (is_bare && hostile_bare_begin());
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = static_cast<uint64_t *>(malloc(WORDS * sizeof(uint64_t)));
		fill(blocks[i], WORDS);
	}
	fill(data, 16 * WORDS);
	fill(common, 16 * WORDS);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_leaving_signal);
	pthread_t worker;
	if (is_bare) {
		work(side->seed);
		check_all();
#ifdef HOSTILE_FRAMES
		teeperf_over(0);
#endif
		return 0;
	}
	pthread_t comer;
	const bool late = side->late[0];
	if (late && pthread_create(&comer, nullptr, come_and_go, nullptr))
		return 94;
	if (pthread_create(&worker, nullptr, run_worker, reinterpret_cast<void *>(uintptr_t{1})))
		return 95;
	work(side->seed);
	pthread_join(worker, nullptr);
	if (late)
		pthread_join(comer, nullptr);
	side->guarded |= guarded;
	check_all();
	return 0;
}
