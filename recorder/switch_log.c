// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All switches of a recording, gathered from the log.
#include "switch_log.h"

#include "shared.h"

void tp_switch_log_init(struct tp_switch_log *log)
{
	*log = (struct tp_switch_log){0};
	tp_buf_init(&log->words);
}

void tp_switch_log_release(struct tp_switch_log *log)
{
	tp_buf_release(&log->words);
}

bool tp_switch_log_follow(struct tp_switch_log *log, const struct teeperf_log_header *header)
{
	const uint64_t told = tp_shared_load_acquire(&header->switch_count);
	const uint64_t more = told - log->seen;
	if (!more)
		return false;
	const uint64_t count = more < TEEPERF_SWITCHES ? more : TEEPERF_SWITCHES;
	uint64_t words[TEEPERF_SWITCHES];
	for (uint64_t i = 0; i < count; i++)
		words[i] = tp_shared_load_relaxed(
		    &header->switches[(told - count + i) % TEEPERF_SWITCHES]);
	// What was overwritten while we copied is among the first.
	const uint64_t since = tp_shared_load_acquire(&header->switch_count) - told;
	const uint64_t kept = since < TEEPERF_SWITCHES ? TEEPERF_SWITCHES - since : 0;
	uint64_t good = count < kept ? count : kept;
	if (log->words.size / sizeof(words[0]) + good > TP_SWITCHES_MAX)
		good = 0;
	tp_buf_add(&log->words, words + (count - good), good * sizeof(words[0]));
	log->missed += more - good;
	log->seen = told;
	return true;
}

bool tp_switch_log_state(const struct teeperf_log_header *header, bool start)
{
	const uint64_t count = tp_shared_load_acquire(&header->switch_count);
	if (!count)
		return start;
	return tp_shared_load_relaxed(&header->switches[(count - 1) % TEEPERF_SWITCHES]) & 1;
}
