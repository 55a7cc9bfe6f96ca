// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trusted application of OP-TEE: the log is a parameter of each command, mapped for its time and at another address
// in the next one (teeperf_enter, teeperf_leave_region).
#include "port.h"
#include "port_elf_image.h"
#include "sdk_optee.h"

// Several instances of one application, each with memory of its own, must not take each other's log for theirs.
uint64_t tp_port_process_id(void)
{
	static uint64_t id;
	while (!id)
		TEE_GenerateRandom(&id, sizeof(id));
	return id;
}

// Shared with the client, and no page of it the application's own: of a range that is partly its own the second
// question would be answered as of a shared one.
bool tp_port_is_outside(const void *base, uint64_t size)
{
	enum { ACCESS = TEE_MEMORY_ACCESS_READ | TEE_MEMORY_ACCESS_WRITE, PAGE = 4096 };
	char *at = (char *)(uintptr_t)base;
	if (TEE_CheckMemoryAccessRights(ACCESS | TEE_MEMORY_ACCESS_ANY_OWNER, at, size) !=
	    TEE_SUCCESS)
		return false;
	while (size) {
		const uint64_t rest = PAGE - (uintptr_t)at % PAGE;
		const uint64_t part = size < rest ? size : rest;
		if (TEE_CheckMemoryAccessRights(ACCESS, at, part) == TEE_SUCCESS)
			return false;
		at += part;
		size -= part;
	}
	return true;
}

// Code comes first, data behind it, and the module's block is data: all functions are before its end.
bool tp_port_find_module(const void *anchor, struct teeperf_module *module)
{
	tp_elf_image_path(module);
	module->bias = (uint64_t)(uintptr_t)&__text_start;
	module->start = module->bias;
	module->end = (uint64_t)(uintptr_t)anchor + sizeof(struct teeperf_module_block);
	for (unsigned i = 0; i < 16 && &teeperf_image_uuid; i++)
		module->build_id[i] = teeperf_image_uuid[i];
	module->build_id_size = &teeperf_image_uuid ? 16 : 0;
	return module->start < module->end;
}
