// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding what belongs together: our libraries, the plugin of an LLVM major, and that LLVM's tools.
#define _GNU_SOURCE
#include "driver.h"

#include "common/process.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tp_driver_libraries(char path[TP_DRIVER_PATH_SIZE], struct tp_err *err)
{
	char self[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0)
		return tp_err_system(err, errno, "/proc/self/exe", "cannot find my own file");
	self[length] = '\0';
	for (int i = 0; i < 2; i++) { // PREFIX/bin/teeperf
		char *slash = strrchr(self, '/');
		if (slash)
			*slash = '\0';
	}
	if (snprintf(path, TP_DRIVER_PATH_SIZE, "%s/lib", self) >= TP_DRIVER_PATH_SIZE)
		return tp_err_set(err, TP_ERR_LIMIT, self, TP_ERR_NO_OFFSET, "my path is too long");
	return 0;
}

bool tp_driver_plugin(const char *libraries, uint32_t major, char path[TP_DRIVER_PATH_SIZE])
{
	const int length =
	    snprintf(path, TP_DRIVER_PATH_SIZE, "%s/teeperf/llvm-%u/TeePerf.so", libraries, major);
	return length < TP_DRIVER_PATH_SIZE && access(path, R_OK) == 0;
}

bool tp_driver_is_foreign(const struct tp_driver_plan *plan)
{
#if defined(__x86_64__)
	return plan->machine[0] && strcmp(plan->machine, "x86_64");
#elif defined(__aarch64__)
	return plan->machine[0] && strcmp(plan->machine, "aarch64");
#elif defined(__riscv)
	return plan->machine[0] && strcmp(plan->machine, "riscv64");
#else
	return plan->machine[0];
#endif
}

int tp_driver_runtime(const char *libraries, const struct tp_driver_plan *plan,
    char path[TP_DRIVER_PATH_SIZE], struct tp_err *err)
{
	char library[TP_DRIVER_PATH_SIZE];
	const bool foreign = tp_driver_is_foreign(plan);
	const int length = snprintf(path, TP_DRIVER_PATH_SIZE, "%s%s%s", libraries,
	    foreign ? "/teeperf/" : "", foreign ? plan->machine : "");
	if (length >= TP_DRIVER_PATH_SIZE ||
	    snprintf(library, sizeof(library), "%s/libteeperf.a", path) >= (int)sizeof(library))
		return tp_err_set(
		    err, TP_ERR_LIMIT, libraries, TP_ERR_NO_OFFSET, "my path is too long");
	// Our own is beside us, or the linker says that it is not.
	if (!foreign || access(library, R_OK) == 0)
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, path, TP_ERR_NO_OFFSET,
	    "there is no TeePerf runtime for %s: install the C library for it (as "
	    "libc6-dev-riscv64-cross) and build TeePerf again, which then makes one",
	    plan->machine);
}

static bool is_program(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool tp_driver_find(const char *name, char path[TP_DRIVER_PATH_SIZE])
{
	const char *folders = getenv("PATH");
	if (!folders)
		folders = "/usr/local/bin:/usr/bin:/bin";
	while (*folders) {
		const size_t length = strcspn(folders, ":");
		const int size = length ? snprintf(path, TP_DRIVER_PATH_SIZE, "%.*s/%s",
					      (int)length, folders, name)
					: snprintf(path, TP_DRIVER_PATH_SIZE, "./%s", name);
		if (size < TP_DRIVER_PATH_SIZE && is_program(path))
			return true;
		folders += length;
		folders += *folders == ':';
	}
	return false;
}

// The major in `TOOL --version`, as in "clang version 19.1.7" or "LLD 19.1.7"; 0 if unclear.
static uint32_t ask_major(const char *path)
{
	const char *const argv[] = {path, "--version", NULL};
	struct tp_buf answer;
	int status = 0;
	tp_buf_init(&answer);
	tp_process_run(
	    &(struct tp_program){.argv = argv, .output = &answer, .keep_errors = true}, &status);
	const char *at = strstr(answer.data, "version ");
	if (!at)
		at = strstr(answer.data, "LLD ");
	const uint32_t major = at ? (uint32_t)strtoul(strchr(at, ' '), NULL, 10) : 0;
	tp_buf_release(&answer);
	return major;
}

bool tp_driver_tool(const char *name, uint32_t major, char path[TP_DRIVER_PATH_SIZE])
{
	char with_major[64];
	snprintf(with_major, sizeof(with_major), "%s-%u", name, major);
	if (tp_driver_find(with_major, path))
		return true;
	snprintf(path, TP_DRIVER_PATH_SIZE, "/usr/lib/llvm-%u/bin/%s", major, name);
	if (is_program(path))
		return true;
	return tp_driver_find(name, path) && ask_major(path) == major;
}
