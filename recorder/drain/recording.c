// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each trace begins and ends with, besides its tables; and a process that is recorded beside
// the program.
#define _GNU_SOURCE
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <teeperf/version.h>

#include "recorder/region/log_guard.h"
#include "recorder/region/proc.h"

static void add_facts(
    struct tp_buf *buf, const struct tp_region *region, const struct tp_host_facts *facts)
{
	struct utsname name;
	tp_buf_addf(buf, "teeperf=%s\n", TEEPERF_VERSION);
	if (uname(&name) == 0)
		tp_buf_addf(buf, "os=%s %s\nmachine=%s\nhost=%s\n", name.sysname, name.release,
		    name.machine, name.nodename);
	char *cpu = tp_proc_cpu("model name");
	if (cpu)
		tp_buf_addf(buf, "cpu=%s\n", cpu);
	free(cpu);
	tp_buf_addf(buf, "cores=%d\n", facts->cores);
	tp_buf_addf(buf, "clock=%s\n", facts->clock);
	if (facts->counter_cpu >= 0)
		tp_buf_addf(buf, "counter_cpu=%d\n", facts->counter_cpu);
	tp_buf_addf(buf, "mode=%s\nlog_bytes=%llu\n", facts->mode,
	    (unsigned long long)region->chunk_count * TP_REGION_CHUNK_SIZE);
	tp_buf_addf(buf, "drain=%s\n", facts->drain);
	if (facts->ring)
		tp_buf_addf(buf, "ring=%u\n", facts->ring);
	if (facts->start_off)
		tp_buf_addf(buf, "on_start=off\n");
	if (facts->calibrated)
		tp_buf_addf(buf, "calibrate=on\n");
	if (facts->has_cost)
		tp_buf_addf(buf,
		    "cost_in_ps=%.0f\ncost_out_ps=%.0f\ncost_untimed_ps=%.0f\n"
		    "cost_in_off_ps=%.0f\ncost_out_off_ps=%.0f\n",
		    facts->cost.in_ns * 1000, facts->cost.out_ns * 1000,
		    facts->cost.untimed_ns * 1000, facts->cost.in_off_ns * 1000,
		    facts->cost.out_off_ns * 1000);
	if (facts->has_cost && facts->cost.wait_ns > 0)
		tp_buf_addf(buf, "cost_wait_ps=%.0f\n", facts->cost.wait_ns * 1000);
	if (facts->has_cost && facts->cost.least_ns > 0)
		tp_buf_addf(buf, "cost_least_ps=%.0f\n", facts->cost.least_ns * 1000);
	if (facts->has_cost && facts->cost_age_ns)
		tp_buf_addf(buf, "cost_age_s=%llu\n",
		    (unsigned long long)(facts->cost_age_ns / 1000000000));
	if (facts->budget.share > 0)
		tp_buf_addf(buf, "budget=%.6g\nbudget_off=%u\n", facts->budget.share,
		    facts->budget.switched);
	if (facts->budget.share > 0 && facts->budget.overhead >= 0)
		tp_buf_addf(buf, "budget_overhead=%.6g\n", facts->budget.overhead);
	if (facts->process)
		tp_buf_addf(buf, "process=%llu\n", (unsigned long long)facts->process);
	if (facts->parent)
		tp_buf_addf(buf, "parent=%llu\n", (unsigned long long)facts->parent);
	if (facts->unrecorded)
		tp_buf_addf(buf, "unrecorded=%llu\n", (unsigned long long)facts->unrecorded);
	if (facts->attached)
		tp_buf_addf(buf, "attached=%s\n", facts->attached);
	if (facts->attach_pause_ns)
		tp_buf_addf(buf, "attach_pause_us=%.0f\nattach_waited_us=%.0f\n",
		    (double)facts->attach_pause_ns / 1e3, (double)facts->attach_waited_ns / 1e3);
	if (facts->port)
		tp_buf_addf(buf, "port=%s\n", facts->port);
	if (facts->transport)
		tp_buf_addf(buf, "transport=%s\n", facts->transport);
	if (facts->ids)
		tp_buf_addf(buf, "ids=%s\n", facts->ids);
	if (facts->sgx_refused)
		tp_buf_addf(buf, "sgx_refused=%s\n", facts->sgx_refused);
	if (facts->events_refused)
		tp_buf_addf(buf, "events_refused=%s\n", facts->events_refused);
}

// The counts of the end.
static void add_counts(struct tp_buf *buf, const struct tp_drain *drain, bool only)
{
	const struct teeperf_log_header *header = drain->region->header;
	const uint64_t gaps =
	    drain->counter ? tp_load_relaxed(&drain->counter->gaps.starved_count) : 0;
	const uint64_t gone = tp_log_guard_lost_bytes(drain->region->map);
	tp_buf_addf(buf, "clock_gaps=%llu\nfunctions=%llu\n", (unsigned long long)gaps,
	    (unsigned long long)tp_count_acquire(&header->function_count));
	if (only)
		tp_buf_addf(buf, "functions_left_out=%llu\n",
		    (unsigned long long)tp_count_acquire(&header->functions_left_out));
	if (drain->switches.missed)
		tp_buf_addf(
		    buf, "switches_missed=%llu\n", (unsigned long long)drain->switches.missed);
	if (drain->sched.from_ns)
		tp_buf_add_string(buf, "sched=perf\n");
	else if (drain->sched.refused.code)
		tp_buf_addf(buf, "sched=%s\n", drain->sched.refused.what);
	if (drain->helped_chunks)
		tp_buf_addf(buf, "helped_chunks=%llu\n", (unsigned long long)drain->helped_chunks);
	if (drain->writer->hurried)
		tp_buf_addf(
		    buf, "hurried_chunks=%llu\n", (unsigned long long)drain->writer->hurried);
	if (gone)
		tp_buf_addf(buf, "log_gone_bytes=%llu\n", (unsigned long long)gone);
}

// Add the buffer, and free it.
static int add_section(const struct tp_drain *drain, enum teeperf_section_type type,
    struct tp_buf *buf, struct tp_err *err)
{
	int r = 0;
	if (buf->failed)
		r = tp_err_memory(err, NULL);
	else
		tp_trace_writer_add(drain->writer, type, buf->data, buf->size);
	tp_buf_release(buf);
	return r;
}

void tp_trace_add_host(const struct tp_drain *drain, const struct tp_host_facts *facts, bool ended)
{
	struct tp_buf host;
	tp_buf_init(&host);
	add_facts(&host, drain->region, facts);
	if (ended)
		add_counts(&host, drain, facts->only);
	add_section(drain, TEEPERF_SECTION_HOST, &host, NULL);
}

// The working directory and each argument, NUL-ended.
static void add_own_command(struct tp_buf *buf, char *const *argv)
{
	char *folder = getcwd(NULL, 0);
	tp_buf_add_string(buf, folder ? folder : "");
	tp_buf_add_char(buf, '\0');
	free(folder);
	for (; *argv; argv++)
		tp_buf_add(buf, *argv, strlen(*argv) + 1);
}

// The same of a running process.
static void add_command_of(struct tp_buf *buf, pid_t pid)
{
	char path[64];
	char text[4096];
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	const ssize_t length = readlink(path, text, sizeof(text));
	tp_buf_add(buf, text, length > 0 ? (size_t)length : 0);
	tp_buf_add_char(buf, '\0');
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	// A process may say that its arguments are all of its memory.
	enum { BYTES_MOST = 1 << 20 };
	for (size_t size; buf->size < BYTES_MOST && (size = fread(text, 1, sizeof(text), file));)
		tp_buf_add(buf, text, size);
	fclose(file);
	// A process may have written over its arguments.
	if (buf->size && buf->data[buf->size - 1])
		tp_buf_add_char(buf, '\0');
}

int tp_trace_add_command(
    const struct tp_drain *drain, char *const *argv, pid_t pid, struct tp_err *err)
{
	struct tp_buf command;
	tp_buf_init(&command);
	if (argv)
		add_own_command(&command, argv);
	else
		add_command_of(&command, pid);
	return add_section(drain, TEEPERF_SECTION_COMMAND, &command, err);
}

int tp_trace_add_log(const struct tp_drain *drain, struct tp_err *err)
{
	struct tp_trace_writer *writer = drain->writer;
	struct tp_region *region = drain->region;
	struct teeperf_trace_log log = {
	    .id = region->id,
	    .recorder_pid = (uint32_t)getpid(),
	    .level = (uint32_t)writer->packer.level,
	    .start_off = drain->start_off,
	};
	if (!writer->regular || !region->path[0])
		return 0;
	memcpy(log.constants, region->header, sizeof(log.constants));
	log.constants[0] = TEEPERF_LOG_MAGIC; // it may not be there yet
	tp_trace_writer_add(writer, TEEPERF_SECTION_LOG, &log, sizeof(log));
	if (writer->failed) {
		if (err)
			*err = writer->error;
		return writer->error.code;
	}
	tp_region_note_trace(region, writer->path);
	return 0;
}

// ---- A log and a trace of its own.

int tp_recording_create(struct tp_recording *recording, const struct tp_region_options *region,
    const char *path, int compress, struct tp_err *err)
{
	memset(recording, 0, sizeof(*recording));
	int r = tp_region_create(&recording->region, region, err);
	if (r)
		return r;
	r = tp_trace_writer_open(&recording->writer, path, true, compress, err);
	if (r)
		tp_region_release(&recording->region);
	return r;
}

void tp_recording_prepare(
    struct tp_recording *recording, const struct tp_recording_options *options)
{
	const bool counts = options->clock == TEEPERF_CLOCK_SOFT_COUNT;
	struct tp_drain *drain = &recording->drain;
	tp_clock_log_init(
	    &recording->clock_log, options->clock, counts ? &options->counter->stores : NULL);
	// The rate comes from the whole recording: most children are too short to tell it.
	recording->clock_log.points[0] = options->origin;
	drain->region = &recording->region;
	drain->writer = &recording->writer;
	drain->clock_log = &recording->clock_log;
	drain->counter = options->counter;
	drain->policy = options->policy;
	drain->start_off = options->start_off;
}

int tp_recording_start(struct tp_recording *recording, struct tp_err *err)
{
	const int r = tp_trace_add_log(&recording->drain, err);
	return r ? r : tp_drain_start(&recording->drain, err);
}

void tp_recording_finish(struct tp_recording *recording, const struct tp_host_facts *facts,
    const struct teeperf_trace_end *known, struct tp_recording_result *result)
{
	const struct tp_region *region = &recording->region;
	struct tp_drain *drain = &recording->drain;
	tp_drain_finish(drain);
	tp_trace_add_host(drain, facts, true);
	tp_trace_add_end(drain, known);
	*result = (struct tp_recording_result){
	    .attach = tp_load32_acquire(&region->header->attach),
	    .records = drain->record_bytes / 8,
	    .lost = tp_region_lost(region),
	    .early = tp_region_early(region),
	    .forked = tp_count_acquire(&region->header->forked),
	    .refused = tp_count_acquire(&region->header->refused),
	    .modules_refused = drain->modules_refused,
	    .log_gone_bytes = tp_log_guard_lost_bytes(region->map),
	    .stunted = region->stunted,
	};
}

int tp_recording_close(struct tp_recording *recording)
{
	const int r = tp_trace_writer_close(&recording->writer, NULL);
	tp_region_release(&recording->region);
	return r;
}

void tp_recording_discard(struct tp_recording *recording)
{
	tp_trace_writer_discard(&recording->writer);
	tp_region_release(&recording->region);
}
