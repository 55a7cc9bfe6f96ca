/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the port needs of the GlobalPlatform TEE Internal Core API; used where OP-TEE's own header is not. */
#ifndef TP_SDK_OPTEE_H
#define TP_SDK_OPTEE_H

#if __has_include(<tee_internal_api.h>)
#include <tee_internal_api.h>
#else
#include <stddef.h>
#include <stdint.h>
typedef uint32_t TEE_Result;
#define TEE_SUCCESS 0
#define TEE_MEMORY_ACCESS_READ 1
#define TEE_MEMORY_ACCESS_WRITE 2
#define TEE_MEMORY_ACCESS_ANY_OWNER 4
typedef struct {
	uint32_t timeLow;
	uint16_t timeMid;
	uint16_t timeHiAndVersion;
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
 * What OP-TEE's loader, ldelf, has mapped: the application first, its libraries behind it. Of OP-TEE's link.h, since
 * version 3.10; the name is ours, because that of the struct may be another libc's.
 */
struct tp_optee_loaded {
	uint64_t bias;
	const char *name; /* empty: the application */
	const void *segments;
	uint16_t segment_count;
};
int tp_optee_iterate(int (*visit)(struct tp_optee_loaded *loaded, size_t size, void *data),
    void *data) __asm__("dl_iterate_phdr") __attribute__((weak));

/* The application's code, which is linked to address 0. The dev kit's linker script defines them. */
extern const char __text_start;
extern const char __text_end __attribute__((weak));

#endif
