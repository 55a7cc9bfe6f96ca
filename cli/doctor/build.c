// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf doctor: what programs are built with, unless this is a target, where they are only
// recorded.
#include "doctor.h"

#include "common/process.h"
#include "cli/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Whether this clang loads this plugin and instruments a function with it.
static bool plugin_works(const char *compiler, const char *plugin)
{
	char option[TP_DRIVER_PATH_SIZE + 16];
	snprintf(option, sizeof(option), "-fpass-plugin=%s", plugin);
	const char *const argv[] = {
	    compiler, option, "-O1", "-x", "c", "-c", "-", "-o", "/dev/null", NULL};
	const struct tp_program program = {.argv = argv, .input = "int f(int x) { return x; }\n"};
	int status = 0;
	return !tp_process_run(&program, &status) && !status;
}

// All majors of which there is a clang or a plugin: true if at least one is usable.
static bool check_compilers(const char *libraries)
{
	char plugin[TP_DRIVER_PATH_SIZE];
	char compiler[TP_DRIVER_PATH_SIZE];
	char subject[16];
	bool usable = false;
	// A setting of the caller's must not look like a broken plugin.
	tp_driver_options_forget();
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
		    "no clang here loads a plugin: install a supported clang, or build TeePerf "
		    "for this one");
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

// Whether nothing to build with was installed with this command. A part of it that is missing is a
// fault.
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
		    "no compiler here: this is a target; programs are built elsewhere, "
		    "with 'teeperf cc', "
		    "and recorded here (to build here, install plugin and runtime in %s)",
		    libraries);
		return 0;
	}
	*good = check_compilers(libraries) && *good;
	*good = check_runtime(libraries) && *good;
	return 0;
}
