// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The enclave's side: its functions, and what the SGX SDK's tool generates around them.
#include "border.h"

#include <teeperf/teeperf.h>

static volatile uint64_t sink;

uint64_t ocall_note(uint64_t n);
uint64_t ocall_plain(uint64_t n);

__attribute__((noinline)) static uint64_t inner(uint64_t n)
{
	sink += n;
	return n + 1;
}

__attribute__((noinline)) static uint64_t deep(uint64_t n)
{
	uint64_t below = n ? deep(n - 1) + 1 : 0;
	__asm__ volatile("" : "+r"(below)); // or it becomes a loop
	return below;
}

__attribute__((noinline)) uint64_t ecall_log(void *log, uint64_t size)
{
	return (uint64_t)teeperf_region(log, size);
}

// inner, ocall_note (which comes back by ecall_deep), inner, two ocall_plain in a row
__attribute__((noinline)) uint64_t ecall_sum(uint64_t n)
{
	uint64_t sum = inner(n);
	sum += ocall_note(n);
	sum += inner(n + 1);
	sum += ocall_plain(n);
	return sum + ocall_plain(n);
}

__attribute__((noinline)) uint64_t ecall_deep(uint64_t n)
{
	return deep(n);
}

__attribute__((noinline)) void ecall_empty(void)
{
	inner(0);
}

// ---- generated

static sgx_status_t sgx_ecall_log(void *pms)
{
	struct ms_log *ms = pms;
	ms->result = ecall_log(ms->log, ms->size);
	return 0;
}

static sgx_status_t sgx_ecall_sum(void *pms)
{
	struct ms_sum *ms = pms;
	ms->result = ecall_sum(ms->n);
	return 0;
}

static sgx_status_t sgx_ecall_deep(void *pms)
{
	struct ms_sum *ms = pms;
	ms->result = ecall_deep(ms->n);
	return 0;
}

static sgx_status_t sgx_ecall_empty(void *pms)
{
	(void)pms;
	ecall_empty();
	return 0;
}

static sgx_status_t sgx_ecall_over(void *pms)
{
	(void)pms;
	teeperf_thread_over();
	return 0;
}

// As in the SDK: a function, and whether it is private, and whether switchless.
extern const struct {
	size_t count;
	struct {
		void *function;
		uint8_t is_private, is_switchless;
	} entries[ECALLS];
} g_ecall_table;
__typeof__(g_ecall_table) g_ecall_table = {
    ECALLS,
    {
	{(void *)(uintptr_t)sgx_ecall_log, 0, 0},
	{(void *)(uintptr_t)sgx_ecall_sum, 0, 0},
	{(void *)(uintptr_t)sgx_ecall_deep, 0, 0},
	{(void *)(uintptr_t)sgx_ecall_empty, 0, 0},
	{(void *)(uintptr_t)sgx_ecall_over, 0, 0},
    },
};

__attribute__((noinline)) uint64_t ocall_note(uint64_t n)
{
	struct ms_note *ms = sgx_ocalloc(sizeof(*ms));
	ms->n = n;
	sgx_ocall(OCALL_NOTE, ms);
	const uint64_t result = ms->result;
	sgx_ocfree();
	return result;
}

__attribute__((noinline)) uint64_t ocall_plain(uint64_t n)
{
	struct ms_note *ms = sgx_ocalloc(sizeof(*ms));
	ms->n = n;
	sgx_ocall(OCALL_PLAIN, ms);
	const uint64_t result = ms->result;
	sgx_ocfree();
	return result;
}
