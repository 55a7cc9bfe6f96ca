// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between the terminal and the loader: keys go to the model, looks at the trace to the loader, what
// comes of them to the model.
#define _GNU_SOURCE
#include "run.h"

#include "loader.h"
#include "screen.h"

#include "common/clean.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS 100    // an error that comes sooner than this is printed without a screen
#define PROGRESS_MS 200 // how often the screen shows how far the loader is
#define AGE_MS 1000     // ... and how old it is

struct session {
	struct tp_tui tui;
	struct tp_tui_loader loader;
	struct tp_tui_loaded *loaded; // that is shown
	struct tp_err err;
	uint64_t interval_ms;
	uint64_t looked_ms; // when the last look began
	uint64_t shown_ms;  // ... that is shown
	uint64_t took_ms;
	uint64_t next_ms; // when the next one is due
	int status;
	bool over;        // no more looks
	sigset_t waiting; // signals that are blocked while it waits
};

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static uint64_t now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void look(struct session *session)
{
	session->looked_ms = now_ms();
	session->loader.follow |= session->tui.follow;
	session->loader.last = session->tui.last;
	tp_tui_loader_look(&session->loader);
}

// ---- what the loader has

static void set_state(struct session *session)
{
	struct tp_tui *tui = &session->tui;
	const struct tp_tui_loaded *loaded = session->loaded;
	tui->state = loaded->gone         ? TP_TUI_GONE
		     : !loaded->recording ? TP_TUI_FINISHED
		     : tui->follow        ? TP_TUI_LIVE
					  : TP_TUI_RECORDING;
	// There is nothing to follow any more.
	tui->follow &= loaded->recording;
	tui->last &= loaded->recording;
	tui->is_last = loaded->is_last;
}

// A first look is shown at once; of the next ones all is there before they take its place.
static void show(struct session *session, const struct tp_tui_result *result)
{
	struct tp_tui_loaded *before = session->loaded;
	if (result->early && before)
		return;
	session->loaded = result->loaded;
	session->shown_ms = session->looked_ms;
	tp_tui_show(&session->tui, &result->loaded->data, !result->early);
	if (before != result->loaded)
		tp_tui_loaded_free(before);
	set_state(session);
}

static void take_look(struct session *session, const struct tp_tui_result *result)
{
	if (!result->early) {
		const uint64_t now = now_ms();
		session->took_ms = now - session->looked_ms;
		// A long trace is not read all the time.
		session->next_ms =
		    now + (session->took_ms > session->interval_ms ? session->took_ms
								   : session->interval_ms);
	}
	if (!result->status) {
		show(session, result);
	} else if (!session->loaded) {
		session->err = result->err;
		session->status = result->status;
		session->over = true;
	} else if (session->loader.growing.over) {
		session->tui.follow = false;
	}
	// Else the recorder may be about to write: the next look tells.
}

static void take(struct session *session)
{
	for (;;) {
		struct tp_tui_result result = tp_tui_loader_take(&session->loader);
		if (result.job == TP_TUI_IDLE)
			return;
		if (result.job == TP_TUI_LOOK)
			take_look(session, &result);
		else
			tp_tui_take_calls(&session->tui, result.ticket, &result.calls,
			    result.status ? result.err.what : NULL);
	}
}

// Give the next wanted job to the loader.
static void give(struct session *session)
{
	struct tp_tui_loader *loader = &session->loader;
	struct tp_tui *tui = &session->tui;
	if (tp_tui_loader_busy(loader)) {
		if (loader->job != TP_TUI_LOOK && !tp_tui_waits_for(tui, loader->ticket))
			atomic_store(&loader->reading.stop, true);
		return;
	}
	const struct tp_tui_page *page = tp_tui_waiting(tui);
	if (page && page->kind == TP_TUI_CALLS)
		tp_tui_loader_calls(loader, tui->data->analysis, page->function, page->ticket);
	else if (page)
		tp_tui_loader_call(loader, tui->data->analysis, &page->outer, page->ticket);
	else if (tui->follow && (tui->last != loader->last || now_ms() >= session->next_ms))
		look(session);
}

// ---- the terminal

static void press(struct session *session)
{
	struct tp_tui *tui = &session->tui;
	uint32_t line = 0;
	for (int key = tp_tui_screen_key(&line); key; key = tp_tui_screen_key(&line)) {
		if (key == TP_KEY_RESIZE)
			tui->redraw = true;
		else if (key == TP_KEY_CLICK)
			tp_tui_click(tui, line);
		else if (key == TP_KEY_WHEEL_UP || key == TP_KEY_WHEEL_DOWN)
			tp_tui_scroll(tui, key == TP_KEY_WHEEL_UP ? -3 : 3);
		else
			tp_tui_press(tui, key);
		if (tui->quit)
			return;
	}
	tp_tui_screen_size(&tui->lines, &tui->columns);
}

static void draw(struct session *session)
{
	struct tp_tui *tui = &session->tui;
	struct tp_tui_loader *loader = &session->loader;
	tui->reads = tp_tui_loader_busy(loader);
	tui->at = atomic_load(&loader->reading.at);
	tui->all = atomic_load(&loader->reading.all);
	tui->age = (double)(now_ms() - session->shown_ms) / 1000;
	tp_tui_screen_size(&tui->lines, &tui->columns);
	tp_tui_screen_draw(tui, tui->redraw);
	tui->redraw = false;
}

// Until a key is pressed, the loader has something, or it is time to look or to draw.
static bool wait_for_more(struct session *session)
{
	const struct tp_tui *tui = &session->tui;
	struct pollfd inputs[] = {
	    {STDIN_FILENO, POLLIN, 0},
	    {session->loader.fd, POLLIN, 0},
	};
	bool forever = false;
	uint64_t left = PROGRESS_MS;
	if (!tp_tui_loader_busy(&session->loader)) {
		const uint64_t now = now_ms();
		forever = !tui->follow;
		left = session->next_ms > now ? session->next_ms - now : 0;
		left = left < AGE_MS ? left : AGE_MS;
	}
	const struct timespec timeout = {(time_t)(left / 1000), (long)(left % 1000) * 1000000};
	if (ppoll(inputs, 2, forever ? NULL : &timeout, &session->waiting) < 0 && errno != EINTR)
		return false;
	// A terminal that is gone has no more keys.
	return !ended && !(inputs[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void serve(struct session *session)
{
	do {
		press(session);
		take(session);
		if (session->tui.quit || session->over)
			break;
		give(session);
		draw(session);
	} while (wait_for_more(session));
}

// What analyze would have said at once.
static void warn(const struct tp_open_trace *open)
{
	tp_open_warn_all(&open->trace.problems);
	tp_open_warn_all(&open->trace.notes);
	tp_open_warn_all(&open->analysis.damage);
	tp_open_warn_all(&open->analysis.notes);
}

static int end(struct session *session)
{
	int status = session->status;
	if (status == TP_EXIT_FAILED)
		tp_command_fail(&session->err);
	if (!tp_tui_loader_end(&session->loader)) {
		// It reads on, which does no harm: what it reads goes with the process.
		fflush(NULL);
		_exit(status);
	}
	if (session->loaded) {
		warn(&session->loaded->open);
		if (!status && session->loaded->open.damaged)
			status = TP_EXIT_FAILED;
	}
	tp_tui_release(&session->tui);
	// It may be the one that is shown already.
	if (session->loader.loaded != session->loaded)
		tp_tui_loaded_free(session->loader.loaded);
	tp_tui_loaded_free(session->loaded);
	return status;
}

// Before ncurses has its own, which end the process at once. They come only while wait_for_more
// waits, so none is lost before it.
static void catch_signals(sigset_t *waiting)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t mine;
	sigemptyset(&mine);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], &action, NULL);
		sigaddset(&mine, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &mine, waiting);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigdelset(waiting, numbers[i]);
}

int tp_tui_run(const char *what, const struct tp_tui_options *options)
{
	static struct session session; // some hundred KiB
	char name[PATH_MAX];
	int status = tp_open_check(options->open);
	if (status)
		return status;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return tp_command_refuse(TP_ERR_NOT_FOUND, NULL,
		    "standard input and output are not a terminal: "
		    "'teeperf analyze' prints tables");
	tp_tui_init(&session.tui, tp_shown_name(name, what));
	session.interval_ms = options->interval_ms;
	if (tp_tui_loader_start(&session.loader, what, options->open, &session.err)) {
		session.status = TP_EXIT_FAILED;
		return end(&session);
	}
	session.tui.follow = options->follow || session.loader.follow;
	catch_signals(&session.waiting);
	look(&session);
	struct pollfd first = {session.loader.fd, POLLIN, 0};
	poll(&first, 1, FIRST_MS);
	take(&session);
	if (session.over)
		return end(&session);
	if (tp_tui_screen_open(
		tp_terminal_color(), options->mouse, &session.tui.ascii, &session.err)) {
		session.status = TP_EXIT_FAILED;
		return end(&session);
	}
	serve(&session);
	tp_tui_screen_close();
	return end(&session);
}
