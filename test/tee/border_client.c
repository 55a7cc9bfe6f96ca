// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instrumented part of a client of border_ta.c: each round is two commands.
//
//   PROGRAM APPLICATION ROUNDS THREADS [handles]      exits with 7
#include "border.h"

#include <teeperf/teeperf.h>

#include <stdbool.h>
#include <stdlib.h>

/* tee_client_api.h, border_sdk_u.c */
uint32_t TEEC_InvokeCommand(void *session, uint32_t command, void *operation, uint32_t *origin);
void run_enclave(const char *program, int threads, void (*thread)(int lane));

static uint64_t rounds;
static bool with_handles;
static int failed;

__attribute__((noinline)) static uint64_t invoke(uint32_t command, uint64_t n)
{
	struct ms_sum ms = {.n = n};
	uint32_t origin;
	// Of the same number in all threads there is one at a time.
	ms.handle = with_handles ? (uint64_t)(uintptr_t)&ms : 0;
	if (with_handles)
		teeperf_border_call(ms.handle);
	TEEC_InvokeCommand(NULL, command, &ms, &origin);
	if (with_handles)
		teeperf_border_back();
	return ms.result;
}

__attribute__((noinline)) static void client_thread(int lane)
{
	for (uint64_t i = 0; lane && i < rounds; i++)
		if (invoke(ECALL_SUM, i) != 2 * i + 3 || invoke(ECALL_DEEP, i) != i + 1)
			failed = 1;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	rounds = strtoull(argv[2], NULL, 10);
	with_handles = argc > 4;
	run_enclave(argv[1], atoi(argv[3]), client_thread);
	return failed ? 1 : 7;
}
