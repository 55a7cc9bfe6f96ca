// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of the kernel: names, the events of each thread that they count, and the messages where
// there is nothing to count.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/units.h"
#include "recorder/kernel/counters.h"

static struct tp_counters counters;
static struct tp_meter_value readings[TP_COUNTERS_MOST];

static void refused(const char *list, const char *why)
{
	struct tp_err err;
	assert_int_equal(tp_counters_check(list, &err), TP_ERR_SYNTAX);
	if (!strstr(err.what, why))
		fail_msg("'%s': \"%s\" has no \"%s\"", list, err.what, why);
	assert_int_equal(tp_counters_open(&counters, list, 0, &err), TP_ERR_SYNTAX);
	tp_counters_close(&counters);
}

static void names_are_perfs(void **state)
{
	(void)state;
	struct tp_err err;
	assert_int_equal(tp_counters_check("cycles,instructions,r01c2,rFF,cs,cgroup", &err), 0);
	refused("cycels", "did you mean 'cycles'?");
	refused("page-faults,context-switchs", "did you mean 'context-switches'?");
	refused("sched:sched_switch", "shows all");
	refused("r", "shows all");
	refused("r12345678901234567", "unknown counter 'r12345678901234567'");
	refused("rxyz", "unknown counter 'rxyz'");
	refused("", "is empty");
	refused("cycles,,instructions", "is empty");
	refused("cycles,", "is empty");
	char longest[100];
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	refused(longest, "unknown counter 'xxx");
}

// Under one name a counter stands once, and under that of its meter.
static void aliases_are_the_same(void **state)
{
	(void)state;
	assert_int_equal(tp_counters_open(&counters, "faults,page-faults,cgroup,cs", 0, NULL), 0);
	assert_int_equal(counters.count, 2);
	assert_string_equal(counters.meters[0].name, "page-faults");
	assert_string_equal(counters.meters[1].name, "context-switches");
	assert_true(counters.with_cgroup);
	tp_counters_close(&counters);
}

static void too_many_are_refused(void **state)
{
	(void)state;
	struct tp_buf list;
	tp_buf_init(&list);
	for (int i = 0; i <= TP_COUNTERS_MOST; i++)
		tp_buf_addf(&list, "%sr%x", i ? "," : "", i);
	refused(list.data, "at most 64");
	tp_buf_release(&list);
}

static bool is_counted(uint32_t i)
{
	return counters.meters[i].flags & TEEPERF_METER_COUNTED;
}

static void all_have_a_value_or_a_reason(void **state)
{
	(void)state;
	struct tp_buf names;
	struct tp_buf list;
	tp_buf_init(&names);
	tp_buf_init(&list);
	tp_counters_list(&names, "  ");
	char *rest = names.data;
	for (char *word; (word = strsep(&rest, ", \n"));)
		if (*word && word[strlen(word) - 1] != ')' && *word != '(' &&
		    strcmp(word, "rNNN") && strcmp(word, "a") && strcmp(word, "raw") &&
		    strcmp(word, "code") && strcmp(word, "in"))
			tp_buf_addf(&list, "%s%s", list.size ? "," : "", word);
	assert_int_equal(tp_counters_open(&counters, list.data, getpid(), NULL), 0);
	assert_in_range(counters.count, 25, TP_COUNTERS_MOST);
	assert_true(counters.with_cgroup);
	tp_counters_read(&counters, readings);
	for (uint32_t i = 0; i < counters.count; i++) {
		const struct teeperf_trace_meter *meter = &counters.meters[i];
		assert_int_equal(readings[i].known, is_counted(i));
		if (!is_counted(i) && (!meter->note[0] || readings[i].value))
			fail_msg("'%s' has neither a value nor a reason", meter->name);
	}
	tp_counters_close(&counters);
	tp_buf_release(&list);
	tp_buf_release(&names);
}

enum { PAGE = 4096 };

// Without a sanitizer's shadow, whose pages would count as well.
__attribute__((no_sanitize_address, no_sanitize_thread)) static void touch(
    volatile char *memory, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memory[i * PAGE] = 1;
}

// Touch COUNT pages of its own in a child, which waits for a start signal.
static uint64_t faults_of(size_t count)
{
	int start[2];
	assert_int_equal(pipe(start), 0);
	char *memory = mmap(
	    NULL, (count + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	madvise(memory, (count + 1) * PAGE, MADV_NOHUGEPAGE);
	const pid_t pid = fork();
	if (!pid) {
		char go;
		if (read(start[0], &go, 1) == 1)
			touch(memory, count);
		_exit(0);
	}
	assert_int_equal(tp_counters_open(&counters, "page-faults", pid, NULL), 0);
	assert_int_equal(write(start[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	tp_counters_read(&counters, readings);
	const bool known = readings[0].known;
	tp_counters_close(&counters);
	munmap(memory, (count + 1) * PAGE);
	close(start[0]);
	close(start[1]);
	if (!known) {
		print_message("page faults cannot be counted here: %s\n", counters.meters[0].note);
		skip();
	}
	return readings[0].value;
}

static void faults_are_counted_to_the_page(void **state)
{
	(void)state;
	const uint64_t none = faults_of(0);
	const uint64_t some = faults_of(5000);
	// Besides its pages it takes those of the tables and of the stack, which may be a few more
	// or less.
	assert_in_range(some - none, 5000 - 20, 5000 + 20);
}

static double cpu_seconds(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void only_what_is_started_counts(void **state)
{
	(void)state;
	assert_int_equal(tp_counters_open(&counters, "task-clock", 0, NULL), 0);
	const double before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < before + 0.05)
		continue;
	tp_counters_read(&counters, readings);
	if (!readings[0].known) {
		tp_counters_close(&counters);
		skip();
	}
	assert_int_equal(readings[0].value, 0);
	// A child of a child counts as well.
	const pid_t pid = fork();
	if (!pid)
		execl("/bin/sh", "sh", "-c",
		    "(i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done) & wait", (char *)NULL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	tp_counters_read(&counters, readings);
	assert_in_range(readings[0].value, 1000000, UINT64_MAX);
	assert_int_equal(readings[0].running_ns, readings[0].enabled_ns);
	tp_counters_close(&counters);
}

static void a_process_that_has_ended_is_told(void **state)
{
	(void)state;
	const pid_t pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(tp_counters_open(&counters, "task-clock", pid, NULL), 0);
	assert_false(is_counted(0));
	assert_string_not_equal(counters.meters[0].note, "");
	tp_counters_close(&counters);
}

// In a child without privileges: 0, or the line of the failed check.
static int look_as_nobody(void)
{
	if (setgid(65534) || setuid(65534))
		return __LINE__;
	if (tp_counters_open(&counters, "context-switches,page-faults,task-clock", 0, NULL))
		return __LINE__;
	// It would be 0 in user space.
	if (is_counted(0) || !strstr(counters.meters[0].note, "run as root"))
		return __LINE__;
	if (!is_counted(1) || !(counters.meters[1].flags & TEEPERF_METER_USER_ONLY) ||
	    !strstr(counters.meters[1].note, "user space"))
		return __LINE__;
	if (!is_counted(2) || counters.meters[2].flags & TEEPERF_METER_USER_ONLY)
		return __LINE__;
	return 0;
}

static void an_ordinary_user_gets_user_space(void **state)
{
	(void)state;
	char paranoid = '?';
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	if (file) {
		paranoid = (char)fgetc(file);
		fclose(file);
	}
	if (geteuid() || paranoid != '2') {
		print_message("this test is for root, where perf_event_paranoid is 2\n");
		skip();
	}
	const pid_t pid = fork();
	if (!pid)
		_exit(look_as_nobody() & 0xff);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void shared_hardware_is_scaled(void **state)
{
	(void)state;
	double value;
	assert_true(tp_scale_counted(300, 100, 25, &value));
	assert_float_equal(value, 1200, 1e-9);
	assert_true(tp_scale_counted(300, 100, 100, &value));
	assert_float_equal(value, 300, 1e-9);
	assert_true(tp_scale_counted(0, 0, 0, &value));
	assert_false(tp_scale_counted(0, 100, 0, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_perfs),
	    cmocka_unit_test(aliases_are_the_same),
	    cmocka_unit_test(too_many_are_refused),
	    cmocka_unit_test(all_have_a_value_or_a_reason),
	    cmocka_unit_test(faults_are_counted_to_the_page),
	    cmocka_unit_test(only_what_is_started_counts),
	    cmocka_unit_test(a_process_that_has_ended_is_told),
	    cmocka_unit_test(an_ordinary_user_gets_user_space),
	    cmocka_unit_test(shared_hardware_is_scaled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
