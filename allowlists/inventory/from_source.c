// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads all sources of a compile_commands.json, each in a process of its own, so that one that
// crashes libclang costs its functions and no more; several at once.
#define _GNU_SOURCE
#include "from_source.h"

#include "common/process.h"
#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "from_source_read.h"
#include "text.h"

enum { JOBS_MAX = 64 };

struct project;

// A process and what it has sent so far.
struct job {
	struct tp_process process; // pid 0: none
	const struct project *project;
	void *command;
	struct tp_buf got;
};

struct project {
	struct tp_clang clang;
	const struct tp_from_source_options *options;
	struct tp_from_source_counts counts;
	struct tp_inventory_builder builder;
	struct tp_err *err;
	struct job jobs[JOBS_MAX];
	uint32_t job_count;
	uint32_t running;
};

static void warn(const struct project *project, void *command, const char *text)
{
	if (!project->options->warn)
		return;
	const struct tp_clang *clang = &project->clang;
	const tp_clang_string file = clang->CompileCommand_getFilename(command);
	project->options->warn(project->options->context, clang->getCString(file), text);
	clang->disposeString(file);
}

// What the process of a file does.
static int serve(void *context, int fd)
{
	const struct job *job = context;
	const struct project *project = job->project;
	struct tp_from_source_report report;
	struct tp_buf text;
	tp_buf_init(&text);
	// Whatever libclang prints is not the command's.
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	tp_from_source_read(
	    &project->clang, job->command, project->options->system, &report, &text);
	const bool sent = !text.failed && tp_write_all(fd, &report, sizeof(report)) &&
			  tp_write_all(fd, text.data, report.text_size);
	return !sent;
}

static int start(struct project *project, void *command)
{
	fflush(NULL);
	struct job *job = project->jobs;
	while (job->process.pid)
		job++;
	*job = (struct job){.project = project, .command = command};
	tp_buf_init(&job->got);
	const int error = tp_process_fork(&job->process, serve, job);
	if (error)
		return tp_err_system(project->err, error, NULL, "cannot start a process");
	project->running++;
	return 0;
}

static void add_counts(
    struct tp_from_source_counts *sum, const struct tp_from_source_counts *counts)
{
	sum->lost += counts->lost;
	sum->erroneous += counts->erroneous;
	sum->functions += counts->functions;
	sum->templates += counts->templates;
	sum->lambdas += counts->lambdas;
	sum->implied += counts->implied;
	sum->system += counts->system;
}

// Take over what a process that has ended said; not at all if it did not come to its end.
static int take(struct project *project, const struct job *job, int status)
{
	struct tp_from_source_report report = {0};
	const struct tp_buf *got = &job->got;
	if (got->size >= sizeof(report))
		memcpy(&report, got->data, sizeof(report));
	if (!WIFEXITED(status) || WEXITSTATUS(status) || got->size < sizeof(report) ||
	    report.text_size != got->size - sizeof(report)) {
		char text[64];
		snprintf(text, sizeof(text), "libclang crashed (%s)",
		    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended early");
		warn(project, job->command, text);
		project->counts.lost++;
		return got->failed ? tp_err_set(project->err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
					 "no memory for the inventory")
				   : 0;
	}
	add_counts(&project->counts, &report.counts);
	if (report.error[0])
		warn(project, job->command, report.error);
	char *text = tp_arena_copy(
	    &project->builder.inventory->arena, got->data + sizeof(report), report.text_size);
	if (!text)
		return tp_err_set(project->err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
		    "no memory for the inventory");
	return tp_inventory_parse(
	    &project->builder, text, report.text_size, project->clang.name, "", project->err);
}

static int finish(struct project *project, struct job *job)
{
	const int code = take(project, job, tp_process_wait(job->process.pid));
	close(job->process.fd);
	tp_buf_release(&job->got);
	job->process.pid = 0;
	project->running--;
	return code;
}

// Wait for some process to say something, and finish those that have said all.
static int pump(struct project *project)
{
	struct pollfd fds[JOBS_MAX];
	for (uint32_t i = 0; i < project->job_count; i++)
		fds[i] = (struct pollfd){
		    .fd = project->jobs[i].process.pid ? project->jobs[i].process.fd : -1,
		    .events = POLLIN};
	if (poll(fds, project->job_count, -1) < 0)
		return errno == EINTR ? 0 : tp_err_system(project->err, errno, NULL, "cannot wait");
	int code = 0;
	for (uint32_t i = 0; !code && i < project->job_count; i++) {
		char block[65536];
		if (!(fds[i].revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		const ssize_t got = read(fds[i].fd, block, sizeof(block));
		if (got > 0)
			tp_buf_add(&project->jobs[i].got, block, (size_t)got);
		else if (got == 0 || errno != EINTR)
			code = finish(project, &project->jobs[i]);
	}
	return code;
}

static int read_all(struct project *project, void *commands)
{
	const uint32_t count = project->clang.CompileCommands_getSize(commands);
	int code = 0;
	project->counts.files = count;
	for (uint32_t next = 0; !code && (next < count || project->running);) {
		if (next < count && project->running < project->job_count)
			code = start(
			    project, project->clang.CompileCommands_getCommand(commands, next++));
		else
			code = pump(project);
	}
	for (uint32_t i = 0; i < project->job_count; i++) {
		struct job *job = &project->jobs[i];
		if (!job->process.pid)
			continue;
		tp_process_kill(&job->process);
		tp_buf_release(&job->got);
	}
	return code;
}

// The folder of a compile_commands.json, to be freed; *code is set if there is none.
static char *find_folder(const char *commands, int *code, struct tp_err *err)
{
	static const char name[] = "compile_commands.json";
	const size_t length = strlen(commands);
	const size_t size = sizeof(name) - 1;
	char *folder = NULL;
	if (length >= size && !strcmp(commands + length - size, name) &&
	    (length == size || commands[length - size - 1] == '/'))
		folder = length == size ? strdup(".") : strndup(commands, length - size);
	else
		folder = strdup(commands);
	char *file = NULL;
	*code = 0;
	if (!folder || asprintf(&file, "%s/%s", folder, name) < 0) {
		free(folder);
		*code = tp_err_set(err, TP_ERR_MEMORY, commands, TP_ERR_NO_OFFSET, "out of memory");
		return NULL;
	}
	if (access(file, R_OK))
		*code = tp_err_set(err, TP_ERR_NOT_FOUND, file, TP_ERR_NO_OFFSET,
		    "cannot be read: configure with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or build "
		    "once with 'bear -- make'");
	free(file);
	return folder;
}

static uint32_t job_count(uint32_t wanted)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	if (!wanted)
		wanted = processors > 0 ? (uint32_t)processors : 1;
	return wanted < JOBS_MAX ? wanted : JOBS_MAX;
}

int tp_inventory_from_source(struct tp_inventory *inventory, const char *commands,
    const struct tp_from_source_options *options, struct tp_err *err)
{
	struct project *project = calloc(1, sizeof(*project));
	*inventory = (struct tp_inventory){0};
	if (!project)
		return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
	project->options = options;
	project->err = err;
	project->job_count = job_count(options->jobs);
	tp_inventory_builder_init(&project->builder, inventory);
	int code;
	char *folder = find_folder(commands, &code, err);
	if (!code)
		code = tp_clang_open(&project->clang, options->major, err);
	if (!code) {
		unsigned error = 0;
		void *database = project->clang.CompilationDatabase_fromDirectory(folder, &error);
		void *list =
		    database && !error
			? project->clang.CompilationDatabase_getAllCompileCommands(database)
			: NULL;
		code = list ? read_all(project, list)
			    : tp_err_set(err, TP_ERR_FORMAT, commands, TP_ERR_NO_OFFSET,
				  "libclang cannot read its compile_commands.json");
	}
	if (!code && project->counts.files && project->counts.lost == project->counts.files)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, commands, TP_ERR_NO_OFFSET,
		    "none of its %llu files could be read",
		    (unsigned long long)project->counts.files);
	if (!code)
		code = tp_inventory_merge(&project->builder, err);
	if (options->counts)
		*options->counts = project->counts;
	tp_inventory_builder_release(&project->builder);
	tp_clang_close(&project->clang);
	free(folder);
	free(project);
	if (code)
		tp_inventory_release(inventory);
	return code;
}
