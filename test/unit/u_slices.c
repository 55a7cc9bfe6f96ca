// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the clock's thread does between two stores: the copy and its checksum are right whoever
// writes the original, no slice is longer than it may be, and none makes a system call.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/chunks/checksum.h"
#include "recorder/clock/slices.h"

enum { WORDS = 65536 / 8, SLICE = TP_SLICE_BYTES / 8 };

static struct tp_slices slices;
static uint64_t from[WORDS];
static uint64_t to[WORDS];

static int start(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < WORDS; i++)
		from[i] = i * UINT64_C(0x9e3779b97f4a7c15) | 1;
	memset(to, 0, sizeof(to));
	return !tp_slices_init(&slices);
}

static int stop(void **state)
{
	(void)state;
	tp_slices_release(&slices);
	return 0;
}

static uint32_t changed(const uint64_t *words, const uint64_t *before)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < WORDS; i++)
		count += words[i] != before[i];
	return count;
}

static void assert_copied(uint64_t job, uint64_t size)
{
	struct teeperf_chunk header;
	memcpy(&header, from, sizeof(header));
	header.used = size;
	assert_true(tp_slices_is_done(&slices, job));
	assert_memory_equal(to, &header, sizeof(header));
	assert_memory_equal(
	    (char *)to + sizeof(header), (char *)from + sizeof(header), size - sizeof(header));
	assert_int_equal(tp_slices_checksum(&slices, job), tp_checksum(to, size));
}

static void copies(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {sizeof(struct teeperf_chunk), TP_SLICE_BYTES - 8,
	    TP_SLICE_BYTES, TP_SLICE_BYTES + 8, sizeof(from)};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(to, 0, sizeof(to));
		const uint64_t job = tp_slices_copy(&slices, to, from, sizes[i]);
		uint64_t steps = 0;
		while (!tp_slices_is_done(&slices, job)) {
			static uint64_t before[WORDS];
			memcpy(before, to, sizeof(to));
			assert_true(tp_slices_step(&slices));
			assert_true(changed(to, before) <=
				    SLICE + 1); // and what the header says of the size
			steps++;
		}
		assert_copied(job, sizes[i]);
		assert_int_equal(steps, 2 * ((sizes[i] + TP_SLICE_BYTES - 1) / TP_SLICE_BYTES));
		assert_false(tp_slices_step(&slices));
	}
}

// Whatever a program says of its chunk meanwhile, the copy is what the checksum is of.
static void hostile(void **state)
{
	(void)state;
	const uint64_t job = tp_slices_copy(&slices, to, from, sizeof(from));
	for (uint64_t i = 0; tp_slices_step(&slices); i++) {
		((struct teeperf_chunk *)(void *)from)->used = UINT64_MAX - i;
		from[i * 97 % WORDS] ^= i;
		assert_true(i < 1000);
	}
	assert_int_equal(((struct teeperf_chunk *)(void *)to)->used, sizeof(from));
	assert_int_equal(tp_slices_checksum(&slices, job), tp_checksum(to, sizeof(to)));
}

static void clears(void **state)
{
	(void)state;
	static uint64_t before[WORDS];
	memcpy(before, from, sizeof(before));
	const uint64_t size = 2 * TP_SLICE_BYTES + 8;
	const uint64_t job = tp_slices_clear(&slices, from, size);
	assert_true(tp_slices_step(&slices));
	assert_int_equal(changed(from, before), SLICE);
	assert_true(tp_slices_step(&slices));
	assert_false(tp_slices_is_done(&slices, job));
	assert_true(tp_slices_step(&slices));
	assert_true(tp_slices_is_done(&slices, job));
	assert_int_equal(changed(from, before), size / 8);
}

// One after the other, round the ring of jobs, and nothing while another thread is at it.
static void in_order(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3 * TP_SLICE_JOBS; i += 2) {
		const uint64_t first = tp_slices_copy(&slices, to, from, TP_SLICE_BYTES);
		const uint64_t second = tp_slices_clear(&slices, to, TP_SLICE_BYTES);
		assert_int_equal(first, i);
		assert_int_equal(second, i + 1);
		slices.busy = 1;
		assert_false(tp_slices_step(&slices));
		slices.busy = 0;
		assert_true(tp_slices_step(&slices) && tp_slices_step(&slices));
		assert_true(tp_slices_is_done(&slices, first));
		assert_false(tp_slices_is_done(&slices, second));
		assert_copied(first, TP_SLICE_BYTES);
		assert_true(tp_slices_step(&slices));
		assert_true(tp_slices_is_done(&slices, second));
		assert_int_equal(to[1], 0);
	}
}

// Let this process make one system call: to end.
static bool forbid_calls(void)
{
	struct sock_filter rules[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void no_calls(void **state)
{
	(void)state;
	const pid_t child = fork();
	if (child == 0) {
		tp_slices_copy(&slices, to, from, sizeof(from));
		tp_slices_clear(&slices, from, sizeof(from));
		if (!forbid_calls())
			_exit(77);
		while (tp_slices_step(&slices))
			;
		syscall(SYS_exit_group, 0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(copies, start, stop),
	    cmocka_unit_test_setup_teardown(hostile, start, stop),
	    cmocka_unit_test_setup_teardown(clears, start, stop),
	    cmocka_unit_test_setup_teardown(in_order, start, stop),
	    cmocka_unit_test_setup_teardown(no_calls, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
