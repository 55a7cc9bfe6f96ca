// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run a command and write what it cost, as one line:
//
//   wall_ns user_ns system_ns resident_kib minor_faults major_faults status
//
// Times and faults include those of descendants that were waited for; resident_kib is the largest
// of any of them. Nests: the inner one measures the program, the outer one the tool that runs it
// too.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRONG_USAGE = 129, NOT_STARTED = 127, TIMED_OUT = 124 };

static pid_t child;
static volatile sig_atomic_t ended_by; // the signal for which we ended it

// End its whole group: the tool, and the program that the tool runs.
static void on_signal(int number)
{
	ended_by = number;
	kill(-child, SIGKILL);
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t to_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

// Stay on the first core that is allowed: a recorder that has taken one for itself has already
// removed it from the set, and every variant gets the same.
static void pin(void)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	for (size_t i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &allowed))
			continue;
		CPU_ZERO(&allowed);
		CPU_SET(i, &allowed);
		sched_setaffinity(0, sizeof(allowed), &allowed);
		return;
	}
}

static int usage(void)
{
	fputs("usage: measure [-p] [-g] [-t SECONDS] -o FILE -- COMMAND [ARGS...]\n"
	      "  -p          keep COMMAND on one core\n"
	      "  -g          give it a process group of its own\n"
	      "  -t SECONDS  kill it and all of its group after so long (with -g)\n"
	      "  -o FILE     add the line to FILE\n",
	    stderr);
	return WRONG_USAGE;
}

int main(int argc, char **argv)
{
	const char *output = NULL;
	unsigned long seconds = 0;
	int pinned = 0;
	int group = 0;
	int option;
	while ((option = getopt(argc, argv, "+pgt:o:")) != -1) {
		switch (option) {
		case 'p':
			pinned = 1;
			break;
		case 'g':
			group = 1;
			break;
		case 't':
			seconds = strtoul(optarg, NULL, 10);
			break;
		case 'o':
			output = optarg;
			break;
		default:
			return usage();
		}
	}
	if (!output || optind == argc || (seconds && !group))
		return usage();

	const uint64_t start = monotonic_ns();
	child = fork();
	if (child < 0) {
		fprintf(stderr, "measure: cannot start a process: %s\n", strerror(errno));
		return NOT_STARTED;
	}
	if (child == 0) {
		if (group)
			setpgid(0, 0);
		if (pinned)
			pin();
		execvp(argv[optind], argv + optind);
		fprintf(stderr, "measure: cannot run '%s': %s\n", argv[optind], strerror(errno));
		_exit(NOT_STARTED);
	}
	if (group) {
		// Signals of the keyboard no longer reach it by themselves.
		static const int signals[] = {SIGALRM, SIGINT, SIGTERM, SIGHUP};
		const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
		setpgid(child, child);
		for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
			sigaction(signals[i], &action, NULL);
		alarm((unsigned)seconds);
	}
	int status;
	struct rusage used;
	while (wait4(child, &status, 0, &used) < 0) {
		if (errno != EINTR) {
			fprintf(stderr, "measure: cannot wait: %s\n", strerror(errno));
			return NOT_STARTED;
		}
	}
	const uint64_t wall = monotonic_ns() - start;
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (ended_by)
		code = ended_by == SIGALRM ? TIMED_OUT : 128 + ended_by;

	FILE *file = fopen(output, "a");
	if (!file ||
	    fprintf(file, "%llu %llu %llu %ld %ld %ld %d\n", (unsigned long long)wall,
		(unsigned long long)to_ns(used.ru_utime), (unsigned long long)to_ns(used.ru_stime),
		used.ru_maxrss, used.ru_minflt, used.ru_majflt, code) < 0 ||
	    fclose(file)) {
		fprintf(stderr, "measure: cannot write '%s': %s\n", output, strerror(errno));
		return NOT_STARTED;
	}
	return code;
}
