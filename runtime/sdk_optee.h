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
/* Whether the application may access the buffer so; without ANY_OWNER: and it is its own. */
TEE_Result TEE_CheckMemoryAccessRights(uint32_t flags, void *buffer, size_t size);
void TEE_GenerateRandom(void *buffer, size_t size);
#endif

/* The beginning of the application's code, which is linked to address 0. The dev kit's linker script defines it. */
extern const char __text_start;

#endif
