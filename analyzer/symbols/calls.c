// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On which lines functions call others, by the call sites of DWARF: asks a process of its own, and
// reads its answer.
#define _GNU_SOURCE
#include "call_search.h"

#include "analyzer/symbols/module.h"
#include "common/array.h"
#include "common/bytes.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b, void *context)
{
	const struct tp_call_function *functions = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const int order = strcmp(functions[x].linkage, functions[y].linkage);
	return order ? order : TP_COMPARE(x, y);
}

static int compare_chains(const struct tp_call_site *x, const struct tp_call_site *y)
{
	int order = TP_COMPARE(x->inlined_count, y->inlined_count);
	for (uint32_t i = 0; !order && i < x->inlined_count; i++)
		order = strcmp(x->inlined[i], y->inlined[i]);
	return order;
}

static int compare_found(const void *a, const void *b)
{
	const struct tp_call_site *x = a;
	const struct tp_call_site *y = b;
	int order = TP_COMPARE(x->caller, y->caller);
	order = order ? order : TP_COMPARE(x->line, y->line);
	order = order ? order : TP_COMPARE(x->callee, y->callee);
	return order ? order : compare_chains(x, y);
}

// Read the names of a chain.
static bool parse_chain(struct tp_bytes *bytes, struct tp_call_site *site, struct tp_arena *arena)
{
	site->inlined_count = tp_bytes_u32(bytes);
	if (site->inlined_count > TP_CALLS_INLINED)
		return false;
	const char **names =
	    tp_arena_alloc(arena, (site->inlined_count + (size_t)1) * sizeof(*names));
	for (uint32_t i = 0; names && i < site->inlined_count; i++) {
		const char *name = tp_bytes_string(bytes);
		names[i] = name ? tp_symbol_readable(arena, name) : NULL;
		if (!names[i])
			return false;
	}
	site->inlined = names;
	return names && !bytes->underflow;
}

// False if it is not a sound answer, or there is no memory.
static bool parse(struct tp_bytes *bytes, struct tp_call_function *functions, uint32_t count,
    struct tp_call_sites *sites, struct tp_arena *arena)
{
	sites->items = tp_arena_alloc(arena, tp_bytes_left(bytes) / 20 * sizeof(*sites->items) + 1);
	if (!sites->items)
		return false;
	while (tp_bytes_left(bytes)) {
		struct tp_call_site site = {.caller = tp_bytes_u32(bytes)};
		if (site.caller == TP_CALL_CUT && !tp_bytes_left(bytes)) {
			sites->cut = true;
			return true;
		}
		site.callee = tp_bytes_u32(bytes);
		if (bytes->underflow || site.caller >= count || !functions[site.caller].wanted)
			return false;
		functions[site.caller].described = true;
		if (site.callee == TP_CALL_DESCRIBED)
			continue;
		site.line = tp_bytes_u64(bytes);
		if (site.callee >= count || !parse_chain(bytes, &site, arena))
			return false;
		sites->items[sites->count++] = site;
	}
	return true;
}

// Sort the calls, and keep each once.
static void sort(struct tp_call_sites *sites)
{
	uint32_t kept = 1;
	if (!sites->count)
		return;
	qsort(sites->items, sites->count, sizeof(*sites->items), compare_found);
	for (uint32_t i = 1; i < sites->count; i++)
		if (compare_found(&sites->items[i], &sites->items[kept - 1]))
			sites->items[kept++] = sites->items[i];
	sites->count = kept;
}

int tp_symbol_calls_find(const struct tp_dwarf_request *request, struct tp_call_function *functions,
    uint32_t count, struct tp_call_sites *sites, struct tp_arena *arena, struct tp_err *err)
{
	uint32_t *by_name = malloc((count + (size_t)1) * sizeof(*by_name));
	struct tp_call_question question = {
	    .request = request, .functions = functions, .count = count, .by_name = by_name};
	struct tp_buf got;
	struct tp_bytes bytes;
	*sites = (struct tp_call_sites){0};
	for (uint32_t i = 0; i < count; i++)
		functions[i].described = false;
	if (!by_name)
		return tp_err_memory(err, request->path);
	for (uint32_t i = 0; i < count; i++)
		if (*functions[i].linkage)
			by_name[question.named++] = i;
	qsort_r(by_name, question.named, sizeof(*by_name), compare_names, functions);
	tp_buf_init(&got);
	int code = tp_symbol_lines_isolate(
	    request, tp_call_search_answer, &question, TP_CALL_ANSWER_MAX, &got, err);
	tp_bytes_init(&bytes, got.data, got.size);
	if (!code && !parse(&bytes, functions, count, sites, arena)) {
		code = tp_err_set(err, TP_ERR_FORMAT, request->path,
		    "its debug information is damaged: its calls cannot be read");
		*sites = (struct tp_call_sites){0};
		for (uint32_t i = 0; i < count; i++)
			functions[i].described = false;
	}
	sort(sites);
	tp_buf_release(&got);
	free(by_name);
	return code;
}
