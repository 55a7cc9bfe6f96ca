// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module of a program that is one ELF image, by its header in memory.
#include "runtime/port.h"

// The needed parts of ELF-64, since there is no system with an elf.h.
struct elf_header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments, sections;
	uint32_t flags;
	uint16_t size, segment_size, segment_count, section_size, section_count, names;
};
enum { SEGMENT_LOAD = 1 };

bool tp_elf_image_describe(const void *image, struct teeperf_module *module)
{
	const struct elf_header *header = image;
	if (header->ident[0] != 0x7f || header->ident[1] != 'E' || header->ident[2] != 'L' ||
	    header->ident[3] != 'F' || header->segment_size != sizeof(struct tp_elf_segment))
		return false;
	const struct tp_elf_segment *segments =
	    (const void *)((const char *)image + header->segments);
	// The header is the beginning of the lowest segment.
	uint64_t low = UINT64_MAX;
	for (unsigned i = 0; i < header->segment_count; i++)
		if (segments[i].type == SEGMENT_LOAD && segments[i].address < low)
			low = segments[i].address;
	return tp_elf_segments_describe(
	    segments, header->segment_count, (uint64_t)(uintptr_t)image - low, 0, module);
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
