// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose processor time the recorder looks at, and what it believes of what the log says.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <teeperf/trace.h>

#include "common/buf.h"
#include "recorder/clock/cpu_times.h"

static struct tp_region region;
static struct tp_cpu_times times;
static struct tp_buf section;

static void make_log(void)
{
	const struct tp_region_options options = {
	    .size = UINT64_C(1) << 20, .mode = TEEPERF_MODE_STREAM, .clock = TEEPERF_CLOCK_NONE};
	struct tp_err err;
	assert_int_equal(tp_region_create(&region, &options, &err), 0);
	tp_buf_init(&section);
}

static void remove_log(void)
{
	tp_cpu_times_release(&times);
	tp_region_release(&region);
	tp_buf_release(&section);
}

static void begin(pid_t pid, uint64_t told_pid, uint64_t os_tid)
{
	assert_int_equal(tp_cpu_times_init(&times, &region, pid, false, NULL), 0);
	region.threads[0].os_tid = os_tid;
	region.header->thread_count = 1;
	region.header->pid = told_pid;
}

// Of the process; *thread of the first entry, all zero if there is none.
static struct teeperf_trace_cpu result(struct teeperf_trace_cpu_thread *thread)
{
	struct teeperf_trace_cpu cpu = {0};
	*thread = (struct teeperf_trace_cpu_thread){0};
	tp_buf_reset(&section);
	tp_cpu_times_add(&times, region.threads, 2, &section);
	if (!section.size)
		return cpu;
	memcpy(&cpu, section.data, sizeof(cpu));
	assert_int_equal(section.size, sizeof(cpu) + cpu.thread_count * sizeof(*thread));
	if (cpu.thread_count)
		memcpy(thread, section.data + sizeof(cpu), sizeof(*thread));
	return cpu;
}

static void burn(void)
{
	struct timespec time;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	while (!time.tv_sec && time.tv_nsec < 10000000);
}

static void a_process_with_the_log_is_looked_at(void **state)
{
	(void)state;
	struct teeperf_trace_cpu_thread thread;
	make_log();
	burn();
	begin(0, (uint64_t)getpid(), (uint64_t)gettid());
	tp_cpu_times_look(&times);
	const struct teeperf_trace_cpu cpu = result(&thread);
	assert_int_equal(cpu.flags, TEEPERF_CPU_AT_LEAST);
	assert_true(cpu.cpu_ns >= 10000000);
	assert_int_equal(cpu.thread_count, 1);
	assert_int_equal(thread.flags, TEEPERF_CPU_AT_LEAST | TEEPERF_CPU_DELAY);
	assert_true(thread.cpu_ns >= 5000000 && thread.cpu_ns <= cpu.cpu_ns + 10000000);
	remove_log();
}

static void any_other_process_is_not(void **state)
{
	(void)state;
	const uint64_t others[] = {(uint64_t)getppid(), 1, UINT64_MAX, UINT64_C(1) << 31};
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct teeperf_trace_cpu_thread thread;
		make_log();
		begin(0, others[i], others[i]);
		tp_cpu_times_look(&times);
		tp_cpu_times_look(&times);
		assert_int_equal(result(&thread).flags, 0);
		assert_int_equal(section.size, 0);
		remove_log();
	}
}

static void of_one_that_is_elsewhere_what_it_tells_is_all(void **state)
{
	(void)state;
	struct teeperf_trace_cpu_thread thread;
	make_log();
	begin(-1, (uint64_t)getpid(), (uint64_t)gettid());
	tp_cpu_times_look(&times);
	result(&thread);
	assert_int_equal(section.size, 0);
	region.threads[0].cpu_ns = 77;
	assert_int_equal(result(&thread).flags, 0);
	assert_int_equal(thread.flags, TEEPERF_CPU_AT_LEAST);
	region.threads[0].ended = 1;
	result(&thread);
	assert_int_equal(thread.flags, TEEPERF_CPU_EXACT);
	assert_int_equal(thread.cpu_ns, 77);
	remove_log();
}

static uint64_t time_of(clockid_t clock)
{
	struct timespec time;
	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// One that ran already: neither its time before counts nor that of its threads, which have not
// ended.
static void of_one_that_ran_already_it_is_the_difference(void **state)
{
	(void)state;
	struct teeperf_trace_cpu_thread thread;
	make_log();
	burn();
	begin(-1, (uint64_t)getpid(), (uint64_t)gettid());
	const uint64_t process_ns = time_of(CLOCK_PROCESS_CPUTIME_ID);
	const uint64_t thread_ns = time_of(CLOCK_THREAD_CPUTIME_ID);
	tp_cpu_times_join(&times, getpid());
	const uint64_t start_ns = time_of(CLOCK_THREAD_CPUTIME_ID);
	while (time_of(CLOCK_THREAD_CPUTIME_ID) < start_ns + 5000000)
		;
	tp_cpu_times_look_all(&times);
	struct teeperf_trace_cpu cpu = result(&thread);
	assert_int_equal(cpu.flags, TEEPERF_CPU_AT_LEAST);
	assert_true(cpu.cpu_ns >= 5000000);
	assert_true(cpu.cpu_ns <= time_of(CLOCK_PROCESS_CPUTIME_ID) - process_ns);
	assert_int_equal(thread.flags, TEEPERF_CPU_AT_LEAST | TEEPERF_CPU_DELAY);
	assert_true(thread.cpu_ns >= 1000000);
	assert_true(thread.cpu_ns <= time_of(CLOCK_THREAD_CPUTIME_ID) - thread_ns);
	// What it tells when it ends is of its whole life.
	region.threads[0].ended = 1;
	region.threads[0].cpu_ns = time_of(CLOCK_THREAD_CPUTIME_ID);
	cpu = result(&thread);
	assert_true(thread.cpu_ns <= region.threads[0].cpu_ns - thread_ns);
	assert_true(cpu.cpu_ns <= time_of(CLOCK_PROCESS_CPUTIME_ID) - process_ns);
	remove_log();
	// With numbers of another world nothing can be taken off.
	make_log();
	begin(-1, 1, 1);
	tp_cpu_times_join(&times, getpid());
	region.threads[0].ended = 1;
	region.threads[0].cpu_ns = UINT64_MAX / 2;
	tp_cpu_times_look_all(&times);
	cpu = result(&thread);
	assert_int_equal(cpu.thread_count, 0);
	assert_true(cpu.cpu_ns < UINT64_MAX / 4);
	remove_log();
}

static void an_ended_process_is_exact_and_bounds_what_its_threads_tell(void **state)
{
	(void)state;
	struct teeperf_trace_cpu_thread thread;
	make_log();
	const pid_t child = fork();
	if (!child) {
		burn();
		_exit(0);
	}
	siginfo_t info;
	begin(0, (uint64_t)child, (uint64_t)child);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	tp_cpu_times_look_last(&times, child);
	assert_int_equal(waitpid(child, NULL, 0), child);
	const struct teeperf_trace_cpu cpu = result(&thread);
	assert_int_equal(cpu.flags, TEEPERF_CPU_EXACT);
	assert_true(cpu.cpu_ns >= 5000000);
	assert_int_equal(thread.flags, TEEPERF_CPU_EXACT | TEEPERF_CPU_DELAY);
	assert_true(thread.cpu_ns >= 5000000 && thread.cpu_ns <= cpu.cpu_ns);
	const uint64_t seen_ns = thread.cpu_ns;
	region.threads[0].ended = 1;
	region.threads[0].cpu_ns = UINT64_MAX;
	result(&thread);
	assert_int_equal(thread.cpu_ns, seen_ns);
	// Nor does a number always belong to the same thread: this one is not a thread of the
	// process.
	region.threads[1] = (struct teeperf_thread){.os_tid = 1, .ended = 1, .cpu_ns = UINT64_MAX};
	assert_int_equal(result(&thread).thread_count, 1);
	remove_log();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_process_with_the_log_is_looked_at),
	    cmocka_unit_test(any_other_process_is_not),
	    cmocka_unit_test(of_one_that_is_elsewhere_what_it_tells_is_all),
	    cmocka_unit_test(of_one_that_ran_already_it_is_the_difference),
	    cmocka_unit_test(an_ended_process_is_exact_and_bounds_what_its_threads_tell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
