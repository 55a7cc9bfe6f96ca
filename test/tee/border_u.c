// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's side of the border, in the form in which the SGX SDK's tool generates it: a proxy for
// each ECALL, a bridge for each OCALL, a table of the latter.
#include "border.h"

uint64_t ocall_note(uint64_t n);
uint64_t ocall_plain(uint64_t n);

static sgx_status_t enclave_ocall_note(void *pms)
{
	struct ms_note *ms = pms;
	ms->result = ocall_note(ms->n);
	return 0;
}

static sgx_status_t enclave_ocall_plain(void *pms)
{
	struct ms_note *ms = pms;
	ms->result = ocall_plain(ms->n);
	return 0;
}

static const struct {
	size_t count;
	void *entries[OCALLS];
} ocall_table_enclave = {OCALLS, {(void *)enclave_ocall_note, (void *)enclave_ocall_plain}};

sgx_status_t ecall_log(sgx_enclave_id_t enclave, uint64_t *result, void *log, uint64_t size)
{
	struct ms_log ms = {.log = log, .size = size};
	sgx_status_t status = sgx_ecall(enclave, ECALL_LOG, &ocall_table_enclave, &ms);
	*result = ms.result;
	return status;
}

sgx_status_t ecall_sum(sgx_enclave_id_t enclave, uint64_t *result, uint64_t n)
{
	struct ms_sum ms = {.n = n};
	sgx_status_t status = sgx_ecall(enclave, ECALL_SUM, &ocall_table_enclave, &ms);
	*result = ms.result;
	return status;
}

sgx_status_t ecall_deep(sgx_enclave_id_t enclave, uint64_t *result, uint64_t n)
{
	struct ms_sum ms = {.n = n};
	sgx_status_t status = sgx_ecall(enclave, ECALL_DEEP, &ocall_table_enclave, &ms);
	*result = ms.result;
	return status;
}

sgx_status_t ecall_empty(sgx_enclave_id_t enclave)
{
	return sgx_ecall(enclave, ECALL_EMPTY, &ocall_table_enclave, NULL);
}

sgx_status_t ecall_over(sgx_enclave_id_t enclave)
{
	return sgx_ecall(enclave, ECALL_OVER, &ocall_table_enclave, NULL);
}
