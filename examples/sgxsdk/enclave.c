// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The enclave's ECALL. What it is for is in primes.c, as in the example of OP-TEE.
#include "primes.h"

#include "primes_t.h"

// Where names are looked up if 'teeperf analyze' gets no --debug-dir.
const char *const teeperf_image_path = IMAGE_PATH;

uint32_t ecall_primes_below(uint32_t limit)
{
	const uint32_t count = primes_below(limit);
	ocall_tell(count);
	return count;
}
