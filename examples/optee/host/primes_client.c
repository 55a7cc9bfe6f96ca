// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client: asks the trusted application, as often as its argument says, how many primes are
// below a number.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tee_client_api.h>

#include "primes_ta.h"
#include "teeperf_client.h"

static int failed(const char *what, TEEC_Result result)
{
	fprintf(stderr, "%s failed: 0x%x\n", what, (unsigned)result);
	return 1;
}

int main(int argc, char **argv)
{
	const TEEC_UUID uuid = PRIMES_TA_UUID;
	const long commands = argc > 1 ? atol(argv[1]) : 10;
	const uint32_t limit = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
	struct teeperf_client log;
	TEEC_Context context;
	TEEC_Session session;
	TEEC_Operation operation;
	TEEC_Result result;
	uint32_t origin;
	uint32_t count = 0;

	result = TEEC_InitializeContext(NULL, &context);
	if (result != TEEC_SUCCESS)
		return failed("TEEC_InitializeContext", result);
	result =
	    TEEC_OpenSession(&context, &session, &uuid, TEEC_LOGIN_PUBLIC, NULL, NULL, &origin);
	if (result != TEEC_SUCCESS)
		return failed("TEEC_OpenSession", result);
	teeperf_client_open(&log, &context); // without it the application runs unrecorded
	for (long i = 0; i < commands; i++) {
		memset(&operation, 0, sizeof(operation));
		operation.paramTypes =
		    TEEC_PARAM_TYPES(TEEC_VALUE_INOUT, TEEC_NONE, TEEC_NONE, TEEC_NONE);
		operation.params[0].value.a = limit;
		result = teeperf_client_invoke(&log, &session, PRIMES_COUNT, &operation, &origin);
		if (result != TEEC_SUCCESS)
			return failed("TEEC_InvokeCommand", result);
		count = operation.params[0].value.a;
	}
	printf("%u primes below %u\n", (unsigned)count, (unsigned)limit);
	teeperf_client_close(&log);
	TEEC_CloseSession(&session);
	TEEC_FinalizeContext(&context);
	return 0;
}
