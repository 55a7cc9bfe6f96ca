// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// analyze --watch: each look reads the new part of the trace, which is possible while it is being
// written.
#include "growing.h"

#include "analyzer/output/text.h"
#include "common/out_file.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// Lines of a terminal that the heading needs.
#define HEADING_LINES 9

struct watch {
	const struct tp_view *view;
	const struct tp_view_options *view_options;
	const struct tp_open_options *open_options;
	struct tp_growing growing;
	bool on_terminal;
	bool last; // of the last interval, not since the start
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static uint64_t now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

// How old what we have is.
static void add_age(
    const struct tp_growing *watch, const struct tp_open_trace *open, struct tp_buf *out)
{
	const struct tp_control_reply *reply = &watch->reply;
	struct stat info;
	struct timespec now;
	if (watch->over && open->trace.has_end) {
		tp_buf_add_string(out, "watching   the recording has ended: this is all of it\n");
		return;
	}
	if (watch->ring) {
		tp_buf_addf(out,
		    "watching   the last records of each thread (--mode ring); recording %s, for "
		    "%.1f s\n",
		    reply->on ? "on" : "off", (double)reply->elapsed_ns / 1e9);
		return;
	}
	if (stat(watch->path, &info) != 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	const double age = (double)(now.tv_sec - info.st_mtim.tv_sec) +
			   (double)(now.tv_nsec - info.st_mtim.tv_nsec) / 1e9;
	tp_buf_addf(out, "watching   %.1f MB, written %.1f s ago", (double)info.st_size / 1e6,
	    age > 0 ? age : 0);
	if (watch->pid)
		tp_buf_addf(out, "; recording %s, for %.1f s", reply->on ? "on" : "off",
		    (double)reply->elapsed_ns / 1e9);
	if (open->trace.rings) {
		tp_buf_add_string(out,
		    "; with --mode ring the records are in memory: give the process id, not the "
		    "file\n");
		return;
	}
	if (watch->live) {
		tp_buf_add_string(out, "; with the records of threads so far\n");
		return;
	}
	tp_buf_add_string(out,
	    watch->pid
		? "; chunks that threads are filling are not in it yet\n"
		: "; chunks that threads are filling are not in it yet, nor records in the log "
		  "('teeperf ctl flush PID' writes it)\n");
}

// Which part of it is shown, and what was read for that.
static void add_part(const struct watch *watch, const struct tp_analysis *last, struct tp_buf *out)
{
	const struct tp_growing *growing = &watch->growing;
	const char *why =
	    watch->view->records ? "of the view's single calls" : growing->kept.replay.why;
	char number[TP_TEXT_NUMBER];
	tp_buf_add_string(out, "showing    ");
	if (last)
		tp_buf_addf(out, "the last %s", tp_text_ns(number, tp_analysis_duration_ns(last)));
	else
		tp_buf_add_string(out, "all since the start");
	if (watch->on_terminal && !growing->over)
		tp_buf_addf(
		    out, " (s: %s)", watch->last ? "all since the start" : "the last interval");
	if (why && growing->looks > 1)
		tp_buf_addf(out, "; the whole trace is read: %s\n", why);
	else
		tp_buf_addf(
		    out, "; %.1f kB of the trace read\n", (double)growing->read_bytes / 1000);
}

static uint64_t terminal_lines(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > HEADING_LINES + 4)
		return size.ws_row;
	return 24;
}

// One look. Returns an exit code.
static int look(struct watch *watch)
{
	struct tp_growing *growing = &watch->growing;
	struct tp_open_trace open;
	struct tp_buf more;
	struct tp_err err;
	struct tp_view_options shown = *watch->view_options;
	int status = tp_growing_look(growing, &open, &more, watch->open_options, &err);
	// It has not begun, perhaps; but wrong usage stays wrong, and who is over will not begin.
	if (status == TP_EXIT_USAGE)
		return status;
	if (status)
		return !growing->looks || growing->over ? tp_command_fail(&err) : TP_EXIT_DONE;
	if (watch->on_terminal) {
		shown.width = tp_terminal_width();
		const uint64_t room = terminal_lines() - HEADING_LINES - 3;
		if (!shown.limit || shown.limit > room)
			shown.limit = room;
	}
	const bool last = open.has_last && watch->last && !growing->over;
	const struct tp_analysis *analysis = last ? &open.since_last : &open.analysis;
	const struct tp_analysis recorded = tp_view_as_recorded(analysis);
	struct tp_out_file out;
	int code;
	tp_stdout_open(&out);
	// A redraw is less of a flicker than clearing everything first.
	tp_buf_add_string(&out.buf, watch->on_terminal   ? "\033[H\033[J"
				    : growing->looks > 1 ? "\n"
							 : "");
	if (shown.format == TP_FORMAT_TABLE) {
		add_age(growing, &open, &out.buf);
		if (growing->gone)
			tp_buf_add_string(
			    &out.buf, "watching   the recorder is gone: see teeperf-recover(1)\n");
		add_part(watch, last ? analysis : NULL, &out.buf);
		tp_view_add_header(&open.analysis, true, &out.buf);
		tp_buf_add_char(&out.buf, '\n');
	}
	code = tp_view_check_clock(watch->view, &open.analysis, growing->path, &err);
	if (!code)
		code = tp_view_render(watch->view, watch->view->timeline ? &recorded : analysis,
		    &shown, &out.buf, &err);
	status = tp_stdout_close(&out, code, &err);
	// One that grows lacks its end, and what a killed recorder left may be recovered.
	if (!status && open.trace.has_end && open.damaged) {
		tp_open_warn_all(&open.trace.problems);
		tp_open_warn_all(&open.analysis.damage);
		status = TP_EXIT_FAILED;
	}
	tp_open_trace_release(&open);
	tp_buf_release(&more);
	return status;
}

// Wait until it is time to look again; true: enough of it.
static bool wait_for_key(struct watch *watch, uint64_t ms)
{
	const uint64_t until = now_ms() + ms;
	for (uint64_t now = now_ms(); now < until && !interrupted; now = now_ms()) {
		struct pollfd input = {STDIN_FILENO, POLLIN, 0};
		const bool keys = watch->on_terminal && isatty(STDIN_FILENO);
		const int ready = poll(&input, keys, (int)(until - now));
		char key;
		if (ready > 0 && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q'))
			return true;
		if (ready > 0 && (key == 's' || key == 'S')) {
			watch->last = !watch->last;
			return false;
		}
	}
	return interrupted;
}

int tp_view_check_clock(const struct tp_view *view, const struct tp_analysis *analysis,
    const char *file, struct tp_err *err)
{
	if (!view->timeline || !analysis->timeless)
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, file,
	    "recorded without a clock, and the view '%s' needs times", view->name);
}

int tp_analyze_watch(const char *what, const struct tp_view *view,
    const struct tp_view_options *view_options, const struct tp_open_options *open_options,
    uint64_t interval_ms, bool last)
{
	struct watch watch = {
	    .view = view,
	    .view_options = view_options,
	    .open_options = open_options,
	    .last = last,
	    .on_terminal = isatty(STDOUT_FILENO) && view_options->format == TP_FORMAT_TABLE,
	};
	tp_growing_init(&watch.growing, what);
	struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	struct termios before;
	const bool raw = watch.on_terminal && tcgetattr(STDIN_FILENO, &before) == 0;
	if (raw) {
		struct termios keys = before;
		keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	}
	int status = TP_EXIT_DONE;
	while (!status && !watch.growing.over && !interrupted) {
		const uint64_t start = now_ms();
		watch.growing.kept.last = watch.last;
		status = look(&watch);
		// What takes long is not done all the time.
		const uint64_t took = now_ms() - start;
		if (status || watch.growing.over ||
		    wait_for_key(&watch, took > interval_ms ? took : interval_ms))
			break;
	}
	if (raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	tp_growing_release(&watch.growing);
	return status;
}
