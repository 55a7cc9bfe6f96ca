// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds libclang, and reads all sources of a compile_commands.json, each in a process of its own,
// so that one that crashes libclang costs its functions and no more; several at once.
#define _GNU_SOURCE

#include "common/process.h"
#include "common/read_all.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "from_source_clang.h"

/* ---- libclang ---- */

enum { FIRST_MAJOR = 14, LAST_MAJOR = 40 };

// Where a major's libclang may be: Debian and Ubuntu, LLVM's own packages, and others.
static const char *const patterns[] = {
    "libclang-%u.so.1",
    "libclang-%u.so.%u",
    "/usr/lib/llvm-%u/lib/libclang.so.1",
    "/usr/lib/llvm-%u/lib/libclang.so.%u",
    "libclang.so.%u",
};

static bool open_major(struct tp_clang *clang, uint32_t major)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(clang->name, sizeof(clang->name), patterns[i], major, major);
#pragma GCC diagnostic pop
		clang->library = dlopen(clang->name, RTLD_NOW | RTLD_LOCAL);
		if (clang->library)
			return true;
	}
	return false;
}

static int find(struct tp_clang *clang, const char *name, void *function, struct tp_err *err)
{
	void *const found = dlsym(clang->library, name);
	memcpy(function, &found, sizeof(found)); // a pointer to a function, as POSIX has it
	if (found)
		return 0;
	return tp_err_set(err, TP_ERR_VERSION, clang->name,
	    "it has no function '%s': libclang of LLVM %d or newer is needed", name, FIRST_MAJOR);
}

static int open_clang(struct tp_clang *clang, struct tp_err *err)
{
	memset(clang, 0, sizeof(*clang));
	uint32_t major = LAST_MAJOR;
	while (major >= FIRST_MAJOR && !open_major(clang, major))
		major--;
	if (!clang->library)
		return tp_err_set(
		    err, TP_ERR_NOT_FOUND, NULL, "cannot find libclang: install libclang1-19");
	int status = 0;
#define FIND(type, member, parameters) \
	if (!status)                   \
		status = find(clang, "clang_" #member, &clang->member, err);
	TP_CLANG_FUNCTIONS(FIND)
#undef FIND
	return status;
}

/* ---- processes ---- */

enum { JOBS_MAX = 64 };

struct project;

// The process of a file.
struct job {
	struct tp_process process;
	const struct project *project;
	void *command;
};

struct project {
	struct tp_clang clang;
	const struct tp_from_source_options *options;
	struct tp_from_source_counts counts;
	struct tp_inventory_builder builder;
	struct tp_err *err;
	struct job jobs[JOBS_MAX]; // file N's, if it runs, is N modulo job_count
	uint32_t job_count;
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
	tp_from_source_read(&project->clang, job->command, &report, &text);
	const bool sent = !text.failed && tp_write_all(fd, &report, sizeof(report)) &&
			  tp_write_all(fd, text.data, report.text_size);
	return !sent;
}

static int start(struct project *project, struct job *job, void *command)
{
	fflush(NULL);
	*job = (struct job){.project = project, .command = command};
	const int error = tp_process_fork(&job->process, serve, job);
	return error ? tp_err_system(project->err, error, NULL, "cannot start a process") : 0;
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

// Take over what a process reported; nothing if it did not finish.
static int take_over(
    struct project *project, const struct job *job, const struct tp_buf *got, int status)
{
	struct tp_from_source_report report = {0};
	if (got->failed)
		return tp_err_memory(project->err, NULL);
	if (got->size >= sizeof(report))
		memcpy(&report, got->data, sizeof(report));
	if (!WIFEXITED(status) || WEXITSTATUS(status) || got->size < sizeof(report) ||
	    report.text_size != got->size - sizeof(report)) {
		char text[64];
		snprintf(text, sizeof(text), "libclang crashed (%s)",
		    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended early");
		warn(project, job->command, text);
		project->counts.lost++;
		return 0;
	}
	add_counts(&project->counts, &report.counts);
	if (report.error[0])
		warn(project, job->command, report.error);
	char *text = tp_arena_copy(
	    &project->builder.inventory->arena, got->data + sizeof(report), report.text_size);
	if (!text)
		return tp_err_memory(project->err, NULL);
	return tp_inventory_parse(
	    &project->builder, text, report.text_size, project->clang.name, "", project->err);
}

static int finish(struct project *project, struct job *job)
{
	struct tp_buf got;
	int status;
	tp_buf_init(&got);
	tp_process_take(&job->process, UINT64_MAX, &got, &status);
	const int code = take_over(project, job, &got, status);
	tp_buf_release(&got);
	return code;
}

// In the order of the files: those behind the one that is waited for go on meanwhile.
static int read_all(struct project *project, void *commands)
{
	const uint32_t count = project->clang.CompileCommands_getSize(commands);
	uint32_t started = 0;
	uint32_t ended = 0;
	int code = 0;
	project->counts.files = count;
	while (!code && ended < count) {
		if (started < count && started - ended < project->job_count) {
			code = start(project, &project->jobs[started % project->job_count],
			    project->clang.CompileCommands_getCommand(commands, started));
			started += !code;
		} else {
			code = finish(project, &project->jobs[ended++ % project->job_count]);
		}
	}
	for (; ended < started; ended++)
		tp_process_kill(&project->jobs[ended % project->job_count].process);
	return code;
}

// The folder of a compile_commands.json, to be freed; *code is set if there is none.
static char *find_folder(const char *commands, int *code, struct tp_err *err)
{
	static const char name[] = "compile_commands.json";
	char *folder = strdup(commands);
	char *file = NULL;
	if (folder && !strcmp(basename(folder), name)) {
		char *const last = folder + strlen(folder) - strlen(name);
		strcpy(last, last == folder ? "." : "");
	}
	if (!folder || asprintf(&file, "%s/%s", folder, name) < 0) {
		free(folder);
		*code = tp_err_memory(err, commands);
		return NULL;
	}
	*code =
	    access(file, R_OK)
		? tp_err_set(err, TP_ERR_NOT_FOUND, file,
		      "cannot be read: configure with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, "
		      "or build once with 'bear -- make'")
		: 0;
	free(file);
	return folder;
}

static uint32_t job_count(void)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	return processors < 1 ? 1 : processors < JOBS_MAX ? (uint32_t)processors : JOBS_MAX;
}

int tp_inventory_from_source(struct tp_inventory *inventory, const char *commands,
    const struct tp_from_source_options *options, struct tp_err *err)
{
	struct project *project = calloc(1, sizeof(*project));
	*inventory = (struct tp_inventory){0};
	if (!project)
		return tp_err_memory(err, NULL);
	project->options = options;
	project->err = err;
	project->job_count = job_count();
	tp_inventory_builder_init(&project->builder, inventory);
	int code;
	char *folder = find_folder(commands, &code, err);
	if (!code)
		code = open_clang(&project->clang, err);
	if (!code) {
		unsigned error = 0;
		void *database = project->clang.CompilationDatabase_fromDirectory(folder, &error);
		void *list =
		    database && !error
			? project->clang.CompilationDatabase_getAllCompileCommands(database)
			: NULL;
		code = list ? read_all(project, list)
			    : tp_err_set(err, TP_ERR_FORMAT, commands,
				  "libclang cannot read its compile_commands.json");
	}
	if (!code && project->counts.files && project->counts.lost == project->counts.files)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, commands,
		    "none of its %llu files could be read",
		    (unsigned long long)project->counts.files);
	if (!code)
		code = tp_inventory_merge(&project->builder, err);
	if (options->counts)
		*options->counts = project->counts;
	tp_inventory_builder_release(&project->builder);
	if (project->clang.library)
		dlclose(project->clang.library);
	free(folder);
	free(project);
	if (code)
		tp_inventory_release(inventory);
	return code;
}
