/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Of the GlobalPlatform TEE Internal Core API, what the example and the port use: declared after
 * its documentation.
 */
#ifndef TEE_INTERNAL_API_H
#define TEE_INTERNAL_API_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t TEE_Result;
#define TEE_SUCCESS 0x00000000
#define TEE_ERROR_ACCESS_DENIED 0xffff0001
#define TEE_ERROR_BAD_PARAMETERS 0xffff0006
#define TEE_ERROR_ITEM_NOT_FOUND 0xffff0008

typedef struct {
	uint32_t timeLow;
	uint16_t timeMid;
	uint16_t timeHiAndVersion;
	uint8_t clockSeqAndNode[8];
} TEE_UUID;

typedef union {
	struct {
		void *buffer;
		size_t size;
	} memref;
	struct {
		uint32_t a, b;
	} value;
} TEE_Param;

#define TEE_PARAM_TYPE_NONE 0
#define TEE_PARAM_TYPE_VALUE_INOUT 3
#define TEE_PARAM_TYPE_MEMREF_INOUT 7
#define TEE_PARAM_TYPE_GET(types, i) (((types) >> ((i)*4)) & 0xf)

#define TEE_MEMORY_ACCESS_READ 1
#define TEE_MEMORY_ACCESS_WRITE 2
#define TEE_MEMORY_ACCESS_ANY_OWNER 4
#define TEE_MEMORY_ACCESS_NONSECURE 0x10000000

#define TA_FLAG_SINGLE_INSTANCE (1 << 2)
#define TA_FLAG_MULTI_SESSION (1 << 3)

typedef struct __TEE_PropSetHandle *TEE_PropSetHandle;
#define TEE_PROPSET_CURRENT_TA ((TEE_PropSetHandle)0xffffffff)

TEE_Result TA_CreateEntryPoint(void);
void TA_DestroyEntryPoint(void);
TEE_Result TA_OpenSessionEntryPoint(uint32_t types, TEE_Param params[4], void **session);
void TA_CloseSessionEntryPoint(void *session);
TEE_Result TA_InvokeCommandEntryPoint(
    void *session, uint32_t command, uint32_t types, TEE_Param params[4]);

TEE_Result TEE_CheckMemoryAccessRights(uint32_t flags, void *buffer, size_t size);
void TEE_GenerateRandom(void *buffer, size_t size);
TEE_Result TEE_GetPropertyAsUUID(TEE_PropSetHandle properties, const char *name, TEE_UUID *value);

#endif
