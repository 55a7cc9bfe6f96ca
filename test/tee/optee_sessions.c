// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A client of the example's application that opens its session again and again, and several at a
// time, which take turns. Each session is an instance of its own, as OP-TEE has it unless an
// application says otherwise.
//
//   PROGRAM ROUNDS SESSIONS COMMANDS LIMIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tee_client_api.h>

#include "primes_ta.h"
#include "teeperf_client.h"

enum { SESSIONS_MAX = 8 };

static int is_done(TEEC_Result result, const char *what)
{
	if (result != TEEC_SUCCESS)
		fprintf(stderr, "%s failed: 0x%x\n", what, (unsigned)result);
	return result == TEEC_SUCCESS;
}

int main(int argc, char **argv)
{
	const TEEC_UUID uuid = PRIMES_TA_UUID;
	TEEC_Session sessions[SESSIONS_MAX];
	struct teeperf_client log;
	TEEC_Context context;
	uint32_t origin;
	if (argc < 5)
		return 2;
	const long rounds = atol(argv[1]);
	const int count = atoi(argv[2]) < SESSIONS_MAX ? atoi(argv[2]) : SESSIONS_MAX;
	const long commands = atol(argv[3]);
	if (!is_done(TEEC_InitializeContext(NULL, &context), "TEEC_InitializeContext"))
		return 1;
	teeperf_client_open(&log, &context);
	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < count; i++)
			if (!is_done(TEEC_OpenSession(&context, &sessions[i], &uuid,
					 TEEC_LOGIN_PUBLIC, NULL, NULL, &origin),
				"TEEC_OpenSession"))
				return 1;
		for (long n = 0; n < commands * count; n++) {
			TEEC_Operation operation;
			memset(&operation, 0, sizeof(operation));
			operation.paramTypes =
			    TEEC_PARAM_TYPES(TEEC_VALUE_INOUT, TEEC_NONE, TEEC_NONE, TEEC_NONE);
			operation.params[0].value.a = (uint32_t)atol(argv[4]);
			if (!is_done(teeperf_client_invoke(&log, &sessions[n % count], PRIMES_COUNT,
					 &operation, &origin),
				"TEEC_InvokeCommand"))
				return 1;
		}
		for (int i = 0; i < count; i++)
			TEEC_CloseSession(&sessions[i]);
	}
	teeperf_client_close(&log);
	TEEC_FinalizeContext(&context);
	return 0;
}
