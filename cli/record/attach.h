/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* 'teeperf record' of programs in a TEE: '--attach', '--stream', '--port' and what goes with them. */
#ifndef TP_RECORD_ATTACH_H
#define TP_RECORD_ATTACH_H

#include <stdbool.h>

#include "cli/command/command.h"
#include "recorder/session.h"
#include "recorder/tee.h"

struct tp_record_attach {
	/* The options' values. */
	const char *file;
	uint64_t offset;
	bool force;
	const char *stream_name;
	const char *port_name;
	uint64_t pid;
	uint64_t timeout_s; /* UINT64_MAX: not given */
	/* What follows from them: tp_record_attach_prepare. */
	const struct tp_tee *tee; /* NULL: none */
	struct tp_place place;
	struct tp_stream *stream;
	bool waits; /* for a program that somebody else starts */
};

/*
 * Complete `wanted`, whose argv is NULL if no program was given. Waits for the stream's first frame. Returns 0,
 * or the exit status after a report. End it with tp_record_attach_release.
 */
int tp_record_attach_prepare(
    struct tp_record_attach *attach, struct tp_session_options *wanted, bool quiet);
/* Why a program that was given the log by a call did not take it (enum teeperf_attach), NULL: for no such reason. */
const char *tp_record_attach_reason(uint32_t attach);

void tp_record_attach_release(struct tp_record_attach *attach);

/* What the program's side is to be given, once the recording has begun. */
void tp_record_attach_tell(
    const struct tp_record_attach *attach, const struct tp_session *session, bool launched);

/*
 * Behind the end: warnings, and whether something was recorded at all. `how`, for the summary: why it ended, or
 * NULL.
 */
bool tp_record_attach_judge(const struct tp_record_attach *attach, const struct tp_session *session,
    const struct tp_session_counts *counts, bool ended, const char **how);

#endif
