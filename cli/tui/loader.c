// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thread that reads traces.
#define _GNU_SOURCE
#include "loader.h"

#include "recorder/recover/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tp_tui_loaded_free(struct tp_tui_loaded *loaded)
{
	if (!loaded)
		return;
	tp_tui_data_release(&loaded->data);
	tp_open_trace_release(&loaded->open);
	tp_buf_release(&loaded->more);
	free(loaded);
}

static void tell(struct tp_tui_loader *loader)
{
	// A full pipe tells enough.
	const ssize_t wrote = write(loader->end, "", 1);
	(void)wrote;
}

static void on_progress(void *context, uint64_t done, uint64_t all)
{
	struct tp_tui_reading *reading = context;
	atomic_store_explicit(&reading->at, done, memory_order_relaxed);
	atomic_store_explicit(&reading->all, all, memory_order_relaxed);
}

// Open the trace. Returns an exit code; what was opened is then to be released, or not.
static int open_now(struct tp_tui_loader *loader, struct tp_tui_loaded *loaded, struct tp_err *err)
{
	struct tp_open_options options = loader->options;
	options.quiet = err;
	options.progress = on_progress;
	options.progress_context = &loader->reading;
	loader->growing.kept.last = loader->last;
	if (loader->follow)
		return tp_growing_look(
		    &loader->growing, &loaded->open, &loaded->more, &options, err);
	tp_buf_init(&loaded->more);
	const int status = tp_open_trace(&loaded->open, loader->growing.path, &options);
	if (status)
		tp_open_trace_release(&loaded->open);
	return status;
}

// The functions of a look are shown while the call tree is made.
static void show_early(struct tp_tui_loader *loader, struct tp_tui_loaded *loaded)
{
	pthread_mutex_lock(&loader->lock);
	loader->early = loaded;
	pthread_mutex_unlock(&loader->lock);
	tell(loader);
}

static int look(struct tp_tui_loader *loader, struct tp_tui_loaded **result, struct tp_err *err)
{
	struct tp_tui_loaded *loaded = calloc(1, sizeof(*loaded));
	if (!loaded) {
		tp_err_memory(err, loader->growing.path);
		return TP_EXIT_FAILED;
	}
	const int status = open_now(loader, loaded, err);
	if (status) {
		free(loaded);
		return status;
	}
	const struct tp_tracefile *trace = &loaded->open.trace;
	pid_t pid;
	loaded->gone = loader->follow && loader->growing.gone;
	loaded->recording = loader->follow
				? !loader->growing.over
				: !trace->has_end && trace->has_log &&
				      tp_recover_look(&trace->log, &pid) == TP_LOG_RECORDING;
	loaded->is_last = loader->last && loaded->open.has_last && loaded->recording;
	if (tp_tui_data_init(&loaded->data,
		loaded->is_last ? &loaded->open.since_last : &loaded->open.analysis, err)) {
		tp_tui_loaded_free(loaded);
		return TP_EXIT_FAILED;
	}
	show_early(loader, loaded);
	tp_tui_data_add_paths(&loaded->data);
	*result = loaded;
	return TP_EXIT_DONE;
}

static int work(struct tp_tui_loader *loader, struct tp_tui_loaded **loaded,
    struct tp_tui_calls *calls, struct tp_err *err)
{
	int code;
	switch (loader->job) {
	case TP_TUI_LOOK:
		return look(loader, loaded, err);
	case TP_TUI_READ_CALLS:
		code = tp_tui_calls_slowest(
		    calls, loader->analysis, loader->function, &loader->reading, err);
		break;
	default:
		code = tp_tui_calls_inside(
		    calls, loader->analysis, &loader->outer, &loader->reading, err);
	}
	return code ? TP_EXIT_FAILED : TP_EXIT_DONE;
}

static void *run(void *context)
{
	struct tp_tui_loader *loader = context;
	pthread_mutex_lock(&loader->lock);
	for (;;) {
		while (!loader->quit && (loader->job == TP_TUI_IDLE || loader->done))
			pthread_cond_wait(&loader->wake, &loader->lock);
		if (loader->quit)
			break;
		pthread_mutex_unlock(&loader->lock);
		struct tp_tui_loaded *loaded = NULL;
		struct tp_tui_calls calls = {0};
		struct tp_err err = {0};
		const int status = work(loader, &loaded, &calls, &err);
		pthread_mutex_lock(&loader->lock);
		loader->status = status;
		loader->loaded = loaded;
		loader->calls = calls;
		loader->err = err;
		loader->done = true;
		tell(loader);
	}
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

int tp_tui_loader_start(struct tp_tui_loader *loader, const char *what,
    const struct tp_open_options *options, struct tp_err *err)
{
	int ends[2];
	sigset_t all;
	sigset_t before;
	memset(loader, 0, sizeof(*loader));
	loader->options = *options;
	loader->fd = loader->end = -1;
	tp_growing_init(&loader->growing, what);
	loader->follow = loader->growing.pid;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return tp_err_system(err, errno, NULL, "no pipe");
	loader->fd = ends[0];
	loader->end = ends[1];
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->wake, NULL);
	// Signals are for the thread that has the terminal.
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int code = pthread_create(&loader->thread, NULL, run, loader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	loader->started = !code;
	return code ? tp_err_system(err, code, NULL, "no thread to read the trace") : 0;
}

bool tp_tui_loader_busy(const struct tp_tui_loader *loader)
{
	return loader->job != TP_TUI_IDLE;
}

bool tp_tui_loader_end(struct tp_tui_loader *loader)
{
	if (loader->started) {
		pthread_mutex_lock(&loader->lock);
		const bool looks = loader->job == TP_TUI_LOOK && !loader->done;
		loader->quit = true;
		pthread_mutex_unlock(&loader->lock);
		if (looks)
			return false;
		atomic_store(&loader->reading.stop, true);
		pthread_cond_signal(&loader->wake);
		pthread_join(loader->thread, NULL);
		tp_tui_calls_release(&loader->calls);
	}
	tp_growing_release(&loader->growing);
	if (loader->fd >= 0) {
		close(loader->fd);
		close(loader->end);
	}
	return true;
}

static void begin(struct tp_tui_loader *loader, enum tp_tui_job job)
{
	atomic_store(&loader->reading.stop, false);
	atomic_store(&loader->reading.at, 0);
	atomic_store(&loader->reading.all, 0);
	pthread_mutex_lock(&loader->lock);
	loader->job = job;
	pthread_mutex_unlock(&loader->lock);
	pthread_cond_signal(&loader->wake);
}

void tp_tui_loader_look(struct tp_tui_loader *loader)
{
	begin(loader, TP_TUI_LOOK);
}

void tp_tui_loader_calls(struct tp_tui_loader *loader, const struct tp_analysis *analysis,
    uint32_t function, uint32_t ticket)
{
	loader->analysis = analysis;
	loader->function = function;
	loader->ticket = ticket;
	begin(loader, TP_TUI_READ_CALLS);
}

void tp_tui_loader_call(struct tp_tui_loader *loader, const struct tp_analysis *analysis,
    const struct tp_kept_call *outer, uint32_t ticket)
{
	loader->analysis = analysis;
	loader->outer = *outer;
	loader->ticket = ticket;
	begin(loader, TP_TUI_READ_CALL);
}

struct tp_tui_result tp_tui_loader_take(struct tp_tui_loader *loader)
{
	struct tp_tui_result result = {0};
	char bytes[64];
	while (read(loader->fd, bytes, sizeof(bytes)) > 0)
		;
	pthread_mutex_lock(&loader->lock);
	if (loader->done) {
		result = (struct tp_tui_result){
		    .job = loader->job,
		    .loaded = loader->loaded,
		    .calls = loader->calls,
		    .ticket = loader->ticket,
		    .status = loader->status,
		    .err = loader->err,
		};
		loader->loaded = loader->early = NULL;
		loader->calls = (struct tp_tui_calls){0};
		loader->done = false;
		loader->job = TP_TUI_IDLE;
	} else if (loader->early) {
		result = (struct tp_tui_result){
		    .job = TP_TUI_LOOK, .early = true, .loaded = loader->early};
		loader->early = NULL;
	}
	pthread_mutex_unlock(&loader->lock);
	return result;
}
