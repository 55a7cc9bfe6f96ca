// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading, converting and writing lists for the commands; where the shipped ones are.
#define _GNU_SOURCE
#include "list_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/out_file.h"
#include "common/read_all.h"

static const char shipped[] = "shipped:";

int tp_shipped_folder(char path[TP_DRIVER_PATH_SIZE], struct tp_err *err)
{
	const int status = tp_driver_libraries(path, err);
	if (status)
		return status;
	static const char folder[] = "share/teeperf/allowlists";
	const size_t prefix = strlen(path) - strlen("lib");
	if (prefix + sizeof(folder) > TP_DRIVER_PATH_SIZE)
		return tp_err_set(err, TP_ERR_LIMIT, path, "my path is too long");
	memcpy(path + prefix, folder, sizeof(folder));
	return 0;
}

int tp_list_file_path(const char *name, char path[TP_DRIVER_PATH_SIZE], struct tp_err *err)
{
	if (strncmp(name, shipped, strlen(shipped)) != 0) {
		const size_t size = strlen(name) + 1;
		if (size > TP_DRIVER_PATH_SIZE)
			return tp_err_set(err, TP_ERR_LIMIT, name, "the path is too long");
		memcpy(path, name, size);
		return 0;
	}
	const char *word = name + strlen(shipped);
	const int status = tp_shipped_folder(path, err);
	if (status)
		return status;
	const size_t size = strlen(path);
	const int added = snprintf(path + size, TP_DRIVER_PATH_SIZE - size, "/%s.allow", word);
	if (!*word || strchr(word, '/') || (size_t)added >= TP_DRIVER_PATH_SIZE - size ||
	    access(path, R_OK) != 0) {
		path[size] = '\0';
		return tp_err_set(err, TP_ERR_NOT_FOUND, name,
		    "no such list is shipped in %s; 'teeperf allowlist list' shows them", path);
	}
	return 0;
}

int tp_list_files_resolve(const char *const *names, uint32_t count, const char *from,
    struct tp_buf *paths, struct tp_err *err)
{
	for (uint32_t i = 0; i < count; i++) {
		char path[TP_DRIVER_PATH_SIZE];
		const int status = tp_list_file_path(names[i], path, err);
		if (status)
			return status;
		char *real = realpath(path, NULL);
		if (!real || access(real, R_OK)) {
			free(real);
			return tp_err_system(
			    err, errno, path, "cannot read the allowlist (from %s)", from);
		}
		if (strchr(real, ':')) {
			free(real);
			return tp_err_set(err, TP_ERR_LIMIT, path,
			    "a list whose path contains ':' cannot be passed to the compiler");
		}
		tp_buf_addf(paths, "%s%s", paths->size ? ":" : "", real);
		free(real);
	}
	return paths->failed ? tp_err_memory(err, NULL) : 0;
}

// The ':' of "shipped:NAME" parts nothing.
int tp_list_files_resolve_joined(
    const char *names, const char *from, struct tp_buf *paths, struct tp_err *err)
{
	int status = 0;
	while (!status && *names) {
		size_t size = strcspn(names, ":");
		if (names[size] && size + 1 == strlen(shipped) &&
		    !strncmp(names, shipped, size + 1))
			size += 1 + strcspn(names + size + 1, ":");
		char *name = strndup(names, size);
		if (!name)
			return tp_err_memory(err, NULL);
		const char *const one = name;
		if (size)
			status = tp_list_files_resolve(&one, 1, from, paths, err);
		free(name);
		names += size + (names[size] == ':');
	}
	return status;
}

enum { LIST_BYTES_MAX = 64 << 20 };

int tp_list_file_read(const char *name, struct tp_buf *buf, struct tp_err *err)
{
	if (!strcmp(name, "-"))
		return tp_read_all(
		    buf, STDIN_FILENO, "standard input", "the list", LIST_BYTES_MAX, err);
	char path[TP_DRIVER_PATH_SIZE];
	int status = tp_list_file_path(name, path, err);
	if (status)
		return status;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tp_err_system(err, errno, path, "cannot open the list");
	status = tp_read_all(buf, fd, path, "the list", LIST_BYTES_MAX, err);
	close(fd);
	return status;
}

int tp_list_file_write(const char *out, const struct tp_buf *buf, struct tp_err *err)
{
	if (out) {
		struct tp_out_file file;
		const int code = tp_out_file_replace(&file, out, err);
		if (code)
			return code;
		tp_buf_add(&file.buf, buf->data, buf->size);
		return tp_out_file_close(&file, err);
	}
	fwrite(buf->data, 1, buf->size, stdout);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	const int error = errno;
	tp_command_drop_output();
	return tp_err_system(err, error, "standard output", "cannot write the list");
}

// Reports a loss on stderr, as FILE:LINE: warning: TEXT.
static void warn(const char *file, uint32_t line, const char *text)
{
	if (line)
		fprintf(stderr, "%s:%u: warning: %s\n", file, line, text);
	else
		fprintf(stderr, "%s: warning: %s\n", file, text);
}

// The format NAME if it can be read, or written; else NULL, and wrong usage has been reported.
static const struct tp_list_format *choose(const char *name, bool write)
{
	const struct tp_list_format *found = name ? tp_list_format_find(name) : NULL;
	if (found && (write ? found->write != NULL : found->read != NULL))
		return found;
	char known[256] = "";
	size_t size = 0;
	for (const struct tp_list_format *at = tp_list_formats; at->name; at++)
		if (write ? at->write != NULL : at->read != NULL)
			size += (size_t)snprintf(
			    known + size, sizeof(known) - size, "%s%s", size ? ", " : "", at->name);
	if (!name)
		tp_options_usage("option '--format' is missing; it is one of %s", known);
	else
		tp_options_usage(
		    "cannot %s format '%s', only %s", write ? "write" : "read", name, known);
	return NULL;
}

int tp_list_convert(bool write, const char *format, const char *out, int argc, char **argv)
{
	if (argc != 1)
		return tp_options_usage("expected one %s, not %d", write ? "LIST" : "FILE", argc);
	const struct tp_list_format *chosen = choose(format, write);
	if (!chosen)
		return TP_EXIT_USAGE;
	struct tp_err err;
	struct tp_buf text;
	struct tp_buf result;
	tp_buf_init(&text);
	tp_buf_init(&result);
	int status = tp_list_file_read(argv[0], &text, &err);
	if (!status) {
		const struct tp_list_input input = {
		    text.data, text.size, strcmp(argv[0], "-") ? argv[0] : "standard input", warn};
		status = (write ? tp_list_export : tp_list_import)(chosen, &input, &result, &err);
	}
	if (!status)
		status = tp_list_file_write(out, &result, &err);
	tp_buf_release(&text);
	tp_buf_release(&result);
	return status ? tp_command_fail(&err) : TP_EXIT_DONE;
}
