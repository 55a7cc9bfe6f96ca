// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The terminal: how wide it is, whether it has colour, and the pager.
#define _GNU_SOURCE
#include "terminal.h"

#include "common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
const char *const tp_color_words[] = {"auto", "always", "never", NULL};
struct tp_terminal_options tp_terminal_options;

static struct {
	pid_t pid; // 0: none runs
	uint32_t width;
	int status; // if who reads it leaves
} pager;

uint32_t tp_terminal_width(void)
{
	struct winsize size;
	if (pager.pid)
		return pager.width;
	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return 80;
}

bool tp_terminal_utf8(void)
{
	const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	if (!locale) // it is not installed: "C" is used then
		return false;
	const bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return utf8;
}

static bool is_dumb(void)
{
	const char *terminal = getenv("TERM");
	return terminal && !strcmp(terminal, "dumb");
}

bool tp_terminal_color(void)
{
	if (tp_terminal_options.color != COLOR_AUTO)
		return tp_terminal_options.color == COLOR_ALWAYS;
	const char *unwanted = getenv("NO_COLOR");
	return (pager.pid || isatty(STDOUT_FILENO)) && !(unwanted && *unwanted) && !is_dumb();
}

// The pager's command line, NULL if none is wanted or there.
static const char *command_of(void)
{
	char path[PATH_MAX];
	const char *command = getenv("TEEPERF_PAGER");
	if (!command)
		command = getenv("PAGER");
	const char *words = command ? command : "less";
	if (!*words || !strcmp(words, "cat"))
		return NULL;
	char name[PATH_MAX];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(words, " \t"), words);
	if (strpbrk(name, "$'\"\\|&;<>()`*?~=") || tp_find_program(name, path))
		return words;
	if (command)
		fprintf(stderr,
		    "teeperf: warning: the pager '%s' does not exist: set TEEPERF_PAGER or PAGER\n",
		    name);
	return NULL;
}

// Who reads has seen enough.
static void left(int signal)
{
	(void)signal;
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
	_exit(pager.status);
}

static void run_pager(const char *command, int input)
{
	dup2(input, STDIN_FILENO);
	// One screen is shown as it is; colour passes; the screen stays as it was left.
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void tp_pager_start(int status)
{
	int ends[2];
	if (pager.pid || tp_terminal_options.no_pager || !isatty(STDOUT_FILENO) || is_dumb())
		return;
	const char *command = command_of();
	const uint32_t width = tp_terminal_width();
	if (!command || fflush(stdout) || pipe2(ends, O_CLOEXEC))
		return;
	const pid_t pid = fork();
	if (pid == 0)
		run_pager(command, ends[0]);
	close(ends[0]);
	if (pid > 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO) {
		pager.pid = pid;
		pager.width = width;
		pager.status = status;
		signal(SIGPIPE, left);
		// They are for the pager, which is in front.
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	close(ends[1]);
}

void tp_pager_end(void)
{
	if (!pager.pid)
		return;
	close(STDOUT_FILENO);
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager.pid = 0;
}
