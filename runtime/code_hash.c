// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By what a module is known that has no build ID: its code as it is in memory, which strip and
// signing leave alone.
#include "runtime.h"

void tp_code_hash_step(uint64_t *hash, uint64_t word)
{
	const uint64_t product = (*hash ^ word) * TEEPERF_CODE_PRIME;
	*hash = product ^ product >> 32;
}

void tp_code_hash_set(struct teeperf_module *module, uint64_t names)
{
	// Whole words only, so that processors need not load them from anywhere.
	const uint64_t first = (module->start + module->code_offset + 7) & ~UINT64_C(7);
	const uint64_t end =
	    (module->start + module->code_offset + module->code_size) & ~UINT64_C(7);
	module->code_hash = 0;
	if (!module->code_size || first >= end || end > module->end) {
		module->code_offset = module->code_size = 0;
		return;
	}
	module->code_offset = (uint32_t)(first - module->start);
	module->code_size = (uint32_t)(end - first);
	uint64_t hash = module->code_size;
	for (const uint64_t *at = (const uint64_t *)(uintptr_t)first;
	     at < (uint64_t *)(uintptr_t)end; at++)
		tp_code_hash_step(&hash, tp_load_relaxed(at));
	tp_code_hash_step(&hash, names);
	module->code_hash = hash ? hash : 1;
}
