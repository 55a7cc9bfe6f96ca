// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding what belongs together: our libraries, the plugin of an LLVM major, that LLVM's tools, and
// the runtime of a port.
#define _GNU_SOURCE
#include "driver.h"

#include "cli/command/command.h"
#include "common/process.h"
#include "recorder/tee.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
		return tp_err_set(err, TP_ERR_LIMIT, self, "my path is too long");
	return 0;
}

// Where it is, beside the other shared files or where Debian has packages of Python.
static int find_program(char path[TP_DRIVER_PATH_SIZE + 64], const char *name, struct tp_err *err)
{
	static const char *const folders[] = {"share/teeperf/python", "lib/python3/dist-packages"};
	char prefix[TP_DRIVER_PATH_SIZE];
	int code = tp_driver_libraries(prefix, err);
	if (code)
		return code;
	prefix[strlen(prefix) - strlen("lib")] = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(
		    path, TP_DRIVER_PATH_SIZE + 64, "%s%s/teeperf/%s", prefix, folders[i], name);
		if (access(path, R_OK) == 0)
			return 0;
	}
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
	    "the Python package of teeperf is neither in %s%s nor in %s%s: install it (on Debian: "
	    "python3-teeperf)",
	    prefix, folders[0], prefix, folders[1]);
}

int tp_driver_python(const char *name, const char *const *words, struct tp_err *err)
{
	// Nothing of the user's Python settings changes it, nor is anything written beside it.
	const char *const first[] = {"python3", "-E", "-s", "-B"};
	char self[PATH_MAX];
	char program[TP_DRIVER_PATH_SIZE + 64];
	size_t count = 0;
	int code = find_program(program, name, err);
	if (code)
		return code;
	const ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[size > 0 ? size : 0] = '\0';
	while (words[count])
		count++;
	const char **all = calloc(count + 7, sizeof(*all));
	if (!all)
		return tp_err_memory(err, NULL);
	memcpy(all, first, sizeof(first));
	all[4] = program;
	all[5] = self;
	memcpy(all + 6, words, count * sizeof(*words));
	signal(SIGCHLD, SIG_DFL);
	execvp(all[0], (char *const *)all);
	code = tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
	    "cannot run python3: %s; 'teeperf %s' needs Python 3.11 or later", strerror(errno),
	    tp_command_running->name);
	free(all);
	return code;
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
		return tp_err_set(err, TP_ERR_LIMIT, libraries, "my path is too long");
	// Our own is beside us, or the linker says that it is not.
	if (!foreign || access(library, R_OK) == 0)
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, path,
	    "TeePerf has no runtime for %s: install the C library for it (such as "
	    "libc6-dev-riscv64-cross) and build TeePerf again",
	    plan->machine);
}

// As in "clang version 19.1.7" or "LLD 19.1.7".
uint32_t tp_driver_tool_major(const char *path)
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
	char other[128];
	snprintf(other, sizeof(other), "%s-%u", name, major);
	if (tp_find_program(other, path))
		return true;
	snprintf(other, sizeof(other), "/usr/lib/llvm-%u/bin/%s", major, name);
	return tp_find_program(other, path) ||
	       (tp_find_program(name, path) && tp_driver_tool_major(path) == major);
}

bool tp_driver_port_find(const char *name, struct tp_driver_port *port)
{
	const struct tp_tee *tee = name && *name ? tp_tee_find(name) : tp_tees();
	if (!tee)
		return false;
	*port = (struct tp_driver_port){
	    .name = tee->runtime == TP_TEE_RUNTIME_POSIX ? NULL : tee->name,
	    .is_posix = tee->runtime <= TP_TEE_RUNTIME_STREAM,
	    .threads = tee->runtime == TP_TEE_RUNTIME_ONE_THREAD ? "one"
		       : tee->runtime == TP_TEE_RUNTIME_ENCLAVE  ? "apart"
								 : "many",
	};
	return true;
}

int tp_driver_port_archive(const struct tp_driver_port *port, const char *runtime, bool is_foreign,
    char path[TP_DRIVER_PATH_SIZE], struct tp_err *err)
{
	// Beside libteeperf.a in a folder that is of one processor anyway.
	const char *folder = !port->name ? "" : is_foreign ? "/ports" : "/teeperf/ports";
	const int length = snprintf(path, TP_DRIVER_PATH_SIZE, "%s%s/libteeperf%s%s.a", runtime,
	    folder, port->name ? "-" : "", port->name ? port->name : "");
	if (length >= TP_DRIVER_PATH_SIZE)
		return tp_err_set(err, TP_ERR_LIMIT, runtime, "the path is too long");
	if (port->name && access(path, R_OK))
		return tp_err_set(err, TP_ERR_NOT_FOUND, path,
		    "port '%s' has no runtime for this processor%s", port->name,
		    is_foreign ? "" : ": build and install teeperf again");
	return 0;
}
