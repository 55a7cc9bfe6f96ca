// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs debuginfod-find, which knows the servers, keeps what it fetched, and gives up by itself.
#include "fetch.h"

#include "common/process.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "debuginfod-find"

extern char **environ;

static int run(const char *id, char *path, size_t size, struct tp_err *err)
{
	const char *const arguments[] = {COMMAND, "debuginfo", id, NULL};
	struct tp_buf said;
	int status = 0;
	tp_buf_init(&said);
	const int failed =
	    tp_process_run(&(struct tp_program){.argv = arguments, .output = &said}, &status);
	// The path is the first line of what it says.
	const char *end = strchr(said.data, '\n');
	const bool got = said.data[0] == '/' && end && (size_t)(end - said.data) < size;
	if (got)
		snprintf(path, size, "%.*s", (int)(end - said.data), said.data);
	tp_buf_release(&said);
	if (failed == ENOENT)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "--debuginfod: there is no '" COMMAND "': install Debian's package "
		    "debuginfod");
	if (failed)
		return tp_err_system(err, failed, NULL, "--debuginfod: cannot run '" COMMAND "'");
	if (got && status == 0)
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
	    "--debuginfod: no server in DEBUGINFOD_URLS has the debug file of build ID %s", id);
}

int tp_symbol_fetch(
    const uint8_t *build_id, uint32_t build_id_size, char *path, size_t size, struct tp_err *err)
{
	char id[2 * 64 + 1] = "";
	const char *servers = getenv("DEBUGINFOD_URLS");
	if (!servers || !servers[0])
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "--debuginfod: no server is named; set DEBUGINFOD_URLS");
	if (build_id_size < 2 || build_id_size > 64)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "--debuginfod: it has no build ID, by which a server could tell it");
	for (uint32_t i = 0; i < build_id_size; i++)
		snprintf(id + (size_t)2 * i, 3, "%02x", build_id[i]);
	return run(id, path, size, err);
}
