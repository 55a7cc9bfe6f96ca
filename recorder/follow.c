// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of the other processes of a recording, and the thread that waits for their ends.
#define _GNU_SOURCE
#include "follow.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "follow_process.h"
#include "follow_server.h"
#include "shared.h"

// Take one that is over off the list; NULL if there is none.
static struct tp_followed *take_over(struct tp_follow *follow, bool all)
{
	struct tp_followed **link = &follow->list;
	pthread_mutex_lock(&follow->lock);
	while (*link && !(*link)->over && !all)
		link = &(*link)->next;
	struct tp_followed *process = *link;
	if (process) {
		*link = process->next;
		follow->live--;
		follow->finishing = strdup(process->writer.path);
	}
	pthread_mutex_unlock(&follow->lock);
	return process;
}

static void finish(struct tp_follow *follow, struct tp_followed *process, bool running)
{
	struct tp_follow_result result;
	tp_followed_finish(process, &follow->options, running, &result);
	pthread_mutex_lock(&follow->lock);
	struct tp_follow_result *more =
	    realloc(follow->results, (size_t)(follow->result_count + 1) * sizeof(*follow->results));
	if (more) {
		follow->results = more;
		more[follow->result_count++] = result;
	} else {
		free(result.path);
	}
	free(follow->finishing);
	follow->finishing = NULL;
	pthread_mutex_unlock(&follow->lock);
}

// Wait until one ends; mark it.
static void wait_for_end(struct tp_follow *follow)
{
	struct pollfd events[TP_FOLLOW_LIVE_MAX + 1] = {
	    {.fd = follow->reaper_bell.fd, .events = POLLIN}};
	nfds_t count = 1;
	pthread_mutex_lock(&follow->lock);
	for (const struct tp_followed *at = follow->list; at; at = at->next)
		events[count++] = (struct pollfd){.fd = at->pidfd, .events = POLLIN};
	pthread_mutex_unlock(&follow->lock);
	poll(events, count, -1);
	tp_doorbell_wait(&follow->reaper_bell, 0);
	pthread_mutex_lock(&follow->lock);
	for (struct tp_followed *at = follow->list; at; at = at->next)
		for (nfds_t i = 1; i < count; i++)
			at->over |= events[i].fd == at->pidfd && events[i].revents;
	pthread_mutex_unlock(&follow->lock);
}

static void *reap(void *argument)
{
	struct tp_follow *follow = argument;
	while (!tp_shared_load_relaxed(&follow->stop)) {
		wait_for_end(follow);
		for (struct tp_followed *process; (process = take_over(follow, false));)
			finish(follow, process, false);
	}
	return NULL;
}

bool tp_follow_maps_log(pid_t pid, const char *log_path)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	char *line = NULL;
	size_t capacity = 0;
	bool found = false;
	while (!found && getline(&line, &capacity, file) > 0)
		found = strstr(line, log_path) != NULL;
	free(line);
	fclose(file);
	return found;
}

bool tp_follow_grow(struct tp_follow *follow)
{
	bool grown = false;
	pthread_mutex_lock(&follow->lock);
	for (struct tp_followed *at = follow->list; at; at = at->next)
		grown |= tp_region_grow(&at->region);
	pthread_mutex_unlock(&follow->lock);
	return grown;
}

void tp_follow_command(struct tp_follow *follow, uint64_t control)
{
	pthread_mutex_lock(&follow->lock);
	follow->control = control;
	for (struct tp_followed *at = follow->list; at; at = at->next) {
		struct teeperf_log_header *header = at->region.header;
		tp_shared_store_release(&header->control, control);
		if (follow->options.control_signal &&
		    tp_shared_load32_acquire(&header->listens) == TEEPERF_LISTENS_SIGNAL &&
		    tp_follow_maps_log(at->pid, at->region.path))
			syscall(SYS_pidfd_send_signal, at->pidfd, follow->options.control_signal,
			    NULL, 0);
	}
	pthread_mutex_unlock(&follow->lock);
}

bool tp_follow_flush(struct tp_follow *follow, uint32_t timeout_ms)
{
	bool done = true;
	pthread_mutex_lock(&follow->lock);
	for (struct tp_followed *at = follow->list; at; at = at->next)
		done &= tp_drain_flush(&at->drain, timeout_ms);
	pthread_mutex_unlock(&follow->lock);
	return done;
}

void tp_follow_signal(struct tp_follow *follow, int number)
{
	pthread_mutex_lock(&follow->lock);
	for (struct tp_followed *at = follow->list; at; at = at->next)
		syscall(SYS_pidfd_send_signal, at->pidfd, number, NULL, 0);
	pthread_mutex_unlock(&follow->lock);
}

uint32_t tp_follow_count(struct tp_follow *follow, uint64_t *records, uint64_t *lost)
{
	*records = *lost = 0;
	pthread_mutex_lock(&follow->lock);
	for (const struct tp_followed *at = follow->list; at; at = at->next) {
		*records += tp_shared_load_relaxed(&at->drain.record_bytes) / 8;
		*lost += tp_region_lost(&at->region);
	}
	for (uint64_t i = 0; i < follow->result_count; i++) {
		*records += follow->results[i].records;
		*lost += follow->results[i].lost;
	}
	const uint32_t live = follow->live;
	pthread_mutex_unlock(&follow->lock);
	return live;
}

int tp_follow_start(struct tp_follow *follow, const struct tp_follow_options *options,
    const struct tp_region_only *only, uint64_t control, struct tp_err *err)
{
	*follow = (struct tp_follow){.options = *options, .only = *only, .control = control};
	const size_t size = only->count * sizeof(*only->hashes);
	uint64_t *hashes = malloc(size ? size : 1);
	if (!hashes)
		return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
	if (size)
		memcpy(hashes, only->hashes, size);
	follow->only.hashes = hashes;
	pthread_mutex_init(&follow->lock, NULL);
	int r = tp_doorbell_init(&follow->reaper_bell, err);
	if (r)
		goto fail;
	const int error = pthread_create(&follow->reaper, NULL, reap, follow);
	if (error) {
		r = tp_err_system(err, error, NULL, "cannot start the thread for children");
		goto fail_bell;
	}
	r = tp_follow_server_start(follow, err);
	if (!r)
		return 0;
	tp_shared_store_relaxed(&follow->stop, 1);
	tp_doorbell_ring(&follow->reaper_bell);
	pthread_join(follow->reaper, NULL);
fail_bell:
	tp_doorbell_release(&follow->reaper_bell);
fail:
	pthread_mutex_destroy(&follow->lock);
	free(hashes);
	return r;
}

void tp_follow_stop(struct tp_follow *follow)
{
	tp_shared_store_relaxed(&follow->stop, 1);
	tp_follow_server_stop(follow);
	tp_doorbell_ring(&follow->reaper_bell);
	pthread_join(follow->reaper, NULL);
	tp_doorbell_release(&follow->reaper_bell);
	for (struct tp_followed *process; (process = take_over(follow, true));)
		finish(follow, process, !process->over);
}

void tp_follow_release(struct tp_follow *follow)
{
	for (uint64_t i = 0; i < follow->result_count; i++)
		free(follow->results[i].path);
	free(follow->results);
	follow->results = NULL;
	follow->result_count = 0;
	free((void *)(uintptr_t)follow->only.hashes);
	pthread_mutex_destroy(&follow->lock);
}
