// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trusted application of OP-TEE, as border_sdk_t.c calls it: what of it is instrumented.
#include "border.h"

static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t inner(uint64_t n)
{
	sink += n;
	return n + 1;
}

__attribute__((noinline)) static uint64_t sum(uint64_t n)
{
	return inner(n) + inner(n + 1);
}

uint32_t TA_InvokeCommandEntryPoint(
    void *session, uint32_t command, uint32_t types, void *parameters)
{
	struct ms_sum *ms = parameters;
	(void)session;
	(void)types;
	ms->result = command == ECALL_SUM ? sum(ms->n) : inner(ms->n);
	return 0;
}
