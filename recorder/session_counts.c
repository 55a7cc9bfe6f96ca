// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has happened in a session so far.
#include "session.h"

#include "recorder/clock/host_clock.h"

void tp_session_count(const struct tp_session *session, struct tp_session_counts *counts)
{
	const struct teeperf_log_header *header = session->region.header;
	*counts = (struct tp_session_counts){
	    .records = tp_load_relaxed(&session->drain.record_bytes) / 8,
	    .file_bytes = tp_load_relaxed(&session->writer.offset),
	    .lost = tp_region_lost(&session->region),
	    .threads = tp_count_acquire(&header->thread_count),
	    .refused = tp_count_acquire(&header->refused),
	    .forked = tp_count_acquire(&header->forked),
	    .elapsed_ns = tp_clock_monotonic_ns() - session->start_ns,
	    .switches = tp_count_acquire(&header->switch_count),
	    .attach = tp_load32_acquire(&header->attach),
	    .functions = tp_count_acquire(&header->function_count),
	    .functions_left_out = tp_count_acquire(&header->functions_left_out),
	    .listens = tp_load32_acquire(&header->listens),
	    .listens_value = tp_load32_acquire(&header->listens_value),
	};
	if (session->soft) {
		counts->starved_ns = tp_counter_thread_starved_ns(&session->counter);
		counts->starved_count = tp_counter_thread_starved_count(&session->counter);
		counts->max_gap_ns = tp_counter_thread_max_gap_ns(&session->counter);
	}
}
