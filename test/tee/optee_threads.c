// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A client of the example's application whose threads make their commands at the same time, each in
// a function of its own and with a limit of its own. The operation of a command must be as it was
// when the command is over.
//
//   PROGRAM SESSIONS COMMANDS [hand|helper]      SESSIONS: 1, or 4: one for each thread; hand: half
//                                                of the threads tell by hand; helper: the helper
//                                                makes the commands
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tee_client_api.h>

#include <teeperf/teeperf.h>

#include "primes_ta.h"
#include "teeperf_client.h"

enum { THREADS = 4, LIMIT = 20 };

static TEEC_Context context;
static TEEC_Session sessions[THREADS];
static struct teeperf_client the_log;
static int session_count;
static long commands;
static int by_hand;
static int by_helper;

// Others may be waiting for this thread.
static void fail(int number, const char *what)
{
	fprintf(stderr, "FAILED: thread %d: %s\n", number, what);
	exit(1);
}

// In the function of each thread, where its calls in the application are to stand.
static inline __attribute__((always_inline)) void run(int number)
{
	for (long i = 0; i < commands; i++) {
		TEEC_Operation operation;
		uint32_t origin;
		const int tells = by_hand && number % 2;
		memset(&operation, 0, sizeof(operation));
		operation.paramTypes =
		    TEEC_PARAM_TYPES(TEEC_VALUE_INOUT, TEEC_NONE, TEEC_NONE, TEEC_NONE);
		operation.params[0].value.a = (uint32_t)(LIMIT * (number + 1));
		operation.params[0].value.b = tells ? (uint32_t)(number + 1) : 0;
		TEEC_Session *session = &sessions[number % session_count];
		if (by_helper) {
			if (teeperf_client_invoke(&the_log, session, PRIMES_COUNT, &operation,
				&origin) != TEEC_SUCCESS)
				fail(number, "a command of the helper's");
			continue;
		}
		if (the_log.map) {
			operation.params[3].memref.size = the_log.size;
			teeperf_client_add(&the_log, &operation);
		}
		const TEEC_Operation before = operation;
		if (tells)
			teeperf_border_call((unsigned)number + 1);
		if (TEEC_InvokeCommand(session, PRIMES_COUNT, &operation, &origin) != TEEC_SUCCESS)
			fail(number, "a command");
		if (tells)
			teeperf_border_back();
		if (operation.paramTypes != before.paramTypes ||
		    memcmp(&operation.params[3], &before.params[3], sizeof(before.params[3])) != 0)
			fail(number, "the operation is not what it was");
	}
}

#define CLIENT(number)                                                       \
	__attribute__((noinline)) static void *client_##number(void *unused) \
	{                                                                    \
		run(number);                                                 \
		return unused;                                               \
	}
CLIENT(0)
CLIENT(1)
CLIENT(2)
CLIENT(3)

int main(int argc, char **argv)
{
	static void *(*const clients[THREADS])(void *) = {client_0, client_1, client_2, client_3};
	const TEEC_UUID uuid = PRIMES_TA_UUID;
	pthread_t threads[THREADS];
	uint32_t origin;
	if (argc < 3 || TEEC_InitializeContext(NULL, &context) != TEEC_SUCCESS)
		return 2;
	session_count = atoi(argv[1]);
	commands = atol(argv[2]);
	by_hand = argc > 3 && !strcmp(argv[3], "hand");
	by_helper = argc > 3 && !strcmp(argv[3], "helper");
	if (session_count < 1 || session_count > THREADS)
		return 2;
	for (int i = 0; i < session_count; i++)
		if (TEEC_OpenSession(&context, &sessions[i], &uuid, TEEC_LOGIN_PUBLIC, NULL, NULL,
			&origin) != TEEC_SUCCESS)
			return 3;
	teeperf_client_open(&the_log, &context);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, clients[i], NULL) != 0)
			return 4;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	teeperf_client_close(&the_log);
	for (int i = 0; i < session_count; i++)
		TEEC_CloseSession(&sessions[i]);
	TEEC_FinalizeContext(&context);
	return 7;
}
