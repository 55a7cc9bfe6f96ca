// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kinds of sections of a trace.
#include "sections.h"

#include <string.h>

#define TP_SECTION(name, title, take, ...) \
	[TEEPERF_SECTION_##name] = {TEEPERF_SECTION_##name, title, __VA_ARGS__},
static const struct tp_section_kind kinds[] = {
#include "analyzer/trace/sections.def"
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == TP_SECTION_TYPES, "each type has a row");

uint32_t tp_text_size(enum tp_text_struct of)
{
	static const uint32_t sizes[] = {
	    0,
#define TP_STRUCT(name, type) sizeof(type),
#include "analyzer/trace/sections.def"
	};
	return sizes[of];
}
#define TP_STRUCT(name, type) _Static_assert(sizeof(type) <= TP_TEXT_SIZE_MAX, #type);
#include "analyzer/trace/sections.def"

const struct tp_section_kind *tp_section_kind(uint32_t type)
{
	return type && type < TP_SECTION_TYPES ? &kinds[type] : NULL;
}

const struct tp_section_kind *tp_section_titled(const char *title)
{
	for (size_t i = 1; i < TP_SECTION_TYPES; i++)
		if (!kinds[i].untold && strcmp(kinds[i].title, title) == 0)
			return &kinds[i];
	return NULL;
}

static uint32_t count_at(const uint8_t *head, uint32_t offset)
{
	uint32_t count;
	memcpy(&count, head + offset, sizeof(count));
	return count;
}

const char *tp_section_split(const struct tp_section_kind *kind, const void *payload, uint64_t size,
    struct tp_section_parts *parts)
{
	const uint64_t head = tp_text_size(kind->head);
	const uint64_t entry = tp_text_size(kind->entry);
	const uint64_t more = tp_text_size(kind->more_entry);
	const uint8_t *items = (const uint8_t *)payload + head;
	*parts = (struct tp_section_parts){.payload = payload, .size = size};
	if (!entry)
		return size < head ? "it is too short" : NULL;
	const char *misfit =
	    kind->misfit ? kind->misfit : "its size is not a multiple of its entries' size";
	if (size < head)
		return misfit;
	uint64_t count = (size - head) / entry;
	if (kind->count_at)
		count = count_at(payload, kind->count_at);
	if (more)
		parts->more_count = count_at(payload, kind->more_count_at);
	if (count > UINT32_MAX || size - head != count * entry + parts->more_count * more)
		return misfit;
	parts->items = items;
	parts->count = (uint32_t)count;
	parts->more = more ? items + count * entry : NULL;
	return NULL;
}
