// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `ccache teeperf cc`: what an object depends on is also in the environment, in lists and in the
// plugin, of which ccache knows nothing.
#define _GNU_SOURCE
#include "driver.h"

#include <teeperf/abi.h>

#include "common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * ccache has two ways to an object. It looks for the text that the preprocessor writes (-E), to
 * which we add the settings. Before that it looks for the files that this text names ("direct
 * mode"), which would find an object of other settings; it does not take this way where a file is
 * named that is none: /dev/null. Rejected: a file of settings given with -include, which ccache
 * looks at only where it has been written before ccache starts; CCACHE_EXTRAFILES, which has to be
 * set before, too.
 */

bool tp_driver_ccache(char path[TP_DRIVER_PATH_SIZE])
{
	static const char name[] = "ccache";
	char link[64];
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)getppid());
	const ssize_t length = readlink(link, path, TP_DRIVER_PATH_SIZE - 1);
	if (length < 0)
		return false;
	path[length] = '\0';
	const char *slash = strrchr(path, '/');
	return slash && strncmp(slash + 1, name, sizeof(name) - 1) == 0;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
	return teeperf_hash_bytes(hash, text, strlen(text) + 1);
}

static int add_file(uint64_t *hash, const char *path, struct tp_err *err)
{
	char block[16384];
	size_t size;
	FILE *file = fopen(path, "re");
	if (!file)
		return tp_err_system(err, errno, path, "cannot read it");
	while ((size = fread(block, 1, sizeof(block), file)))
		*hash = teeperf_hash_bytes(*hash, block, size);
	const bool failed = ferror(file) != 0;
	fclose(file);
	return failed ? tp_err_system(err, errno, path, "cannot read it") : 0;
}

// As ccache itself does with compilers.
static void add_tool(uint64_t *hash, const char *path)
{
	struct stat info = {0};
	*hash = add_text(*hash, path);
	if (stat(path, &info))
		return;
	const uint64_t facts[] = {
	    (uint64_t)info.st_size, (uint64_t)info.st_mtim.tv_sec, (uint64_t)info.st_mtim.tv_nsec};
	*hash = teeperf_hash_bytes(*hash, facts, sizeof(facts));
}

static int add_lists(uint64_t *hash, const char *paths, struct tp_err *err)
{
	char *text = strdup(paths);
	if (!text)
		return tp_err_memory(err, NULL);
	int status = 0;
	char *rest;
	for (char *path = strtok_r(text, ":", &rest); path && !status;
	     path = strtok_r(NULL, ":", &rest))
		status = add_file(hash, path, err);
	free(text);
	return status;
}

static int hash_settings(uint64_t *hash, const char *const *tools, struct tp_err *err)
{
	static const char *const variables[] = {
#define OF_DRIVER(variable)
#define OF_PASS(variable) variable,
#define OF_PLUGIN(variable) variable,
#define TP_CC_OPTION(id, name, reader, value, variable, ...) OF_##reader(variable)
#include "cc_options.def"
#undef TP_CC_OPTION
	};
	*hash = TEEPERF_HASH_START;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);
		*hash = add_text(add_text(*hash, variables[i]), value ? value : "");
	}
	for (; *tools; tools++)
		add_tool(hash, *tools);
	const char *lists = getenv("TEEPERF_ALLOWLIST");
	return lists ? add_lists(hash, lists, err) : 0;
}

int tp_driver_ccache_text(int argc, char *const *argv, const char *const *tools)
{
	struct tp_err err;
	struct tp_driver_inputs inputs;
	const char *folder = getenv("TEEPERF_INVENTORY");
	uint64_t hash = 0;
	// ccache then compiles, and keeps nothing.
	if (folder && *folder == '/')
		return tp_command_refuse(TP_ERR_SYNTAX, NULL,
		    "--inventory with a folder writes files that ccache does not keep");
	if (hash_settings(&hash, tools, &err))
		return tp_command_fail(&err);
	tp_driver_inputs_read(&inputs, argc, argv);
	const bool to_file = strcmp(inputs.output, "a.out") && strcmp(inputs.output, "-");
	FILE *file = to_file ? fopen(inputs.output, "ae") : stdout;
	int status = 0;
	if (file)
		fprintf(file, "\n# 1 \"/dev/null\"\n# 1 \"<teeperf %016" PRIx64 ">\"\n", hash);
	if (!file || fflush(file) || ferror(file)) {
		tp_err_system(&err, errno, inputs.output, "cannot write the settings for ccache");
		status = tp_command_fail(&err);
	}
	if (file && to_file)
		fclose(file);
	tp_driver_inputs_release(&inputs);
	return status;
}

// Whether ccache takes an object's dependencies from the compiler and never asks for a text.
static bool depends_only(const char *path)
{
	const char *const argv[] = {path, "--get-config", "depend_mode", NULL};
	struct tp_buf answer;
	int status = 0;
	tp_buf_init(&answer);
	tp_process_run(&(struct tp_program){.argv = argv, .output = &answer}, &status);
	const bool depends = strncmp(answer.data, "true", 4) == 0;
	tp_buf_release(&answer);
	return depends;
}

int tp_driver_ccache_refuse(const char *path, const struct tp_driver_plan *plan)
{
	if (depends_only(path))
		return tp_command_refuse(TP_ERR_SYNTAX, NULL,
		    "ccache is in its depend mode, in which it would hand out objects of another "
		    "level or list: set CCACHE_NODEPEND=1, or compile without ccache");
	if (plan->preprocessed)
		return tp_command_refuse(TP_ERR_SYNTAX, NULL,
		    "ccache does not ask what preprocessed source depends on besides, and would "
		    "hand out objects of another level or list: unset CCACHE_NOCPP2, or compile "
		    "with CCACHE_DISABLE=1");
	return 0;
}
