// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host program: THREADS threads that count the primes below LIMIT, CALLS times each.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <sgx_urts.h>
#include <teeperf/host.h>

#include "primes_u.h"

static sgx_enclave_id_t enclave;
static int calls;
static uint32_t limit;

void ocall_tell(uint32_t count)
{
	if (count == 0)
		fprintf(stderr, "app: there are primes below %u\n", limit);
}

static void *run(void *unused)
{
	uint32_t count = 0;
	for (int i = 0; i < calls; i++)
		if (ecall_primes_below(enclave, &count, limit) != SGX_SUCCESS)
			fprintf(stderr, "app: an ECALL failed\n");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	const int count = argc == 5 ? atoi(argv[2]) : 0;
	if (count < 1 || count > 8) {
		fprintf(stderr, "usage: app ENCLAVE THREADS CALLS LIMIT   (up to 8 threads)\n");
		return 2;
	}
	calls = atoi(argv[3]);
	limit = (uint32_t)atoi(argv[4]);
	if (sgx_create_enclave(argv[1], SGX_DEBUG_FLAG, NULL, NULL, &enclave, NULL) !=
	    SGX_SUCCESS) {
		fprintf(stderr, "app: '%s' cannot be loaded\n", argv[1]);
		return 1;
	}

	// All that recording needs here; before other ECALLs.
	unsigned long long size;
	void *log = teeperf_host_log(&size);
	int taken = 0;
	if (log && (teeperf_ecall_log(enclave, &taken, log, size) != SGX_SUCCESS || !taken))
		fprintf(stderr, "app: the enclave is not recorded\n");

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	sgx_destroy_enclave(enclave);
	return 0;
}
