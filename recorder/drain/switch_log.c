// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All switches of a recording, gathered from the log.
#include "drain.h"

#include <string.h>

void tp_switch_log_init(struct tp_switch_log *log, bool on)
{
	*log = (struct tp_switch_log){.start_on = on};
	tp_buf_init(&log->words);
}

void tp_switch_log_release(struct tp_switch_log *log)
{
	tp_buf_release(&log->words);
}

// The last switch that we know of; as if there was one at 0 to what recording began with.
static uint64_t last_word(const struct tp_switch_log *log)
{
	uint64_t word = log->start_on;
	if (log->words.size)
		memcpy(&word, log->words.data + log->words.size - sizeof(word), sizeof(word));
	return word;
}

// The missing switches are unknown, so recording counts as switched on there: that hides no
// records.
static void bridge(struct tp_switch_log *log)
{
	const uint64_t on = last_word(log) | 1;
	if (on != last_word(log))
		tp_buf_add(&log->words, &on, sizeof(on));
}

bool tp_switch_log_follow(struct tp_switch_log *log, const struct teeperf_log_header *header)
{
	const uint64_t told = tp_count_acquire(&header->switch_count);
	if (told <= log->seen) // fewer than before were not counted
		return false;
	const uint64_t more = told - log->seen;
	const uint64_t count = more < TEEPERF_SWITCHES ? more : TEEPERF_SWITCHES;
	uint64_t words[TEEPERF_SWITCHES];
	for (uint64_t i = 0; i < count; i++)
		words[i] =
		    tp_load_acquire(&header->switches[(told - count + i) % TEEPERF_SWITCHES]);
	// What was overwritten while we copied is among the first; one more may be about to be.
	const uint64_t since = tp_count_acquire(&header->switch_count) - told;
	const uint64_t kept = since < TEEPERF_SWITCHES ? TEEPERF_SWITCHES - 1 - since : 0;
	uint64_t good = count < kept ? count : kept;
	if (log->words.size / sizeof(words[0]) + good > TP_SWITCHES_MAX)
		good = 0;
	if (good < more)
		bridge(log);
	if (good && (log->missed || good < more) && (words[count - good] & 1))
		good -= last_word(log) & 1;
	for (uint64_t i = count - good; i < count; i++) {
		const uint64_t before = i == count - good ? last_word(log) : words[i - 1];
		if (words[i] & 1 && before == words[i] - 1)
			tp_fetch_add_relaxed(&log->gaps, 1);
	}
	tp_buf_add(&log->words, words + (count - good), good * sizeof(words[0]));
	log->missed += more - good;
	log->seen = told;
	return true;
}

bool tp_switch_log_state(const struct teeperf_log_header *header, bool start)
{
	const uint64_t count = tp_count_acquire(&header->switch_count);
	if (!count)
		return start;
	return tp_load_relaxed(&header->switches[(count - 1) % TEEPERF_SWITCHES]) & 1;
}
