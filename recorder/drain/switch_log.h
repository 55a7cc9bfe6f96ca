/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All switches of a recording (docs/format.md), gathered from the log, which keeps only the last ones. */
#ifndef TP_SWITCH_LOG_H
#define TP_SWITCH_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "recorder/region/region.h"

/* A program that switches all the time must not fill our memory. */
enum { TP_SWITCHES_MAX = 1 << 20 };

struct tp_switch_log {
	struct tp_buf words; /* uint64_t[], as in the log */
	uint64_t seen;       /* header.switch_count at the last look */
	uint64_t missed; /* switches of which there is no entry; where they are it counts as on */
	bool start_on;
};

/* `on`: what recording begins with. */
void tp_switch_log_init(struct tp_switch_log *log, bool on);
void tp_switch_log_release(struct tp_switch_log *log);

/* Take over what is new. True if there was something. */
bool tp_switch_log_follow(struct tp_switch_log *log, const struct teeperf_log_header *header);

/* Whether the program records, by its own words: `start` until it says something. */
bool tp_switch_log_state(const struct teeperf_log_header *header, bool start);

#endif
