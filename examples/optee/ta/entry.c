// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The application's entry points. They are not recorded; they tell the runtime where the log is.
#include <tee_internal_api.h>

#include <teeperf/teeperf.h>

#include "primes.h"
#include "primes_ta.h"

TEE_Result TA_CreateEntryPoint(void)
{
	return TEE_SUCCESS;
}

void TA_DestroyEntryPoint(void)
{
}

TEE_Result TA_OpenSessionEntryPoint(uint32_t types, TEE_Param params[4], void **session)
{
	(void)types;
	(void)params;
	(void)session;
	return TEE_SUCCESS;
}

void TA_CloseSessionEntryPoint(void *session)
{
	(void)session;
}

static TEE_Result run(uint32_t command, uint32_t types, TEE_Param params[4])
{
	if (command != PRIMES_COUNT || TEE_PARAM_TYPE_GET(types, 0) != TEE_PARAM_TYPE_VALUE_INOUT)
		return TEE_ERROR_BAD_PARAMETERS;
	params[0].value.a = primes_below(params[0].value.a);
	return TEE_SUCCESS;
}

// The log is mapped for the time of this command only, and elsewhere in the next one. teeperf_enter
// takes nothing that is not wholly the client's memory, and without a recorder, or without the
// runtime, it does nothing.
TEE_Result TA_InvokeCommandEntryPoint(
    void *session, uint32_t command, uint32_t types, TEE_Param params[4])
{
	TEE_Result result;
	int log = 0;

	(void)session;
	if (TEE_PARAM_TYPE_GET(types, PRIMES_LOG) == TEE_PARAM_TYPE_MEMREF_INOUT)
		log =
		    teeperf_enter(params[PRIMES_LOG].memref.buffer, params[PRIMES_LOG].memref.size);
	// Where it is 0, teeperf_why_not() says why: EMSG("%s", teeperf_why_not()) shows it.
	result = run(command, types, params);
	if (log)
		teeperf_leave_region();
	return result;
}
