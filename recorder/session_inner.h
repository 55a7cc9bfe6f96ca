/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The TEE's side of a session (session.inner); each does nothing if there is none. */
#ifndef TP_SESSION_INNER_H
#define TP_SESSION_INNER_H

#include "session.h"

/* The log and the trace. pre: those of the host are there. 0 or a negative tp_error; discard it in any case. */
int tp_session_inner_create(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err);
void tp_session_inner_discard(struct tp_session *session);

/* Record; undone by tp_inner_stop. pre: the clock runs. */
int tp_session_inner_start(struct tp_session *session, const struct tp_session_options *options,
    const struct tp_host_facts *facts, struct tp_err *err);

/* The host has ended: complete the trace. */
void tp_session_inner_finish(
    struct tp_session *session, const struct tp_host_facts *facts, uint64_t end_ns);

#endif
