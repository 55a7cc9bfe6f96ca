// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module by its program headers: where it is, what it is called, and where the code is by which
// it is known otherwise.
#include "port.h"

struct elf_note {
	uint32_t name_size, data_size, type;
};
struct elf_dynamic {
	uint64_t tag, value;
};
enum {
	SEGMENT_LOAD = 1,
	SEGMENT_DYNAMIC = 2,
	SEGMENT_NOTE = 4,
	MAY_EXECUTE = 1,
	MAY_WRITE = 2,
	MAY_READ = 4,
	NOTE_BUILD_ID = 3,
	DYNAMIC_TEXTREL = 22,
	DYNAMIC_FLAGS = 30,
	FLAG_TEXTREL = 4,
	HEADER_SIZE = 64,
};

static void copy_build_id(struct teeperf_module *module, const uint8_t *at, uint64_t size)
{
	while (size >= sizeof(struct elf_note)) {
		const struct elf_note *note = (const void *)at;
		const uint64_t name = ((uint64_t)note->name_size + 3) & ~UINT64_C(3);
		const uint64_t data = ((uint64_t)note->data_size + 3) & ~UINT64_C(3);
		if (size - sizeof(*note) < name + data)
			return;
		const uint8_t *bytes = at + sizeof(*note) + name;
		if (note->type == NOTE_BUILD_ID && note->name_size == 4) {
			const uint32_t length = note->data_size < TEEPERF_BUILD_ID_SIZE
						    ? note->data_size
						    : TEEPERF_BUILD_ID_SIZE;
			for (uint32_t i = 0; i < length; i++)
				module->build_id[i] = bytes[i];
			module->build_id_size = length;
			return;
		}
		at += sizeof(*note) + name + data;
		size -= sizeof(*note) + name + data;
	}
}

static const void *in_memory(uint64_t bias, const struct tp_elf_segment *segment)
{
	return (const void *)(uintptr_t)(bias + segment->address);
}

// Whether the loader changes the code.
static bool has_text_relocations(const struct tp_elf_segment *segment, uint64_t bias)
{
	const struct elf_dynamic *at = in_memory(bias, segment);
	for (uint64_t i = 0; i < segment->memory_size / sizeof(*at) && at[i].tag; i++)
		if (at[i].tag == DYNAMIC_TEXTREL ||
		    (at[i].tag == DYNAMIC_FLAGS && at[i].value & FLAG_TEXTREL))
			return true;
	return false;
}

/*
 * Of the largest executable segment the part behind the headers and the notes, if linkers put them
 * there: strip moves the table of sections, whose place is in the header, and signing tools write
 * into notes.
 */
static void find_code(const struct tp_elf_segment *segments, unsigned count, uint64_t bias,
    struct teeperf_module *module)
{
	const struct tp_elf_segment *code = (const struct tp_elf_segment *)0;
	for (unsigned i = 0; i < count; i++) {
		const struct tp_elf_segment *segment = &segments[i];
		if (segment->type == SEGMENT_DYNAMIC && has_text_relocations(segment, bias))
			return;
		if (segment->type == SEGMENT_LOAD &&
		    (segment->flags & (MAY_READ | MAY_WRITE | MAY_EXECUTE)) ==
			(MAY_READ | MAY_EXECUTE) &&
		    (!code || segment->file_size > code->file_size))
			code = segment;
	}
	if (!code)
		return;
	uint64_t from = code->address;
	const uint64_t to = code->address + code->file_size;
	if (!code->offset)
		from += HEADER_SIZE + count * sizeof(*segments);
	for (unsigned i = 0; i < count; i++) {
		const uint64_t end = segments[i].address + segments[i].file_size;
		if (segments[i].type == SEGMENT_NOTE && segments[i].address >= code->address &&
		    end <= to && end > from)
			from = end;
	}
	const uint64_t offset = bias + from - module->start;
	if (from >= to || offset > UINT32_MAX || to - from > UINT32_MAX)
		return;
	module->code_offset = (uint32_t)offset;
	module->code_size = (uint32_t)(to - from);
}

bool tp_elf_segments_describe(const struct tp_elf_segment *segments, unsigned count, uint64_t bias,
    uint64_t anchor, struct teeperf_module *module)
{
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;
	bool holds = !anchor;
	for (unsigned i = 0; i < count; i++) {
		const struct tp_elf_segment *segment = &segments[i];
		if (segment->type != SEGMENT_LOAD)
			continue;
		const uint64_t end = segment->address + segment->memory_size;
		holds |= anchor - bias >= segment->address && anchor - bias < end;
		low = segment->address < low ? segment->address : low;
		high = end > high ? end : high;
	}
	if (!holds || low >= high)
		return false;
	module->bias = bias;
	module->start = bias + low;
	module->end = bias + high;
	module->build_id_size = 0;
	for (unsigned i = 0; i < count && !module->build_id_size; i++)
		if (segments[i].type == SEGMENT_NOTE)
			copy_build_id(
			    module, in_memory(bias, &segments[i]), segments[i].memory_size);
	find_code(segments, count, bias, module);
	return true;
}
