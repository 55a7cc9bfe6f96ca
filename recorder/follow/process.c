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
#include "recorder/region/proc.h"

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

static struct tp_host_facts facts_of(const struct tp_followed *process)
{
	struct tp_host_facts facts = process->options->common.facts;
	facts.process = (uint64_t)process->pid;
	facts.parent = (uint64_t)process->parent;
	return facts;
}

static void begin_trace(const struct tp_followed *process, bool ended)
{
	const struct tp_host_facts facts = facts_of(process);
	tp_trace_add_host(&process->log.drain, &facts, ended);
	tp_trace_add_command(&process->log.drain, NULL, process->pid, NULL);
}

static void begin_snapshot(void *context)
{
	begin_trace(context, true);
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
	// A forked child goes on in its parent's chunk, at the same place in a log of the same
	// shape.
	const struct tp_region_options wanted = {
	    .chunk_count = options->first->chunk_count,
	    .ready = (uint64_t)READY_CHUNKS * TP_REGION_CHUNK_SIZE,
	    .low_chunks = LOW_CHUNKS,
	    .step_chunks = READY_CHUNKS,
	    .owned = request->owned,
	    .mode = options->first->mode,
	    .ring = options->first->ring,
	    .clock = options->common.clock,
	    .only = options->only,
	};
	int r = tp_recording_create(&process->log, &wanted, path, options->common.compress, err);
	if (r)
		goto fail;
	// It waits for our answer.
	if (!options->common.no_sched)
		tp_sched_open(&process->log.drain.sched, pid, TP_SCHED_THREADS);
	process->log.region.header->clock_hz = options->first->header->clock_hz;
	process->log.drain.process = pid;
	process->log.drain.process_is_old = !request->parent;
	process->log.drain.snapshots = (struct tp_drain_snapshots){
	    .begin = begin_snapshot, .context = process, .start_ns = &process->start_ns};
	tp_recording_prepare(&process->log, &options->common);
	begin_trace(process, false);
	tp_bpf_reader_init(&process->log.drain.system, options->bpf, (uint32_t)pid);
	r = tp_recording_start(&process->log, err);
	if (!r)
		return 0;
	tp_sched_close(&process->log.drain.sched);
	tp_bpf_reader_release(&process->log.drain.system);
	tp_recording_discard(&process->log);
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

// It is not our child, so its exit status is not reported to us; sometimes it is visible.
void tp_followed_end(struct tp_followed *process)
{
	process->over = true;
	process->end_ns = tp_clock_monotonic_ns();
	tp_cpu_times_look_last(&process->log.drain.cpu, process->pid);
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

void tp_followed_finish(struct tp_followed *process, bool running, struct tp_follow_result *result)
{
	const struct tp_host_facts facts = facts_of(process);
	const struct teeperf_trace_end known = {
	    .exit_kind = process->exit_kind,
	    .exit_value = process->exit_value,
	    .start_ns = process->start_ns,
	    .end_ns = process->end_ns ? process->end_ns : tp_clock_monotonic_ns(),
	};
	struct tp_recording_result *log = &result->log;
	*result = (struct tp_follow_result){.pid = process->pid,
	    .running = running,
	    .replaced = process->replaced,
	    .exit_kind = process->exit_kind,
	    .exit_value = process->exit_value};
	memcpy(result->name, process->name, sizeof(result->name));
	tp_drain_stop(&process->log.drain);
	tp_recording_finish(&process->log, &facts, &known, log);
	log->records -= log->records < process->padding ? log->records : process->padding;
	if (!log->records && !process->log.writer.failed && !log->lost) {
		tp_recording_discard(&process->log);
	} else {
		result->path = strdup(process->log.writer.path);
		log->failed = tp_recording_close(&process->log) != 0;
	}
	close(process->pidfd);
	free(process);
}
