/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The client's side of recording a trusted application, for any client: it registers the log of
 * 'teeperf record' as shared memory and adds it to each operation.
 *
 *   teeperf_client_open(&log, &context);
 *   operation.paramTypes = TEEC_PARAM_TYPES(..., TEEC_NONE);
 *   teeperf_client_invoke(&log, &session, command, &operation, &origin);
 *   ...
 *   teeperf_client_close(&log);
 */
#ifndef TEEPERF_CLIENT_H
#define TEEPERF_CLIENT_H

#include <stddef.h>
#include <tee_client_api.h>

struct teeperf_client {
	void *map; /* the log; NULL without a recorder */
	size_t size;
	int off;    /* a command had no memory to map it */
	int mapped; /* by teeperf_client_open, and not by the client's own runtime */
	TEEC_SharedMemory memory;
};

/*
 * Map the file that TEEPERF_LOG names, or take the application's log of 'teeperf record --tee', and
 * register it. 0, also if nobody records; -1: the reason was printed, and the application runs
 * unrecorded. CONTEXT must outlive it.
 */
int teeperf_client_open(struct teeperf_client *client, TEEC_Context *context);

/*
 * As TEEC_InvokeCommand, with the log. Where OP-TEE lacks memory to map it the command is made
 * again without, and so are all that follow: the reason is printed once, and the application works.
 * Any thread may call it.
 */
TEEC_Result teeperf_client_invoke(struct teeperf_client *client, TEEC_Session *session,
    uint32_t command, TEEC_Operation *operation, uint32_t *origin);

/*
 * Make the log parameter 3 of the operation, which must be free. Does nothing without a recorder.
 */
void teeperf_client_add(struct teeperf_client *client, TEEC_Operation *operation);

/* Behind the last command. */
void teeperf_client_close(struct teeperf_client *client);

#endif
