// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executable segments of an ELF file.
#include "segments.h"

#include "analyzer/trace/source.h"

#include <elf.h>
#include <string.h>

uint32_t tp_elf_segments_read(const char *path, struct tp_elf_segment *segments, uint32_t max)
{
	struct tp_source source;
	struct tp_err err;
	Elf64_Ehdr header;
	uint32_t count = 0;
	if (tp_source_open(&source, path, &err))
		return 0;
	if (tp_source_read(&source, 0, &header, sizeof(header), &err) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		goto out;
	for (uint32_t i = 0; i < header.e_phnum && count < max; i++) {
		Elf64_Phdr segment;
		const uint64_t at = i * sizeof(segment);
		if (header.e_phoff > source.size ||
		    tp_source_read(&source, header.e_phoff + at, &segment, sizeof(segment), &err))
			break;
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X && segment.p_filesz)
			segments[count++] = (struct tp_elf_segment){
			    segment.p_vaddr, segment.p_filesz, segment.p_offset};
	}
out:
	tp_source_close(&source);
	return count;
}
