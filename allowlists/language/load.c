// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists from files, and what may be asked about a list besides matching.
#include "list.h"

#include "common/buf.h"
#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int add_file(struct tp_allowlist *list, const char *file, struct tp_err *err)
{
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tp_err_system(err, errno, file, "cannot open the allowlist");
	struct tp_buf buf;
	tp_buf_init(&buf);
	int status = tp_read_all(&buf, fd, file, "the allowlist", TP_ALLOWLIST_BYTES_MAX, err);
	close(fd);
	if (!status)
		status = tp_allowlist_add_text(list, buf.data, buf.size, file, err);
	tp_buf_release(&buf);
	return status;
}

static struct tp_allowlist *create(const char *file, struct tp_err *err)
{
	struct tp_allowlist *list = calloc(1, sizeof(*list));
	if (list) {
		tp_arena_init(&list->arena);
		const char *kept = tp_arena_copy(&list->arena, file, strlen(file));
		list->by_default =
		    (struct tp_verdict){.category = TP_CATEGORY_SKIP, .sample = 1, .file = kept};
		if (kept)
			return list;
	}
	tp_allowlist_free(list);
	tp_err_memory(err, file);
	return NULL;
}

// Hand the list over if nothing went wrong.
static int finish(
    struct tp_allowlist **list, struct tp_allowlist *result, int status, struct tp_err *err)
{
	if (!status) {
		tp_allowlist_doubt(result);
		status = tp_allowlist_build(result);
		if (status)
			tp_err_set(err, status, result->by_default.file, "out of memory");
	}
	if (status)
		tp_allowlist_free(result);
	else
		*list = result;
	return status;
}

int tp_allowlist_load(
    struct tp_allowlist **list, const char *const *files, uint32_t count, struct tp_err *err)
{
	*list = NULL;
	struct tp_allowlist *result = create(count ? files[0] : "", err);
	if (!result)
		return TP_ERR_MEMORY;
	int status = 0;
	for (uint32_t i = 0; i < count && !status; i++)
		status = add_file(result, files[i], err);
	return finish(list, result, status, err);
}

int tp_allowlist_parse(
    struct tp_allowlist **list, const char *text, size_t size, const char *file, struct tp_err *err)
{
	*list = NULL;
	struct tp_allowlist *result = create(file, err);
	if (!result)
		return TP_ERR_MEMORY;
	return finish(list, result, tp_allowlist_add_text(result, text, size, file, err), err);
}

void tp_allowlist_free(struct tp_allowlist *list)
{
	if (!list)
		return;
	for (int kind = 0; kind < TP_RULE_INDEXED_COUNT; kind++) {
		tp_rule_index_release(&list->ordinary[kind]);
		tp_rule_index_release(&list->xray[kind]);
	}
	for (uint32_t i = 0; i < list->entry_count; i++)
		for (struct tp_condition *part = &list->entries[i].first; part; part = part->next)
			tp_globs_release(&part->globs);
	free(list->entries);
	free(list->warnings);
	tp_arena_release(&list->arena);
	free(list);
}

bool tp_allowlist_needs(const struct tp_allowlist *list, enum tp_needs what)
{
	return (list->needs & what) != 0;
}

struct tp_verdict tp_allowlist_default(const struct tp_allowlist *list)
{
	return list->by_default;
}

uint32_t tp_allowlist_line_count(const struct tp_allowlist *list)
{
	return list->entry_count;
}

struct tp_allowlist_line tp_allowlist_line(const struct tp_allowlist *list, uint32_t index)
{
	return list->entries[index].line;
}

uint32_t tp_allowlist_warning_count(const struct tp_allowlist *list)
{
	return list->warning_count;
}

const struct tp_err *tp_allowlist_warning(const struct tp_allowlist *list, uint32_t index)
{
	return &list->warnings[index];
}
