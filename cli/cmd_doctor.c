// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf doctor: say what this machine, and a program, have of what recording needs.
#define _GNU_SOURCE
#include "command.h"
#include "doctor.h"
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/host_clock.h"

static const char *root;

static const struct tp_option options[] = {
    {TP_OPTION_STRING, 0, "root", "DIR",
	"look for TEEs in the system that has its /dev, /proc and /sys in DIR, and for nothing else",
	&root, NULL},
    {.type = TP_OPTION_END},
};

static int run(int argc, char **argv);

const struct tp_command tp_cmd_doctor = {
    .name = "doctor",
    .summary = "check what this machine and a program have of what recording needs",
    .usage = "[options] [PROGRAM]",
    .description =
	"Looks for a clang with a plugin that it loads, the runtime library, shared memory for the\n"
	"log, a clock, and TEEs: those that this machine has, and the one that this command runs in,\n"
	"with the clock that is legal there and the way that a log gets out. With PROGRAM also\n"
	"whether that is instrumented for this version, and what its functions can be named by.\n"
	"Each line says what to do about it. Exits with 1 if something that is needed is missing.\n",
    .examples = "teeperf doctor\nteeperf doctor ./server\n",
    .options = options,
    .run = run,
};

void tp_doctor_show(const char *mark, const char *subject, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	printf("%-8s %-10s ", mark, subject);
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
}

static void show(const char *mark, const char *subject, const char *text)
{
	tp_doctor_show(mark, subject, "%s", text);
}

// In the child: the compiler on a function that comes from `source`, in silence.
static _Noreturn void compile(char *compiler, char *plugin_option, int source)
{
	// A setting of the caller's must not look like a broken plugin.
	unsetenv("TEEPERF_ALLOWLIST");
	unsetenv("TEEPERF_CLOCK");
	unsetenv("TEEPERF_TAIL_CALLS");
	unsetenv("TEEPERF_THREADS");
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
	char text[2 * TP_DRIVER_PATH_SIZE + 64];
	char subject[16];
	bool usable = false;
	for (uint32_t major = TP_DRIVER_FIRST_LLVM; major <= TP_DRIVER_LAST_LLVM; major++) {
		const bool has_plugin = tp_driver_plugin(libraries, major, plugin);
		const bool has_compiler = tp_driver_tool("clang", major, compiler);
		if (!has_plugin && !has_compiler)
			continue;
		snprintf(subject, sizeof(subject), "llvm %u", major);
		if (!has_plugin) {
			snprintf(text, sizeof(text), "%s has no plugin here", compiler);
			show("-", subject, text);
		} else if (!has_compiler) {
			snprintf(text, sizeof(text), "clang-%u is not installed", major);
			show("-", subject, text);
		} else if (!plugin_works(compiler, plugin)) {
			snprintf(text, sizeof(text), "%s does not load %s: build the plugin again",
			    compiler, plugin);
			show("wrong", subject, text);
		} else {
			snprintf(text, sizeof(text), "%s loads its plugin", compiler);
			show("ok", subject, text);
			usable = true;
		}
	}
	if (!usable)
		show("missing", "compiler",
		    "no clang with a plugin that it loads: install one, or build TeePerf for it");
	return usable;
}

static bool check_runtime(const char *libraries)
{
	char path[TP_DRIVER_PATH_SIZE];
	bool all = true;
	static const char *const names[] = {"libteeperf.a", "libteeperf.so"};
	for (int i = 0; i < 2; i++) {
		snprintf(
		    path, sizeof(path), "%.*s/%s", TP_DRIVER_PATH_SIZE - 32, libraries, names[i]);
		const bool found = access(path, R_OK) == 0;
		show(found ? "ok" : "missing", "runtime", path);
		all = all && found;
	}
	return all;
}

static bool check_memory(void)
{
	struct statvfs info;
	char text[128];
	if (statvfs("/dev/shm", &info) || access("/dev/shm", W_OK)) {
		snprintf(text, sizeof(text), "/dev/shm cannot be used: %s", strerror(errno));
		show("missing", "memory", text);
		return false;
	}
	const unsigned long long mib =
	    (unsigned long long)info.f_bavail * info.f_frsize / (1024 * 1024);
	const bool enough = mib >= 4;
	snprintf(text, sizeof(text), "/dev/shm has %llu MiB free%s", mib,
	    mib >= 128 ? "" : "; long recordings of busy programs want 128 or more");
	show(enough ? "ok" : "missing", "memory", text);
	return enough;
}

static void check_clock(void)
{
	struct tp_err err;
	uint32_t clock = TEEPERF_CLOCK_NONE;
	char text[128];
	tp_clock_choose(TP_CLOCK_CHOICE_AUTO, &clock, &err);
	if (tp_clock_has_steady_counter()) {
		snprintf(text, sizeof(text), "%s, steady on all cores", tp_clock_name(clock));
		show("ok", "clock", text);
	} else {
		show("-", "clock", "the processor's counter is not steady: the soft clock is used");
	}
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	const int cores = CPU_COUNT(&allowed);
	snprintf(text, sizeof(text), "%d usable%s", cores,
	    cores > 1 ? "" : ": the soft clock has no core of its own and is coarse");
	show(cores > 1 ? "ok" : "-", "cores", text);
}

static int run(int argc, char **argv)
{
	int status;
	if (!tp_options_parse(&tp_cmd_doctor, &argc, &argv, true, &status))
		return status;
	if (argc > 1)
		return tp_options_usage(&tp_cmd_doctor, "only one program at a time");
	if (root) {
		tp_doctor_tees(root);
		return TP_EXIT_DONE;
	}
	char libraries[TP_DRIVER_PATH_SIZE];
	struct tp_err err;
	if (tp_driver_libraries(libraries, &err))
		return tp_command_fail(&tp_cmd_doctor, &err);
	bool good = check_compilers(libraries);
	good = check_runtime(libraries) && good;
	good = check_memory() && good;
	check_clock();
	tp_doctor_tees("");
	if (argc)
		good = tp_doctor_program(argv[0]) && good;
	return good ? TP_EXIT_DONE : TP_EXIT_FAILED;
}
