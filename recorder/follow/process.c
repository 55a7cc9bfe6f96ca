// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One of the other processes of a recording: its log and its trace.
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clean.h"
#include "recorder/region/log_guard.h"
#include "recorder/region/proc.h"
#include "recorder/drain/trace_ends.h"

enum {
	// There may be many processes, and most of them are short.
	READY_CHUNKS = 64,
	LOW_CHUNKS = 48,
};

static void read_name(struct tp_followed *process)
{
	tp_proc_read(process->pid, "comm", process->name, sizeof(process->name));
	process->name[strcspn(process->name, "\n")] = '\0';
	tp_clean(process->name, strlen(process->name));
}

static void write_host(struct tp_followed *process, const struct tp_follow_options *options,
    struct tp_trace_writer *writer, bool ended)
{
	const struct teeperf_log_header *header = process->region.header;
	struct tp_host_facts facts = options->facts;
	facts.log_bytes = (uint64_t)process->region.chunk_count * TP_REGION_CHUNK_SIZE;
	facts.process = (uint64_t)process->pid;
	facts.parent = (uint64_t)process->parent;
	facts.ended = ended;
	facts.clock_gaps = options->counter ? tp_counter_thread_starved_count(options->counter) : 0;
	facts.switches_missed = process->drain.switches.missed;
	facts.log_gone_bytes = tp_log_guard_lost_bytes(process->region.map);
	facts.functions = tp_load_relaxed(&header->function_count);
	facts.functions_left_out = tp_load_relaxed(&header->functions_left_out);
	tp_trace_add_host(writer, &facts);
}

static void write_command(const struct tp_followed *process, struct tp_trace_writer *writer)
{
	struct tp_buf command;
	tp_buf_init(&command);
	tp_host_facts_command_of(&command, process->pid);
	if (!command.failed)
		tp_trace_writer_add(writer, TEEPERF_SECTION_COMMAND, command.data, command.size);
	tp_buf_release(&command);
}

static void frame_snapshot(void *context, struct tp_trace_writer *writer, bool end)
{
	struct tp_followed *process = context;
	if (!end) {
		write_host(process, process->options, writer, true);
		write_command(process, writer);
		return;
	}
	tp_trace_add_end(writer, &process->region,
	    &(struct teeperf_trace_end){.exit_kind = TEEPERF_EXIT_UNKNOWN,
		.start_ns = process->start_ns,
		.end_ns = tp_clock_monotonic_ns()});
}

int tp_followed_start(struct tp_followed *process, const struct tp_follow *follow, pid_t pid,
    const struct tp_follow_request *request, const char *path, struct tp_err *err)
{
	const struct tp_follow_options *options = &follow->options;
	*process = (struct tp_followed){
	    .pid = pid, .start_ns = tp_clock_monotonic_ns(), .options = options};
	process->parent = request->parent;
	process->padding = request->padding;
	read_name(process);
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process->pidfd < 0)
		return tp_err_system(
		    err, errno, NULL, "cannot watch process %d (needs Linux 5.3)", (int)pid);
	// A forked child goes on in its parent's chunk, at the same place in a log of the same shape.
	const struct tp_region_options wanted = {
	    .chunk_count = options->first->chunk_count,
	    .ready = (uint64_t)READY_CHUNKS * TP_REGION_CHUNK_SIZE,
	    .low_chunks = LOW_CHUNKS,
	    .step_chunks = READY_CHUNKS,
	    .owned = request->owned,
	    .mode = options->first->mode,
	    .ring = options->first->ring,
	    .clock = options->clock,
	    .only = follow->only,
	};
	int r = tp_region_create(&process->region, &wanted, err);
	if (r)
		goto fail;
	r = tp_trace_writer_create(&process->writer, path, err);
	if (r)
		goto fail_region;
	if (options->compress)
		r = tp_trace_writer_pack(&process->writer, options->compress, err);
	if (r)
		goto fail_writer;
	tp_clock_log_init(&process->clock_log, options->clock,
	    options->clock == TEEPERF_CLOCK_SOFT_COUNT ? &options->counter->stores : NULL);
	// The rate comes from the whole recording: most children are too short to tell it.
	process->clock_log.points[0] = options->origin;
	process->region.header->clock_hz = options->first->header->clock_hz;
	process->drain = (struct tp_drain){
	    .region = &process->region,
	    .writer = &process->writer,
	    .clock_log = &process->clock_log,
	    .counter = options->counter,
	    .policy = options->policy,
	    .start_off = options->start_off,
	    .process = pid,
	    .process_is_old = !request->parent,
	    .snapshots = {.frame = frame_snapshot, .context = process},
	};
	write_host(process, options, &process->writer, false);
	write_command(process, &process->writer);
	r = tp_trace_add_log(
	    &process->writer, &process->region, options->compress, options->start_off, path, err);
	if (!r)
		r = tp_drain_start(&process->drain, err);
	if (!r)
		return 0;
fail_writer:
	tp_trace_writer_discard(&process->writer);
fail_region:
	tp_region_release(&process->region);
fail:
	close(process->pidfd);
	return r;
}

// Of a process that waits to be reaped: how it ended is the last field of its line. -1: not known.
static int status_of_zombie(pid_t pid)
{
	char text[1024];
	tp_proc_read(pid, "stat", text, sizeof(text));
	const char *behind = strrchr(text, ')');
	const char *last = strrchr(text, ' ');
	if (!behind || !last || strncmp(behind, ") Z", 3))
		return -1;
	return atoi(last + 1);
}

// Of one that is gone for good, from Linux 6.15 on.
static int status_of_pidfd(int pidfd)
{
	struct {
		uint64_t mask, cgroup;
		uint32_t ids[11];
		int32_t exit_code;
	} info = {.mask = UINT64_C(1) << 3};
	if (ioctl(pidfd, _IOC(_IOC_READ | _IOC_WRITE, 0xff, 11, sizeof(info)), &info))
		return -1;
	return info.mask & UINT64_C(1) << 3 ? info.exit_code : -1;
}

// It is not our child, so we are not told how it ended; sometimes it can be seen.
void tp_followed_end(struct tp_followed *process)
{
	process->over = true;
	process->end_ns = tp_clock_monotonic_ns();
	tp_cpu_times_look_last(&process->drain.cpu, process->pid);
	int status = status_of_zombie(process->pid);
	// If it still waits, its number was not another's when we looked.
	if (status >= 0 && syscall(SYS_pidfd_send_signal, process->pidfd, 0, NULL, 0) &&
	    errno == ESRCH)
		status = -1;
	if (status < 0)
		status = status_of_pidfd(process->pidfd);
	if (status < 0)
		return;
	process->exit_kind = WIFSIGNALED(status) ? TEEPERF_EXIT_SIGNAL : TEEPERF_EXIT_CODE;
	process->exit_value =
	    (uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void tp_followed_finish(struct tp_followed *process, const struct tp_follow_options *options,
    bool running, struct tp_follow_result *result)
{
	const uint64_t end_ns = process->end_ns ? process->end_ns : tp_clock_monotonic_ns();
	const struct teeperf_log_header *header = process->region.header;
	*result = (struct tp_follow_result){.pid = process->pid,
	    .running = running,
	    .replaced = process->replaced,
	    .exit_kind = process->exit_kind,
	    .exit_value = process->exit_value};
	memcpy(result->name, process->name, sizeof(result->name));
	tp_drain_stop(&process->drain);
	tp_drain_finish(&process->drain);
	write_host(process, options, &process->writer, true);
	tp_trace_add_end(&process->writer, &process->region,
	    &(struct teeperf_trace_end){.exit_kind = result->exit_kind,
		.exit_value = result->exit_value,
		.start_ns = process->start_ns,
		.end_ns = end_ns});
	const uint64_t records = process->drain.record_bytes / 8;
	result->records = records > process->padding ? records - process->padding : 0;
	result->lost = tp_region_lost(&process->region);
	result->forked = tp_count_acquire(&header->forked);
	result->refused = tp_count_acquire(&header->refused);
	result->modules_refused = process->drain.modules_refused;
	result->log_gone_bytes = tp_log_guard_lost_bytes(process->region.map);
	result->stunted = process->region.stunted;
	if (!result->records && !process->writer.failed && !result->lost) {
		tp_trace_writer_discard(&process->writer);
	} else {
		result->path = strdup(process->writer.path);
		result->failed = tp_trace_writer_close(&process->writer, NULL) != 0;
	}
	tp_region_release(&process->region);
	close(process->pidfd);
	free(process);
}
