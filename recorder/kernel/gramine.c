// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Gramine counts of SGX, and prints.
#define _GNU_SOURCE
#include "gramine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/read_all.h"
#include "common/units.h"

static const struct {
	const char *meter;
	const char *label;
} lines[TP_GRAMINE_METERS] = {
    {"sgx-eenters", "EENTERs"},
    {"sgx-eexits", "EEXITs"},
    {"sgx-aexs", "AEXs"},
    {"sgx-sync-signals", "sync signals"},
    {"sgx-async-signals", "async signals"},
};

// The line is whole. A newer Gramine may print others in between.
static void take_line(struct tp_gramine *gramine)
{
	char label[32];
	uint64_t count;
	gramine->line[gramine->used] = '\0';
	if (strstr(gramine->line, "----- ")) {
		gramine->total = strstr(gramine->line, "Total SGX stats for process ");
		gramine->processes += gramine->total;
		return;
	}
	if (!gramine->total || sscanf(gramine->line, " # of %31[^:]: %" SCNu64, label, &count) != 2)
		return;
	for (int i = 0; i < TP_GRAMINE_METERS; i++)
		if (!strcmp(label, lines[i].label))
			gramine->sums[i] = tp_add_capped(gramine->sums[i], count);
}

void tp_gramine_feed(struct tp_gramine *gramine, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n') {
			take_line(gramine);
			gramine->used = 0;
		} else if (gramine->used < sizeof(gramine->line) - 1) {
			gramine->line[gramine->used++] = bytes[i];
		}
	}
}

void tp_gramine_read(const struct tp_gramine *gramine,
    struct teeperf_trace_meter meters[TP_GRAMINE_METERS],
    struct tp_meter_value values[TP_GRAMINE_METERS])
{
	for (int i = 0; i < TP_GRAMINE_METERS; i++) {
		tp_meter_init(&meters[i], lines[i].meter, TEEPERF_METER_COUNT, TEEPERF_METER_FINAL);
		values[i] =
		    (struct tp_meter_value){.value = gramine->sums[i], .known = gramine->processes};
		if (gramine->processes)
			meters[i].flags = TEEPERF_METER_COUNTED;
		else
			TP_METER_NOTE(&meters[i], "Gramine printed no statistics: "
						  "they need gramine-sgx and 'sgx.enable_stats = "
						  "true' in the manifest");
	}
}

// In the process: until nobody writes any more, or nobody reads the output.
static _Noreturn void pass_on(int from, struct tp_gramine *heard)
{
	char bytes[4096];
	prctl(PR_SET_NAME, "teeperf-stderr");
	for (;;) {
		const ssize_t size = read(from, bytes, sizeof(bytes));
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0 || !tp_write_all(STDERR_FILENO, bytes, (size_t)size))
			_exit(0);
		tp_gramine_feed(heard, bytes, (size_t)size);
	}
}

int tp_gramine_tap_start(struct tp_gramine_tap *tap, struct tp_err *err)
{
	int ends[2];
	*tap = (struct tp_gramine_tap){.program = -1};
	struct tp_gramine *heard =
	    mmap(NULL, sizeof(*heard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (heard == MAP_FAILED)
		return tp_err_memory(err, NULL);
	tap->heard = heard;
	if (pipe2(ends, O_CLOEXEC)) {
		const int error = errno;
		tp_gramine_tap_stop(tap);
		return tp_err_system(err, error, NULL, "cannot make a pipe");
	}
	const pid_t pid = fork();
	const int error = errno;
	if (!pid) {
		close(ends[1]);
		// Whoever waits for the end of our standard output does not wait for this.
		for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
			if (fd != ends[0])
				close(fd);
		pass_on(ends[0], heard);
	}
	close(ends[0]);
	tap->program = ends[1];
	if (pid > 0) {
		tap->pid = pid;
		return 0;
	}
	tp_gramine_tap_stop(tap);
	return tp_err_system(err, error, NULL, "cannot start another process");
}

void tp_gramine_tap_given(struct tp_gramine_tap *tap)
{
	if (tap->heard && tap->program >= 0) {
		close(tap->program);
		tap->program = -1;
	}
}

void tp_gramine_tap_finish(struct tp_gramine_tap *tap, uint32_t wait_ms)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	for (uint32_t i = 0; tap->pid && i <= wait_ms; i++) {
		if (waitpid(tap->pid, NULL, WNOHANG))
			tap->pid = 0;
		else if (i < wait_ms)
			nanosleep(&nap, NULL);
	}
}

void tp_gramine_tap_stop(struct tp_gramine_tap *tap)
{
	tp_gramine_tap_given(tap);
	tp_gramine_tap_finish(tap, 0);
	if (tap->heard)
		munmap(tap->heard, sizeof(*tap->heard));
	*tap = (struct tp_gramine_tap){.program = -1};
}
