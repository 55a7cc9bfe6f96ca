// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a packed chunk, and any bytes as records to pack: unpacking must hold its bounds,
// and give back what was packed.
#include "common/chunks/chunk_codec.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, RECORDS = (CHUNK - sizeof(struct teeperf_chunk)) / 8 };

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static struct tp_packer packer;
	static struct tp_unpacker unpacker;
	if (!packer.context && (tp_packer_init(&packer, CHUNK, TP_PACKER_LEVEL_DEFAULT, NULL) ||
				   tp_unpacker_init(&unpacker, CHUNK, NULL)))
		abort();
	// On the heap and no larger than they may be, for the sanitizer to guard.
	uint64_t *records = malloc(sizeof(uint64_t) * RECORDS);
	struct teeperf_chunk *chunk = calloc(1, CHUNK);
	uint32_t count = 0;
	if (!records || !chunk)
		abort();
	if (tp_unpacker_unpack(&unpacker, input, size, records, &count, "fuzz", 0, NULL) == 0 &&
	    count > RECORDS)
		abort();

	const size_t used = size < RECORDS * 8 ? size / 8 * 8 : RECORDS * 8;
	memcpy(chunk + 1, input, used);
	memcpy(&chunk->first_time, input, size < 8 ? size : 8);
	chunk->used = sizeof(*chunk) + used;
	const uint64_t packed = tp_packer_pack(&packer, chunk);
	if (packed && (tp_unpacker_unpack(
			   &unpacker, packer.packed, packed, records, &count, "fuzz", 0, NULL) ||
			  count != used / 8 || memcmp(records, chunk + 1, used)))
		abort();
	// Damage what was packed well, or hardly an input would get past zstd.
	if (packed && size >= 4) {
		packer.packed[(input[0] | input[1] << 8) % packed] ^= input[2];
		packer.packed[sizeof(struct teeperf_packed) + input[3] % 32] ^= input[2] & 1;
		tp_unpacker_unpack(
		    &unpacker, packer.packed, packed, records, &count, "fuzz", 0, NULL);
	}
	free(chunk);
	free(records);
	return 0;
}
