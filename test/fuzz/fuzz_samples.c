// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text as samples of a profiler: folded stacks, or names and numbers. No more are known than
// there are, and times add up to what they are to make. What perf alone reads (perf.data) is left
// out.
// Runs: 1 of 10.
#define _GNU_SOURCE
#include "allowlists/choose/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct tp_workload *workload, const char *path)
{
	struct tp_samples samples;
	struct tp_err err = {0};
	const int code = tp_samples_read(&samples, workload, path, &err);
	if (code) {
		if (err.code != code || !err.what[0])
			abort();
		return;
	}
	if (samples.known > samples.all || !samples.known)
		abort();
	uint64_t known = 0;
	for (uint32_t i = 0; i < workload->function_count; i++)
		known += workload->functions[i].samples;
	if (known != samples.known)
		abort();
	tp_samples_apply(&samples, workload, 1e9);
	double sum = 0;
	for (uint32_t i = 0; i < workload->function_count; i++)
		sum += workload->functions[i].self_ns;
	if (!(sum >= 0 && sum <= 1e9 * (1 + 1e-6)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"main", "f", "g", "_ZN1A1fEv", "", "a b"};
	struct tp_workload workload;
	char path[64];
	if (size >= 4 && !memcmp(data, "PERF", 4))
		return 0;
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	tp_workload_init(&workload);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tp_workload_add(&workload, names[i]) == UINT32_MAX)
			abort();
	check(&workload, path);
	tp_workload_release(&workload);
	close(fd);
	return 0;
}
