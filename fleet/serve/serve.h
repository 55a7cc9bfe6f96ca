/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * 'teeperf fleet serve': a web page over a fleet's folder, and the JSON that it is made of
 * (docs/fleet.md). Nothing is written, and no file is named by a request: a path is one of a list,
 * and a choice of runs is compared with the known runs.
 */
#ifndef TP_SERVE_H
#define TP_SERVE_H

#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>

struct tp_serve_options {
	const char *directory;
	const char *host;         /* to listen at */
	uint16_t port;            /* 0: one that is free */
	const char *const *names; /* further hosts that it is called by */
	uint32_t name_count;
	uint64_t memory_limit; /* bytes of sums that are kept for the next request */
};

struct tp_serve;

/* 0 or a negative tp_error. The options' strings must outlive it. */
int tp_serve_start(
    struct tp_serve **serve, const struct tp_serve_options *options, struct tp_err *err);
const char *tp_serve_url(const struct tp_serve *serve);
/* Whether other machines can reach it. */
bool tp_serve_is_open(const struct tp_serve *serve);
/* To be called once a second or so. */
void tp_serve_tend(struct tp_serve *serve);
/* SERVE may be NULL. */
void tp_serve_stop(struct tp_serve *serve);

#endif
