// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module of a program that is one ELF image, by its header in memory.
#include "port_elf_image.h"

// Of ELF-64, what is needed: no system's elf.h is there to be used.
struct elf_header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments, sections;
	uint32_t flags;
	uint16_t size, segment_size, segment_count, section_size, section_count, names;
};
struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_size, memory_size, alignment;
};
struct elf_note {
	uint32_t name_size, data_size, type;
};
enum { SEGMENT_LOAD = 1, SEGMENT_NOTE = 4, NOTE_BUILD_ID = 3 };

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

bool tp_elf_image_describe(const void *image, struct teeperf_module *module)
{
	const struct elf_header *header = image;
	if (header->ident[0] != 0x7f || header->ident[1] != 'E' || header->ident[2] != 'L' ||
	    header->ident[3] != 'F' || header->segment_size != sizeof(struct elf_segment))
		return false;
	const struct elf_segment *segments = (const void *)((const char *)image + header->segments);
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;
	for (unsigned i = 0; i < header->segment_count; i++) {
		const struct elf_segment *segment = &segments[i];
		if (segment->type != SEGMENT_LOAD)
			continue;
		const uint64_t end = segment->address + segment->memory_size;
		low = segment->address < low ? segment->address : low;
		high = end > high ? end : high;
	}
	if (low >= high)
		return false;
	// The header is the beginning of the lowest segment.
	module->bias = (uint64_t)(uintptr_t)image - low;
	module->start = module->bias + low;
	module->end = module->bias + high;
	for (unsigned i = 0; i < header->segment_count && !module->build_id_size; i++)
		if (segments[i].type == SEGMENT_NOTE)
			copy_build_id(module,
			    (const uint8_t *)(uintptr_t)(module->bias + segments[i].address),
			    segments[i].memory_size);
	return true;
}

void tp_elf_image_path(struct teeperf_module *module)
{
	const char *path = &teeperf_image_path ? teeperf_image_path : (const char *)0;
	uint64_t length = 0;
	while (path && path[length])
		length++;
	if (length < TEEPERF_MODULE_PATH_SIZE)
		for (uint64_t i = 0; i < length; i++)
			module->path[i] = path[i];
}
