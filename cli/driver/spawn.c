// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the compiler as a child that looks, to whoever started us, as if it had replaced us.
#define _GNU_SOURCE
#include "driver.h"

#include "common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child;

static void forward(int number)
{
	const int saved = errno;
	if (child > 0)
		kill((pid_t)child, number);
	errno = saved;
}

// Signals that a terminal sends reach the child anyway; the others are sent to one process.
static const int from_terminal[] = {SIGINT, SIGQUIT};
static const int to_one[] = {SIGTERM, SIGHUP};
enum { EACH = 2 };

struct signals {
	struct sigaction terminal[EACH];
	struct sigaction one[EACH];
};

static void take_signals(struct signals *old)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction pass = {.sa_handler = forward, .sa_flags = SA_RESTART};
	for (int i = 0; i < EACH; i++) {
		sigaction(from_terminal[i], &ignore, &old->terminal[i]);
		sigaction(to_one[i], NULL, &old->one[i]);
		if (old->one[i].sa_handler != SIG_IGN)
			sigaction(to_one[i], &pass, NULL);
	}
}

static void give_signals_back(const struct signals *old)
{
	for (int i = 0; i < EACH; i++) {
		sigaction(from_terminal[i], &old->terminal[i], NULL);
		sigaction(to_one[i], &old->one[i], NULL);
	}
}

struct compiler {
	const char *program;
	char **argv;
	const struct signals *old;
	sigset_t mask;
	pid_t parent;
};

static void become(const void *context)
{
	const struct compiler *compiler = context;
	give_signals_back(compiler->old);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, &compiler->mask, NULL);
	if (getppid() == compiler->parent)
		execv(compiler->program, compiler->argv);
}

int tp_driver_spawn(const char *program, char **argv, struct tp_err *err)
{
	struct signals old;
	struct compiler compiler = {
	    .program = program, .argv = argv, .old = &old, .parent = getpid()};
	sigset_t block;
	sigemptyset(&block);
	for (int i = 0; i < EACH; i++)
		sigaddset(&block, to_one[i]);
	sigprocmask(SIG_BLOCK, &block, &compiler.mask); // until the child is known to the handler
	take_signals(&old);
	pid_t pid = 0;
	const int error = tp_process_start(&pid, become, &compiler);
	child = error ? 0 : pid;
	sigprocmask(SIG_SETMASK, &compiler.mask, NULL);
	const int status = error ? 0 : tp_process_wait(pid);
	child = 0;
	give_signals_back(&old);
	if (error)
		return tp_err_system(err, error, program, "cannot run the compiler"), -1;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}
