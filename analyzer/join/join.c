// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two traces become one: what the host's threads did in the TEE is put into their records.
#include "join.h"

#include "analyzer/join/splice.h"
#include "analyzer/trace/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int check(
    const struct tp_tracefile *host, const struct tp_tracefile *tee, struct tp_err *err)
{
	const uint32_t shift = TEEPERF_CHUNK_SHIFT_DEFAULT;
	if (host->header.chunk_shift != shift || tee->header.chunk_shift != shift)
		return tp_err_set(err, TP_ERR_FORMAT,
		    host->header.chunk_shift != shift ? host->source.name : tee->source.name,
		    "this trace is not one of 'teeperf record --tee'");
	for (uint32_t i = 0; i < host->module_count; i++)
		if (host->modules[i].flags & TEEPERF_MODULE_TEE)
			return tp_err_set(err, TP_ERR_FORMAT, host->source.name,
			    "this trace has already been joined");
	if (!host->has_clock || !tee->has_clock || host->clock.kind != tee->clock.kind)
		return tp_err_set(err, TP_ERR_FORMAT, tee->source.name,
		    "the two traces have different clocks, so they are not from one recording");
	if (host->selections.count || tee->selections.count)
		return tp_err_set(err, TP_ERR_FORMAT,
		    (host->selections.count ? host : tee)->source.name,
		    "'teeperf ctl' or 'record --budget' changed which functions are recorded, "
		    "so this trace cannot be joined");
	if (host->clock.kind == TEEPERF_CLOCK_NONE)
		return tp_err_set(err, TP_ERR_FORMAT, host->source.name,
		    "two sides cannot be joined without a clock: record with '--clock soft' or "
		    "'tsc'");
	return 0;
}

static int find_all(
    const struct tp_tracefile *trace, struct tp_borders **borders, struct tp_err *err)
{
	*borders = calloc((size_t)trace->thread_count + 1, sizeof(**borders));
	if (!*borders)
		return tp_err_set(err, TP_ERR_MEMORY, trace->source.name,
		    "out of memory while joining %" PRIu32 " threads", trace->thread_count);
	int code = 0;
	for (uint32_t i = 0; !code && i < trace->thread_count; i++)
		code = tp_borders_find(&(*borders)[i], trace, i, err);
	return code;
}

static void release_all(const struct tp_tracefile *trace, struct tp_borders *borders)
{
	for (uint32_t i = 0; borders && i < trace->thread_count; i++)
		tp_borders_release(&borders[i]);
	free(borders);
}

static struct teeperf_thread entry_of(const struct tp_thread *thread, const char *otherwise)
{
	struct teeperf_thread entry = {
	    .os_tid = thread->os_tid,
	    .lost = thread->lost,
	    .chunks = thread->chunk_count,
	    .ended = thread->ended,
	    .first = thread->first,
	};
	const char *name = thread->name[0] ? thread->name : otherwise;
	memcpy(entry.name, name, strnlen(name, sizeof(entry.name) - 1));
	return entry;
}

// No record of the TEE is before what the host has recorded, or behind the end of the recording.
static void find_bounds(struct tp_splice *splice)
{
	const struct tp_tracefile *host = splice->host.trace;
	uint64_t first = UINT64_MAX;
	uint64_t last = 0;
	for (uint32_t i = 0; i < host->thread_count; i++) {
		const struct tp_thread *thread = &host->threads[i];
		if (thread->chunk_count && thread->chunks[0].first_time < first)
			first = thread->chunks[0].first_time;
		if (splice->host_borders[i].last > last)
			last = splice->host_borders[i].last;
	}
	const uint32_t points = host->clock.point_count;
	if (points && host->points[points - 1].ticks > last)
		last = host->points[points - 1].ticks;
	splice->first_time = first <= last ? first : 0;
	splice->last_time = first <= last ? last : UINT64_MAX;
}

// The chunks of all threads, and their table.
static int add_threads(struct tp_splice *splice, struct tp_buf *table)
{
	const struct tp_tracefile *host = splice->host.trace;
	const struct tp_tracefile *tee = splice->tee.trace;
	int code = 0;
	find_bounds(splice);
	for (uint32_t i = 0; !code && i < host->thread_count; i++) {
		const struct tp_thread *thread = &host->threads[i];
		struct teeperf_thread entry = entry_of(thread, "");
		tp_join_writer_begin(&splice->writer, i, thread->os_tid, thread->first,
		    thread->chunk_count ? thread->chunks[0].first_time : 0);
		code = tp_splice_host(splice, i);
		tp_join_writer_end(&splice->writer);
		// What the host's trace lacks of a thread, the joined one lacks as well.
		entry.chunks = splice->writer.sequence + thread->cut;
		tp_buf_add(table, &entry, sizeof(entry));
	}
	uint32_t number = host->thread_count;
	for (uint32_t i = 0; !code && i < tee->thread_count; i++) {
		const struct tp_thread *thread = &tee->threads[i];
		struct teeperf_thread entry = entry_of(thread, "TEE");
		tp_join_writer_begin(
		    &splice->writer, number, thread->os_tid, 0, splice->first_time);
		code = tp_splice_rest(splice, i);
		tp_join_writer_end(&splice->writer);
		if (!splice->writer.own && !entry.lost)
			continue;
		entry.first = 0;
		entry.chunks = splice->writer.own;
		tp_buf_add(table, &entry, sizeof(entry));
		number++;
	}
	splice->counts->threads = number - host->thread_count;
	return code;
}

// Lines that end in a newline, or NULL.
static void add_lines(struct tp_buf *payload, const char *lines)
{
	if (lines)
		tp_buf_add_string(payload, lines);
	if (payload->size && payload->data[payload->size - 1] != '\n')
		tp_buf_add_char(payload, '\n');
}

static void add_facts(struct tp_splice *splice, struct tp_buf *payload)
{
	const struct tp_join_counts *counts = splice->counts;
	add_lines(payload, splice->host.trace->host);
	tp_buf_addf(payload,
	    "joined_calls=%" PRIu64 "\njoined_ambiguous=%" PRIu64 "\njoined_alone=%" PRIu64
	    "\njoined_moved=%" PRIu64 "\njoined_times=%" PRIu64 "\njoined_dropped=%" PRIu64
	    "\njoined_unmatched=%" PRIu64 "\njoined_threads=%" PRIu32 "\n",
	    counts->calls, counts->ambiguous, counts->alone, counts->moved, counts->times,
	    counts->dropped, counts->unmatched, counts->threads);
	tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_HOST, payload);
}

static void add_modules(struct tp_splice *splice, struct tp_buf *payload)
{
	const struct tp_tracefile *host = splice->host.trace;
	const struct tp_join_names *names = &splice->names;
	tp_buf_add(payload, host->modules, host->module_count * sizeof(*host->modules));
	tp_buf_add(payload, names->modules, names->count * sizeof(*names->modules));
	tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_MODULES, payload);
}

// Sections that are the host's: the clock, and meters of its process, which runs the TEE's code.
static void add_hosts(struct tp_splice *splice)
{
	for (uint32_t type = 1; type < TP_SECTION_TYPES; type++) {
		const struct tp_section_parts *kept = &splice->host.trace->kept[type];
		if (tp_section_kind(type)->of_host && kept->copy)
			tp_trace_section_add(splice->writer.out, type, kept->copy, kept->size);
	}
}

// Names that the traces bring themselves: the host's, and the TEE's where its modules are now.
static void add_symbols(struct tp_splice *splice, struct tp_buf *payload)
{
	add_lines(payload, splice->host.trace->symbols);
	for (const char *line = splice->tee.trace->symbols; line && *line;) {
		const size_t length = strcspn(line, "\n");
		char *rest;
		const uint64_t address =
		    tp_join_names_address(&splice->names, strtoull(line, &rest, 16));
		if (address && *rest == '\t' && rest < line + length) {
			tp_buf_addf(payload, "%" PRIx64, address);
			tp_buf_add(payload, rest, (size_t)(line + length - rest));
			tp_buf_add_char(payload, '\n');
		}
		line += length + (line[length] == '\n');
	}
	if (payload->size)
		tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_SYMBOLS, payload);
}

// When recording was off, as the host's log has it.
static void add_switches(struct tp_splice *splice, struct tp_buf *payload)
{
	const struct tp_gaps *gaps = &splice->host.trace->gaps;
	for (uint32_t i = 0; i < gaps->count; i++) {
		const struct tp_gap *gap = &gaps->items[i];
		const uint64_t off = gap->from << 1;
		const uint64_t on = gap->to << 1 | 1;
		if (i || gap->from)
			tp_buf_add(payload, &off, sizeof(off));
		if (gap->to < UINT64_MAX / 2)
			tp_buf_add(payload, &on, sizeof(on));
	}
	if (payload->size)
		tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_SWITCHES, payload);
}

// The host's threads carry the TEE's.
static void add_cpu(struct tp_splice *splice, struct tp_buf *payload)
{
	const struct tp_tracefile *host = splice->host.trace;
	struct teeperf_trace_cpu cpu = host->cpu;
	cpu.thread_count = 0;
	for (uint32_t i = 0; i < host->thread_count; i++)
		cpu.thread_count += host->threads[i].has_cpu || host->threads[i].has_delay;
	if (!cpu.flags && !cpu.thread_count)
		return;
	tp_buf_add(payload, &cpu, sizeof(cpu));
	for (uint32_t i = 0; i < host->thread_count; i++) {
		const struct tp_thread *thread = &host->threads[i];
		const struct teeperf_trace_cpu_thread entry = {
		    .thread = i, // as in the chunks, where no number is left out
		    .flags = (!thread->has_cpu          ? 0
				 : thread->cpu_is_exact ? TEEPERF_CPU_EXACT
							: TEEPERF_CPU_AT_LEAST) |
			     (thread->has_delay ? TEEPERF_CPU_DELAY : 0),
		    .cpu_ns = thread->cpu_ns,
		    .delay_ns = thread->delay_ns,
		};
		if (entry.flags)
			tp_buf_add(payload, &entry, sizeof(entry));
	}
	tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_CPU, payload);
}

static void add_sched(struct tp_splice *splice, struct tp_buf *payload)
{
	const struct tp_sched_read *sched = &splice->host.trace->sched;
	const struct teeperf_trace_sched section = {.from_ns = sched->from_ns, .lost = sched->lost};
	if (!sched->any)
		return;
	tp_buf_add(payload, &section, sizeof(section));
	tp_buf_add(payload, sched->switches, sched->count * sizeof(*sched->switches));
	tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_SCHED, payload);
}

// What the kernel did for the host's threads, which run the TEE's code, too.
static void add_system(struct tp_splice *splice, struct tp_buf *payload)
{
	const struct tp_system *system = &splice->host.trace->system;
	if (!system->has)
		return;
	tp_buf_add(payload, &system->head, sizeof(system->head));
	tp_buf_add(payload, system->events, system->count * sizeof(*system->events));
	tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_SYSTEM, payload);
}

// What each of the host's threads lacks; of the TEE's, which are not threads any more, there are
// sums in END.
static void add_missing(struct tp_splice *splice, struct tp_buf *payload)
{
	const struct tp_tracefile *host = splice->host.trace;
	for (uint32_t i = 0; i < host->thread_count; i++) {
		struct teeperf_trace_missing entry = host->threads[i].unwritten;
		entry.thread = i;
		if (entry.chunks)
			tp_buf_add(payload, &entry, sizeof(entry));
	}
	if (payload->size)
		tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_MISSING, payload);
}

// Whether more is missing of it than its END has numbers for.
static bool lacks_unknown(const struct tp_tracefile *trace)
{
	return !trace->has_end || trace->lacks.open || trace->lacks.more;
}

static void add_end(struct tp_splice *splice, struct tp_buf *payload)
{
	const struct tp_tracefile *host = splice->host.trace;
	const struct tp_tracefile *tee = splice->tee.trace;
	struct teeperf_trace_end end = host->end;
	if (!host->has_end)
		return;
	end.chunk_count = splice->writer.chunk_count;
	end.thread_count += splice->counts->threads;
	end.module_count += splice->names.count;
	if (tee->has_end) {
		end.chunk_draws += tee->end.chunk_draws;
		end.lost_early += tee->end.lost_early;
		end.lost_overflow += tee->end.lost_overflow;
		end.log_bytes += tee->end.log_bytes;
		end.missing_events += tee->end.missing_events;
		end.missing_calls += tee->end.missing_calls;
		end.unwritten |= tee->end.unwritten;
		end.missing_chunks = UINT32_MAX - end.missing_chunks < tee->end.missing_chunks
					 ? UINT32_MAX
					 : end.missing_chunks + tee->end.missing_chunks;
	}
	if (lacks_unknown(host) || lacks_unknown(tee))
		end.unwritten |= UINT32_C(1) << TEEPERF_SECTION_CHUNK;
	tp_buf_add(payload, &end, sizeof(end));
	tp_trace_section_put(splice->writer.out, TEEPERF_SECTION_END, payload);
}

static bool has_calls_out(const struct tp_borders *borders, uint32_t thread_count)
{
	for (uint32_t i = 0; i < thread_count; i++)
		for (uint32_t k = 0; k < borders[i].count; k++)
			if (borders[i].items[k].kind == TEEPERF_CONTROL_CALL_OUT)
				return true;
	return false;
}

int tp_join(const struct tp_tracefile *host, const struct tp_tracefile *tee, bool known,
    struct tp_buf *out, struct tp_join_counts *counts, struct tp_err *err)
{
	struct tp_border_match match = {0};
	struct tp_splice splice = {.counts = counts, .err = err};
	struct tp_buf payload;
	*counts = (struct tp_join_counts){0};
	tp_buf_init(&payload);
	int code = check(host, tee, err);
	if (code)
		return code;
	code = find_all(host, &splice.host_borders, err);
	if (!code && !known && !has_calls_out(splice.host_borders, host->thread_count))
		code = tp_err_set(err, TP_ERR_NOT_FOUND, host->source.name,
		    "nothing of '%s' can be joined: the host's trace marks no call into a TEE; "
		    "both must be from one 'teeperf record --tee' of a host with marked calls "
		    "into the TEE (teeperf-record(1), A HOST AND ITS TEE)",
		    tee->source.name);
	if (!code)
		code = find_all(tee, &splice.tee_borders, err);
	if (!code)
		code = tp_border_match_find(&match, splice.host_borders, host->thread_count,
		    splice.tee_borders, tee->thread_count, err);
	if (!code)
		code = tp_join_names_init(&splice.names, host, tee, err);
	if (!code)
		code = tp_splice_init(&splice, host, tee, &match, out);
	if (code)
		goto out;
	counts->ambiguous = match.ambiguous;
	counts->alone = match.alone;
	counts->moved = splice.names.moved;
	struct teeperf_trace_header header = host->header;
	header.major = TEEPERF_TRACE_MAJOR;
	header.oldest_major = TEEPERF_TRACE_OLDEST_MAJOR;
	header.minor = TEEPERF_TRACE_MINOR;
	header.header_size = sizeof(header);
	tp_buf_add(out, &header, sizeof(header));
	add_hosts(&splice);
	code = add_threads(&splice, &payload);
	if (code)
		goto out;
	tp_trace_section_put(out, TEEPERF_SECTION_THREADS, &payload);
	add_modules(&splice, &payload);
	add_switches(&splice, &payload);
	add_cpu(&splice, &payload);
	add_sched(&splice, &payload);
	add_system(&splice, &payload);
	add_symbols(&splice, &payload);
	add_facts(&splice, &payload);
	add_missing(&splice, &payload);
	add_end(&splice, &payload);
out:
	tp_splice_release(&splice);
	tp_join_names_release(&splice.names);
	tp_border_match_release(&match);
	release_all(host, splice.host_borders);
	release_all(tee, splice.tee_borders);
	tp_buf_release(&payload);
	return code;
}
