/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Of the GlobalPlatform TEE Client API, what the example uses: declared after its documentation. */
#ifndef TEE_CLIENT_API_H
#define TEE_CLIENT_API_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t TEEC_Result;
#define TEEC_SUCCESS 0x00000000
#define TEEC_ERROR_GENERIC 0xffff0000
#define TEEC_ERROR_BAD_PARAMETERS 0xffff0006
#define TEEC_ERROR_ITEM_NOT_FOUND 0xffff0008
#define TEEC_ERROR_OUT_OF_MEMORY 0xffff000c

#define TEEC_ORIGIN_API 1
#define TEEC_ORIGIN_TEE 3
#define TEEC_ORIGIN_TRUSTED_APP 4

#define TEEC_NONE 0
#define TEEC_VALUE_INOUT 3
#define TEEC_MEMREF_WHOLE 12
#define TEEC_MEMREF_PARTIAL_INOUT 15
#define TEEC_PARAM_TYPES(a, b, c, d) ((a) | (b) << 4 | (c) << 8 | (d) << 12)
#define TEEC_MEM_INPUT 1
#define TEEC_MEM_OUTPUT 2
#define TEEC_LOGIN_PUBLIC 0

typedef struct {
	uint32_t timeLow;
	uint16_t timeMid;
	uint16_t timeHiAndVersion;
	uint8_t clockSeqAndNode[8];
} TEEC_UUID;

typedef struct {
	int unused;
} TEEC_Context;

typedef struct {
	int socket;
	pthread_mutex_t lock;
} TEEC_Session;

typedef struct {
	void *buffer;
	size_t size;
	uint32_t flags;
	int fd; /* the stand-in's: the file that is mapped there */
} TEEC_SharedMemory;

typedef union {
	struct {
		TEEC_SharedMemory *parent;
		size_t size;
		size_t offset;
	} memref;
	struct {
		uint32_t a, b;
	} value;
} TEEC_Parameter;

typedef struct {
	uint32_t started;
	uint32_t paramTypes;
	TEEC_Parameter params[4];
} TEEC_Operation;

TEEC_Result TEEC_InitializeContext(const char *name, TEEC_Context *context);
void TEEC_FinalizeContext(TEEC_Context *context);
TEEC_Result TEEC_OpenSession(TEEC_Context *context, TEEC_Session *session, const TEEC_UUID *uuid,
    uint32_t login, const void *data, TEEC_Operation *operation, uint32_t *origin);
void TEEC_CloseSession(TEEC_Session *session);
TEEC_Result TEEC_InvokeCommand(
    TEEC_Session *session, uint32_t command, TEEC_Operation *operation, uint32_t *origin);
TEEC_Result TEEC_RegisterSharedMemory(TEEC_Context *context, TEEC_SharedMemory *memory);
void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *memory);

#endif
