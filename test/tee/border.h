/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A stand-in for the Intel SGX SDK in two processes: the host's and the enclave's. They share
 * memory at one address, where the stacks of the host's threads are, so that an address on them
 * means the same in both, as in an enclave. Each host thread has a lane to a thread of the other
 * process; only one of both runs at a time.
 */
#ifndef BORDER_H
#define BORDER_H

#include <stddef.h>
#include <stdint.h>

#define LANES_MAX 8
#define LANE_SIZE ((size_t)1 << 20)
#define ARENA ((char *)0x200000000000)

typedef int sgx_status_t;
typedef uint64_t sgx_enclave_id_t;

enum lane_what { LANE_ECALL, LANE_OCALL, LANE_RETURN, LANE_OVER };

/* At the beginning of a lane's memory; the stack ends at its end. */
struct lane {
	int what;
	int index;
	void *parameters;
	sgx_status_t status;
	char ocalls[1 << 16]; /* parameters of OCALLs */
	size_t ocalls_used;
};

struct table {
	size_t count;
	void *entries[8];
};

/* The SDK's, of the host and of the enclave. */
sgx_status_t sgx_ecall(sgx_enclave_id_t enclave, int index, const void *table, void *parameters);
sgx_status_t sgx_ocall(unsigned index, void *parameters);
void *sgx_ocalloc(size_t size);
void sgx_ocfree(void);

/* What both sides have in common: the parameters of their calls. */
struct ms_sum {
	uint64_t result, n;
	uint64_t handle; /* of commands */
};
struct ms_note {
	uint64_t result, n;
};
struct ms_log {
	uint64_t result;
	void *log;
	uint64_t size;
};
enum { ECALL_LOG, ECALL_SUM, ECALL_DEEP, ECALL_EMPTY, ECALL_OVER, ECALLS };
enum { OCALL_NOTE, OCALL_PLAIN, OCALLS };

#endif
