// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a trace: open, analyse, show in every view and export; all that comes out is sound,
// and adds up. The checksums are mended first, or hardly an input would get past them.
// Runs: 1 of 20.
#include "common/chunks/checksum.h"
#include "test/fuzz/check_trace.h"

static void mend(uint8_t *data, size_t size)
{
	for (size_t at = sizeof(struct teeperf_trace_header);
	     at + sizeof(struct teeperf_section) <= size;) {
		struct teeperf_section section;
		memcpy(&section, data + at, sizeof(section));
		const size_t left = size - at - sizeof(section);
		if (section.magic != TEEPERF_SECTION_MAGIC || section.size > left)
			return;
		section.checksum = tp_checksum(data + at + sizeof(section), section.size);
		memcpy(data + at, &section, sizeof(section));
		at += sizeof(section) + (section.size + 7) / 8 * 8;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	uint8_t *data = malloc(size ? size : 1);
	if (!data)
		return 0;
	memcpy(data, input, size);
	mend(data, size);
	check_trace(data, size, size);
	free(data);
	return 0;
}
