/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* 'teeperf record --tee': the TEE's side beside that of its host program. */
#ifndef TP_RECORD_INNER_H
#define TP_RECORD_INNER_H

#include "cli/command/command.h"
#include "recorder/session.h"

/* Behind tp_record_attach_prepare: what goes together, and where the TEE's trace is meanwhile. An exit code. */
int tp_record_inner_prepare(struct tp_session_options *wanted);

/*
 * The recording is over, and failed if `failed`: join the two traces and say what is to be said. False: something is
 * missing.
 */
bool tp_record_inner_judge(const struct tp_session *session,
    const struct tp_session_options *wanted, int failed, bool quiet);

/*
 * Make one trace of HOST and TEE, which takes the place of HOST, and say so unless `quiet`. False: it could not be
 * done, or the trace is damaged. A recorder for targets leaves the two apart, and says what to do.
 */
bool tp_record_inner_join(const char *host, const char *tee, bool quiet);

/* Warn that they are two. */
void tp_record_inner_tell_apart(const char *host, const char *tee);

#endif
