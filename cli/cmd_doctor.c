// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf doctor: say what this machine, and a program, have of what recording needs.
#define _GNU_SOURCE
#include "cli/command/command.h"
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "recorder/clock/host_clock.h"

static const char *root;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "root", &root, "DIR",
	"look only for TEEs, in the system whose /dev, /proc and /sys are in DIR"),
    TP_OPT_END,
};

static bool check_memory(void)
{
	struct statvfs info;
	if (statvfs("/dev/shm", &info) || access("/dev/shm", W_OK)) {
		tp_doctor_show("missing", "memory", "/dev/shm cannot be used: %s", strerror(errno));
		return false;
	}
	const unsigned long long mib =
	    (unsigned long long)info.f_bavail * info.f_frsize / (1024 * 1024);
	const bool enough = mib >= 4;
	tp_doctor_show(enough ? "ok" : "missing", "memory", "/dev/shm has %llu MiB free%s", mib,
	    mib >= 128 ? "" : "; long recordings of busy programs need 128 or more");
	return enough;
}

static void check_clock(void)
{
	struct tp_err err;
	uint32_t clock = TEEPERF_CLOCK_NONE;
	tp_clock_choose(TP_CLOCK_CHOICE_AUTO, &clock, &err);
	if (tp_clock_has_steady_counter())
		tp_doctor_show("ok", "clock", "%s, steady on all cores", teeperf_clock_name(clock));
	else
		tp_doctor_show(
		    "-", "clock", "the processor's counter is not steady: the soft clock is used");
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	const int cores = CPU_COUNT(&allowed);
	tp_doctor_show(cores > 1 ? "ok" : "-", "cores", "%d usable%s", cores,
	    cores > 1 ? "" : ": the soft clock has no core of its own and is coarse");
}

static int run(int argc, char **argv)
{
	if (argc > 1)
		return tp_options_usage("only one program at a time");
	if (root) {
		tp_doctor_tees(root);
		return TP_EXIT_DONE;
	}
	struct tp_err err;
	bool good = true;
	if (tp_doctor_build(&good, &err))
		return tp_command_fail(&err);
	good = check_memory() && good;
	check_clock();
	tp_doctor_tees("");
	if (argc)
		good = tp_doctor_program(argv[0]) && good;
	return good ? TP_EXIT_DONE : TP_EXIT_FAILED;
}

const struct tp_command tp_cmd_doctor = {
    .name = "doctor",
    .summary = "check whether this machine and a program are ready for recording",
    .usage = "[options] [PROGRAM]",
    .description =
	"Checks for a clang that loads the plugin, the runtime library, "
	"shared memory for the log,\n"
	"a clock, and TEEs: those of this machine, and the one in which this command runs, "
	"with its\n"
	"permitted clock and the way to get a log out. With PROGRAM, also checks whether it is\n"
	"instrumented for this version, and where the names of its functions come from. Each line\n"
	"says how to fix a problem. Exits with 1 if something required is missing. If teeperf has\n"
	"neither plugin nor runtime beside it, it only records: this machine is a target.\n",
    .examples = "teeperf doctor\nteeperf doctor ./server\n",
    .options = options,
    .run = run,
};
