// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trusted application of OP-TEE: the log is a parameter of each command, mapped for its time and
// at another address in the next one (teeperf_enter, teeperf_leave_region).
#include "runtime/port.h"
#include "runtime/runtime.h"

// What the port needs of the GlobalPlatform TEE Internal Core API; used where OP-TEE's own header
// is not.
#if __has_include(<tee_internal_api.h>)
#include <tee_internal_api.h>
#else
typedef uint32_t TEE_Result;
#define TEE_SUCCESS 0
#define TEE_MEMORY_ACCESS_READ 1
#define TEE_MEMORY_ACCESS_WRITE 2
#define TEE_MEMORY_ACCESS_ANY_OWNER 4
typedef struct {
	uint32_t timeLow;
	uint16_t timeMid, timeHiAndVersion;
	uint8_t clockSeqAndNode[8];
} TEE_UUID;
typedef struct __TEE_PropSetHandle *TEE_PropSetHandle;
#define TEE_PROPSET_CURRENT_TA ((TEE_PropSetHandle)0xffffffff)
/* Whether the application may access the buffer so: all of it. */
TEE_Result TEE_CheckMemoryAccessRights(uint32_t flags, void *buffer, size_t size);
void TEE_GenerateRandom(void *buffer, size_t size);
TEE_Result TEE_GetPropertyAsUUID(TEE_PropSetHandle properties, const char *name, TEE_UUID *value);
#endif

/* OP-TEE's own, since version 2.3: and no page of it is in secure memory. */
#ifndef TEE_MEMORY_ACCESS_NONSECURE
#define TEE_MEMORY_ACCESS_NONSECURE 0x10000000
#endif

/*
 * What OP-TEE's loader, ldelf, has mapped: the application first, its libraries behind it. Of
 * OP-TEE's link.h, since version 3.10; the name is ours, because that of the struct may be another
 * libc's.
 */
struct tp_optee_loaded {
	uint64_t bias;
	const char *name; /* empty: the application */
	const void *segments;
	uint16_t segment_count;
};
int tp_optee_iterate(int (*visit)(struct tp_optee_loaded *loaded, size_t size, void *data),
    void *data) __asm__("dl_iterate_phdr") __attribute__((weak));

/*
 * The application's code, which is linked to address 0. The dev kit's linker script defines them.
 */
extern const char __text_start;
extern const char __text_end __attribute__((weak));

// The application may define it: its UUID, if it is not the one that OP-TEE knows it by.
extern const uint8_t teeperf_image_uuid[16] __attribute__((weak));

// Several instances of one application, each with memory of its own, must not take each other's log
// for theirs.
uint64_t tp_port_process_id(void)
{
	static uint64_t id;
	while (!id)
		TEE_GenerateRandom(&id, sizeof(id));
	return id;
}

// One question for all pages: each is the client's, which may read and write it, and none is in
// secure memory, where all that is the application's own lies. (A question without that flag says
// nothing of a range that is partly shared, and one for each page is a system call for 4 KiB.)
bool tp_port_is_outside(const void *base, uint64_t size)
{
	return TEE_CheckMemoryAccessRights(TEE_MEMORY_ACCESS_READ | TEE_MEMORY_ACCESS_WRITE |
					       TEE_MEMORY_ACCESS_ANY_OWNER |
					       TEE_MEMORY_ACCESS_NONSECURE,
		   (void *)(uintptr_t)base, size) == TEE_SUCCESS;
}

static void set_uuid(struct teeperf_module *module)
{
	TEE_UUID id;
	if (&teeperf_image_uuid) {
		for (unsigned i = 0; i < 16; i++)
			module->uuid[i] = teeperf_image_uuid[i];
		return;
	}
	if (TEE_GetPropertyAsUUID(TEE_PROPSET_CURRENT_TA, "gpd.ta.appID", &id) != TEE_SUCCESS)
		return;
	for (unsigned i = 0; i < 4; i++)
		module->uuid[i] = (uint8_t)(id.timeLow >> (24 - 8 * i));
	for (unsigned i = 0; i < 2; i++) {
		module->uuid[4 + i] = (uint8_t)(id.timeMid >> (8 - 8 * i));
		module->uuid[6 + i] = (uint8_t)(id.timeHiAndVersion >> (8 - 8 * i));
	}
	for (unsigned i = 0; i < 8; i++)
		module->uuid[8 + i] = id.clockSeqAndNode[i];
}

static unsigned hex_digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return (unsigned)(letter - '0');
	letter |= 'a' ^ 'A';
	return letter >= 'a' && letter <= 'f' ? (unsigned)(letter - 'a') + 10 : 16;
}

// Libraries are called by their UUIDs.
static bool set_uuid_by_name(struct teeperf_module *module, const char *name)
{
	unsigned digits = 0;
	uint8_t uuid[16];
	for (; digits < 32; name++) {
		if (*name == '-' && (digits == 8 || digits == 12 || digits == 16 || digits == 20))
			continue;
		const unsigned digit = hex_digit(*name);
		if (digit == 16)
			return false;
		uuid[digits / 2] = (uint8_t)(digits % 2 ? uuid[digits / 2] << 4 | digit : digit);
		digits++;
	}
	for (unsigned i = 0; i < 16; i++)
		module->uuid[i] = uuid[i];
	return true;
}

static int look_at(struct tp_optee_loaded *loaded, size_t size, void *data)
{
	(void)size;
	struct teeperf_module *module = data;
	if (!tp_elf_segments_describe(
		loaded->segments, loaded->segment_count, loaded->bias, module->anchor, module))
		return 0;
	const char *name = loaded->name ? loaded->name : "";
	if (!*name) {
		tp_elf_image_path(module);
		set_uuid(module);
		return 1;
	}
	const bool is_uuid = set_uuid_by_name(module, name);
	for (unsigned i = 0; !is_uuid && name[i] && i < TEEPERF_MODULE_PATH_SIZE - 1; i++)
		module->path[i] = name[i];
	return 1;
}

// Without a list of loaded modules it is the application. Code comes first, data behind it, and the
// module's block is data: all functions are before its end.
bool tp_port_find_module(const void *anchor, struct teeperf_module *module)
{
	if (tp_optee_iterate)
		return tp_optee_iterate(look_at, module) == 1;
	tp_elf_image_path(module);
	set_uuid(module);
	module->bias = (uint64_t)(uintptr_t)&__text_start;
	module->start = module->bias;
	module->end = (uint64_t)(uintptr_t)anchor + sizeof(struct teeperf_module_block);
	if (&__text_end > &__text_start && &__text_end - &__text_start <= UINT32_MAX)
		module->code_size = (uint32_t)(&__text_end - &__text_start);
	return module->start < module->end;
}
