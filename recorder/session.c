// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One recording from start to end, put together in the right order.
#define _GNU_SOURCE
#include "session.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host_facts.h"
#include "shared.h"

// Less time than this between two points says too little about the clock's rate.
static const uint64_t RATE_NS = 2 * 1000 * 1000;

static void nap(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};
	nanosleep(&time, NULL);
}

// Its own thread, so that a slow disk, which stops the drain, does not stop the supply.
static void *supply(void *argument)
{
	struct tp_session *session = argument;
	while (!tp_shared_load_relaxed(&session->stop)) {
		if (!tp_region_grow(&session->region))
			nap(1000 * 1000);
	}
	return NULL;
}

// The rate by now, for the header and the counter thread; better ones follow in the trace.
static uint64_t first_rate(struct tp_session *session)
{
	const uint64_t start = session->clock_log.points[0].monotonic_ns;
	const uint64_t now = tp_clock_monotonic_ns();
	if (now - start < RATE_NS)
		nap(RATE_NS - (now - start));
	tp_clock_log_point(&session->clock_log);
	return tp_clock_log_hz(&session->clock_log);
}

static int start_counter(struct tp_session *session, struct tp_err *err)
{
	const uint64_t hz = first_rate(session);
	session->region.header->clock_hz = hz;
	session->soft = TEEPERF_CLOCK_IS_SOFT(session->clock_log.clock);
	if (!session->soft)
		return 0;
	const int r = tp_counter_thread_start(
	    &session->counter, &session->region.header->counter, session->clock_log.clock, hz, err);
	session->soft = !r;
	return r;
}

static int write_facts(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	const struct tp_host_facts facts = {
	    .clock = tp_clock_name(session->clock_log.clock),
	    .counter_cpu = session->soft ? session->counter.cpu : -1,
	    .log_bytes = (uint64_t)session->region.chunk_count * TP_REGION_CHUNK_SIZE,
	    .mode = options->mode == TEEPERF_MODE_FULL ? "full" : "stream",
	};
	struct tp_buf command;
	struct tp_buf host;
	tp_buf_init(&command);
	tp_buf_init(&host);
	tp_host_facts_command(&command, options->argv);
	tp_host_facts_text(&host, &facts);
	int r = 0;
	if (command.failed || host.failed) {
		r = tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
	} else {
		tp_trace_writer_add(
		    &session->writer, TEEPERF_SECTION_COMMAND, command.data, command.size);
		tp_trace_writer_add(&session->writer, TEEPERF_SECTION_HOST, host.data, host.size);
	}
	tp_buf_release(&host);
	tp_buf_release(&command);
	return r;
}

static int start_drain(struct tp_session *session, struct tp_err *err)
{
	session->drain = (struct tp_drain){
	    .region = &session->region,
	    .writer = &session->writer,
	    .clock_log = &session->clock_log,
	    .counter = session->soft ? &session->counter : NULL,
	};
	int r = tp_drain_start(&session->drain, err);
	if (r)
		return r;
	const int error = pthread_create(&session->supply_thread, NULL, supply, session);
	if (error) {
		tp_drain_finish(&session->drain);
		return tp_err_system(err, error, NULL, "cannot start the supply thread");
	}
	return 0;
}

static void stop_threads(struct tp_session *session)
{
	tp_shared_store_relaxed(&session->stop, 1);
	pthread_join(session->supply_thread, NULL);
	tp_drain_finish(&session->drain);
}

int tp_session_start(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	memset(session, 0, sizeof(*session));
	uint32_t clock;
	int r = tp_clock_choose(options->clock, &clock, err);
	if (r)
		return r;
	tp_launch_prepare(&session->launch);
	tp_clock_log_init(&session->clock_log, clock);
	r = tp_region_create(&session->region, options->size_bytes, options->mode, clock, err);
	if (r)
		goto fail;
	r = tp_trace_writer_open(&session->writer, options->output, err);
	if (r)
		goto fail_region;
	r = start_counter(session, err);
	if (r)
		goto fail_writer;
	r = write_facts(session, options, err);
	if (r)
		goto fail_counter;
	r = start_drain(session, err);
	if (r)
		goto fail_counter;
	session->start_ns = tp_clock_monotonic_ns();
	if (session->soft)
		session->starved_before_ns = tp_counter_thread_starved_ns(&session->counter);
	r = tp_launch_start(&session->launch, options->argv, session->region.path, err);
	if (!r)
		return 0;
	stop_threads(session);
fail_counter:
	if (session->soft)
		tp_counter_thread_stop(&session->counter);
fail_writer:
	tp_trace_writer_discard(&session->writer);
fail_region:
	tp_region_release(&session->region);
fail:
	tp_launch_restore(&session->launch);
	return r;
}

enum tp_launch_event tp_session_wait(struct tp_session *session, uint32_t timeout_ms)
{
	return tp_launch_wait(&session->launch, timeout_ms);
}

void tp_session_count(const struct tp_session *session, struct tp_session_counts *counts)
{
	const struct teeperf_log_header *header = session->region.header;
	*counts = (struct tp_session_counts){
	    .records = tp_shared_load_relaxed(&session->drain.record_bytes) / 8,
	    .file_bytes = tp_shared_load_relaxed(&session->writer.offset),
	    .lost = tp_region_lost(&session->region),
	    .threads = tp_shared_load_relaxed(&header->thread_count),
	    .refused = tp_shared_load_relaxed(&header->refused),
	    .elapsed_ns = tp_clock_monotonic_ns() - session->start_ns,
	    .attach = tp_shared_load32_acquire(&header->attach),
	};
	if (session->soft) {
		counts->starved_ns =
		    tp_counter_thread_starved_ns(&session->counter) - session->starved_before_ns;
		counts->max_gap_ns = tp_counter_thread_max_gap_ns(&session->counter);
	}
}

static void write_end(struct tp_session *session, uint64_t end_ns)
{
	const struct tp_region *region = &session->region;
	const struct teeperf_log_header *header = region->header;
	const uint64_t told = tp_shared_load_relaxed(&header->thread_count);
	const uint64_t filled = tp_region_thread_count(region);
	const struct teeperf_trace_end end = {
	    .exit_kind = session->launch.exit_kind,
	    .exit_value = session->launch.exit_value,
	    .start_ns = session->start_ns,
	    .end_ns = end_ns,
	    .chunk_count = session->writer.chunks,
	    .chunk_draws = tp_shared_load_relaxed(&header->tail),
	    .lost_early = tp_shared_load_relaxed(&header->lost_early),
	    .lost_overflow = tp_shared_load_relaxed(&header->lost_overflow),
	    .refused = tp_shared_load_relaxed(&header->refused),
	    .log_bytes = (uint64_t)region->committed * TP_REGION_CHUNK_SIZE,
	    .mode = region->mode,
	    .attach = tp_shared_load32_acquire(&header->attach),
	    .module_count = tp_shared_load_relaxed(&header->module_count),
	    .thread_count = told > filled ? told : filled,
	};
	tp_trace_writer_add(&session->writer, TEEPERF_SECTION_END, &end, sizeof(end));
}

int tp_session_finish(
    struct tp_session *session, struct tp_session_counts *counts, struct tp_err *err)
{
	const uint64_t end_ns = tp_clock_monotonic_ns();
	tp_shared_store_release(&session->region.header->control, 0);
	if (session->soft)
		tp_counter_thread_stop(&session->counter);
	stop_threads(session);
	write_end(session, end_ns);
	tp_session_count(session, counts);
	counts->elapsed_ns = end_ns - session->start_ns;
	counts->dropped_chunks = session->writer.dropped;
	counts->stunted = session->region.stunted;
	const int r = tp_trace_writer_close(&session->writer, err);
	tp_region_release(&session->region);
	tp_launch_restore(&session->launch);
	return r;
}
