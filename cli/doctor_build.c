// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf doctor: what programs are built with, unless this is a target, where they are only recorded.
#define _GNU_SOURCE
#include "doctor.h"
#include "driver_options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// In the child: the compiler on a function that comes from `source`, in silence.
static _Noreturn void compile(char *compiler, char *plugin_option, int source)
{
	// A setting of the caller's must not look like a broken plugin.
	tp_driver_options_forget();
	const int null = open("/dev/null", O_RDWR);
	dup2(source, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	char *argv[] = {
	    compiler, plugin_option, "-O1", "-x", "c", "-c", "-", "-o", "/dev/null", NULL};
	execv(compiler, argv);
	_exit(127);
}

// Whether this clang loads this plugin and instruments a function with it.
static bool plugin_works(char *compiler, const char *plugin)
{
	static const char program[] = "int f(int x) { return x; }\n";
	char option[TP_DRIVER_PATH_SIZE + 16];
	snprintf(option, sizeof(option), "-fpass-plugin=%s", plugin);
	int fds[2];
	if (pipe2(fds, O_CLOEXEC))
		return false;
	fflush(stdout);
	const pid_t pid = fork();
	if (!pid)
		compile(compiler, option, fds[0]);
	close(fds[0]);
	// The text fits the pipe, so this neither blocks nor, if clang is gone by then, kills us.
	signal(SIGPIPE, SIG_IGN);
	const bool sent = pid > 0 && write(fds[1], program, strlen(program)) > 0;
	close(fds[1]);
	int status = -1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return sent && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// All majors of which there is a clang or a plugin: true if at least one is usable.
static bool check_compilers(const char *libraries)
{
	char plugin[TP_DRIVER_PATH_SIZE];
	char compiler[TP_DRIVER_PATH_SIZE];
	char subject[16];
	bool usable = false;
	for (uint32_t major = TP_DRIVER_FIRST_LLVM; major <= TP_DRIVER_LAST_LLVM; major++) {
		const bool has_plugin = tp_driver_plugin(libraries, major, plugin);
		const bool has_compiler = tp_driver_tool("clang", major, compiler);
		if (!has_plugin && !has_compiler)
			continue;
		snprintf(subject, sizeof(subject), "llvm %u", major);
		if (!has_plugin) {
			tp_doctor_show("-", subject, "%s has no plugin here", compiler);
		} else if (!has_compiler) {
			tp_doctor_show("-", subject, "clang-%u is not installed", major);
		} else if (!plugin_works(compiler, plugin)) {
			tp_doctor_show("wrong", subject,
			    "%s does not load %s: build the plugin again", compiler, plugin);
		} else {
			tp_doctor_show("ok", subject, "%s loads its plugin", compiler);
			usable = true;
		}
	}
	if (!usable)
		tp_doctor_show("missing", "compiler",
		    "no clang with a plugin that it loads: install one, or build TeePerf for it");
	return usable;
}

static const char *const runtimes[] = {"libteeperf.a", "libteeperf.so"};
enum { RUNTIMES = sizeof(runtimes) / sizeof(runtimes[0]) };

static bool has_runtime(const char *libraries, int i, char path[TP_DRIVER_PATH_SIZE])
{
	snprintf(
	    path, TP_DRIVER_PATH_SIZE, "%.*s/%s", TP_DRIVER_PATH_SIZE - 32, libraries, runtimes[i]);
	return access(path, R_OK) == 0;
}

static bool check_runtime(const char *libraries)
{
	char path[TP_DRIVER_PATH_SIZE];
	bool all = true;
	for (int i = 0; i < RUNTIMES; i++) {
		const bool found = has_runtime(libraries, i, path);
		tp_doctor_show(found ? "ok" : "missing", "runtime", "%s", path);
		all = all && found;
	}
	return all;
}

// Whether nothing to build with was installed with this command. A part of it that is missing is a fault.
static bool only_records(const char *libraries)
{
	char path[TP_DRIVER_PATH_SIZE];
	for (uint32_t major = TP_DRIVER_FIRST_LLVM; major <= TP_DRIVER_LAST_LLVM; major++)
		if (tp_driver_plugin(libraries, major, path))
			return false;
	for (int i = 0; i < RUNTIMES; i++)
		if (has_runtime(libraries, i, path))
			return false;
	return true;
}

int tp_doctor_build(bool *good, struct tp_err *err)
{
	char libraries[TP_DRIVER_PATH_SIZE];
	const int status = tp_driver_libraries(libraries, err);
	if (status)
		return status;
	if (only_records(libraries)) {
		tp_doctor_show("-", "compiler",
		    "no compiler here: this is a target; programs are built elsewhere, with 'teeperf cc', "
		    "and recorded here (to build here, install plugin and runtime in %s)",
		    libraries);
		return 0;
	}
	*good = check_compilers(libraries) && *good;
	*good = check_runtime(libraries) && *good;
	return 0;
}
