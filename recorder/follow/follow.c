// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of the other processes of a recording, and the thread that waits for their ends.
#define _GNU_SOURCE
#include "follow.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

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
		follow->finishing = strdup(process->log.writer.path);
		follow->finishing_flush = process->flush != 0;
	}
	pthread_mutex_unlock(&follow->lock);
	return process;
}

static void finish(struct tp_follow *follow, struct tp_followed *process, bool running)
{
	struct tp_follow_result result;
	tp_followed_finish(process, running, &result);
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
	follow->finishing_flush = false;
	pthread_mutex_unlock(&follow->lock);
}

/*
 * Wait until one ends, or the bell rings; mark what has ended, with the time, and with the way,
 * which can be seen only for a moment. True if there is something to finish.
 */
static bool wait_for_end(struct tp_follow *follow, int timeout_ms)
{
	struct pollfd events[TP_FOLLOW_LIVE_MAX + 1] = {
	    {.fd = follow->watcher.bell.fd, .events = POLLIN}};
	// A descriptor may be closed, and come again as another one, while we wait.
	uint64_t numbers[TP_FOLLOW_LIVE_MAX + 1] = {0};
	nfds_t count = 1;
	bool over = false;
	pthread_mutex_lock(&follow->lock);
	for (const struct tp_followed *at = follow->list; at; at = at->next) {
		if (at->over || count > TP_FOLLOW_LIVE_MAX)
			continue;
		numbers[count] = at->number;
		events[count++] = (struct pollfd){.fd = at->pidfd, .events = POLLIN};
	}
	pthread_mutex_unlock(&follow->lock);
	poll(events, count, timeout_ms);
	tp_doorbell_wait(&follow->watcher.bell, 0);
	pthread_mutex_lock(&follow->lock);
	for (struct tp_followed *at = follow->list; at; at = at->next) {
		for (nfds_t i = 1; !at->over && i < count; i++)
			if (numbers[i] == at->number && events[i].revents)
				tp_followed_end(at);
		over |= at->over;
	}
	pthread_mutex_unlock(&follow->lock);
	return over;
}

static void *watch(void *argument)
{
	struct tp_follow *follow = argument;
	while (!tp_load_relaxed(&follow->watcher.stop))
		if (wait_for_end(follow, -1))
			tp_doorbell_ring(&follow->finisher.bell);
	return NULL;
}

// A thread of its own: a slow disk does not keep us from seeing the next one end.
static void *finish_all(void *argument)
{
	struct tp_follow *follow = argument;
	while (!tp_load_relaxed(&follow->finisher.stop)) {
		tp_doorbell_wait(&follow->finisher.bell, -1);
		for (struct tp_followed *process; (process = take_over(follow, false));)
			finish(follow, process, false);
	}
	return NULL;
}

bool tp_follow_grow(struct tp_follow *follow)
{
	bool grown = false;
	// Who has the lock may wait for a disk, and we are asked again soon.
	if (pthread_mutex_trylock(&follow->lock))
		return false;
	for (struct tp_followed *at = follow->list; at; at = at->next)
		grown |= tp_region_grow(&at->log.region);
	pthread_mutex_unlock(&follow->lock);
	return grown;
}

void tp_follow_command(struct tp_follow *follow, uint64_t control)
{
	pthread_mutex_lock(&follow->lock);
	follow->control = control;
	for (struct tp_followed *at = follow->list; at; at = at->next) {
		struct teeperf_log_header *header = at->log.region.header;
		tp_store_release(&header->control, control);
		if (follow->options.control_signal &&
		    tp_load32_acquire(&header->listens) == TEEPERF_LISTENS_SIGNAL &&
		    tp_region_is_mapped(&at->log.region, at->pid) > 0)
			syscall(SYS_pidfd_send_signal, at->pidfd, follow->options.control_signal,
			    NULL, 0);
	}
	pthread_mutex_unlock(&follow->lock);
}

void tp_follow_mark(struct tp_follow *follow, uint64_t monotonic_ns, const char *name)
{
	pthread_mutex_lock(&follow->lock);
	for (struct tp_followed *at = follow->list; at; at = at->next)
		tp_mark_log_add(&at->log.drain.marks, monotonic_ns, name);
	pthread_mutex_unlock(&follow->lock);
}

// Whether what tp_follow_flush asked for is written; *failed if something could not be.
static bool has_flushed(struct tp_follow *follow, bool *failed)
{
	pthread_mutex_lock(&follow->lock);
	bool done = !follow->finishing_flush;
	for (struct tp_followed *at = follow->list; at; at = at->next) {
		if (!at->flush)
			continue;
		if (tp_drain_has_flushed(&at->log.drain, at->flush)) {
			*failed |= at->log.writer.failed || at->log.drain.snapshots.failed;
			at->flush = 0;
		} else {
			done = false;
		}
	}
	pthread_mutex_unlock(&follow->lock);
	return done;
}

// Without the lock while it is written: who wants to fork waits for that.
bool tp_follow_flush(struct tp_follow *follow, uint32_t timeout_ms)
{
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	bool failed = false;
	pthread_mutex_lock(&follow->lock);
	const uint64_t finished = follow->result_count;
	follow->finishing_flush = follow->finishing != NULL;
	for (struct tp_followed *at = follow->list; at; at = at->next)
		at->flush = tp_drain_ask_flush(&at->log.drain);
	pthread_mutex_unlock(&follow->lock);
	bool done = has_flushed(follow, &failed);
	for (uint32_t i = 0; !done && i < timeout_ms; i++) {
		nanosleep(&nap, NULL);
		done = has_flushed(follow, &failed);
	}
	pthread_mutex_lock(&follow->lock);
	for (uint64_t i = finished; i < follow->result_count; i++)
		failed |= follow->results[i].log.failed;
	pthread_mutex_unlock(&follow->lock);
	return done && !failed;
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
		*records += tp_load_relaxed(&at->log.drain.record_bytes) / 8;
		*lost += tp_region_lost(&at->log.region);
	}
	for (uint64_t i = 0; i < follow->result_count; i++) {
		*records += follow->results[i].log.records;
		*lost += follow->results[i].log.lost;
	}
	const uint32_t live = follow->live;
	pthread_mutex_unlock(&follow->lock);
	return live;
}

int tp_follow_start(
    struct tp_follow *follow, const struct tp_follow_options *options, struct tp_err *err)
{
	static const char what[] = "the threads for children";
	*follow = (struct tp_follow){
	    .options = *options, .control = options->common.start_off ? 0 : TEEPERF_ACTIVE};
	pthread_mutex_init(&follow->lock, NULL);
	int r = tp_worker_start(&follow->finisher, finish_all, follow, what, err);
	if (r)
		goto fail;
	r = tp_worker_start(&follow->watcher, watch, follow, what, err);
	if (r)
		goto fail_finisher;
	r = tp_follow_server_start(follow, err);
	if (!r)
		return 0;
	tp_worker_stop(&follow->watcher);
fail_finisher:
	tp_worker_stop(&follow->finisher);
fail:
	pthread_mutex_destroy(&follow->lock);
	return r;
}

void tp_follow_stop(struct tp_follow *follow)
{
	tp_follow_server_stop(follow);
	tp_worker_stop(&follow->watcher);
	tp_worker_stop(&follow->finisher);
	// What has ended by now does not run on.
	wait_for_end(follow, 0);
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
	pthread_mutex_destroy(&follow->lock);
}
