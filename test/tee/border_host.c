// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instrumented part of the host of border.h: its threads call into the enclave, and are called
// back.
//
//   PROGRAM ENCLAVE ROUNDS THREADS [empty]      exits with 7
#include "border.h"

#include <teeperf/host.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sgx_status_t ecall_log(sgx_enclave_id_t enclave, uint64_t *result, void *log, uint64_t size);
sgx_status_t ecall_sum(sgx_enclave_id_t enclave, uint64_t *result, uint64_t n);
sgx_status_t ecall_deep(sgx_enclave_id_t enclave, uint64_t *result, uint64_t n);
sgx_status_t ecall_empty(sgx_enclave_id_t enclave);
sgx_status_t ecall_over(sgx_enclave_id_t enclave);

/* border_sdk_u.c */
void run_enclave(const char *program, int threads, void (*thread)(int lane));

static uint64_t rounds;
static bool with_empty;
static int failed;
static volatile uint64_t sink;

__attribute__((noinline)) static void note_leaf(uint64_t n)
{
	sink += n;
}

__attribute__((noinline)) uint64_t ocall_note(uint64_t n)
{
	uint64_t result;
	note_leaf(n);
	ecall_deep(1, &result, 3);
	note_leaf(n);
	return result;
}

__attribute__((noinline)) uint64_t ocall_plain(uint64_t n)
{
	note_leaf(n);
	return n;
}

__attribute__((noinline)) static void host_work(uint64_t n)
{
	uint64_t result;
	ecall_sum(1, &result, n);
	// inner twice, ocall_note, ocall_plain twice
	if (result != (n + 1) + 3 + (n + 2) + n + n)
		failed = 1;
	note_leaf(n);
	if (with_empty)
		ecall_empty(1);
}

__attribute__((noinline)) static void host_thread(int lane)
{
	unsigned long long size;
	void *log = teeperf_host_log(&size);
	uint64_t attached;
	if (!lane) {
		ecall_log(1, &attached, log, size);
		if (attached && !log)
			failed = 1;
		return;
	}
	for (uint64_t i = 0; i < rounds; i++)
		host_work(i);
	ecall_over(1);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	rounds = strtoull(argv[2], NULL, 10);
	with_empty = argc > 4 && !strcmp(argv[4], "empty");
	run_enclave(argv[1], atoi(argv[3]), host_thread);
	return failed ? 1 : 7;
}
