// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// analyze --watch: the trace is read anew each time, which a trace allows while it is being written.
#include "open_trace.h"

#include "common/out_file.h"
#include "recorder/control/control.h"
#include "recorder/recover/recover.h"

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
#define HEADING_LINES 8

struct watch {
	const struct tp_view *view;
	const struct tp_view_options *view_options;
	const struct tp_open_options *open_options;
	pid_t pid; /* 0: a file */
	char path[PATH_MAX];
	bool known; /* path is valid */
	bool gone;  /* at the last look, the recorder was */
	bool over;
	bool on_terminal;
	uint64_t rounds;
	struct teeperf_trace_log log; /* where what is not in the trace yet is; valid if has_log */
	bool has_log;
	bool live; /* at the last look, that was read, too */
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

// Have a recording write what it can, and learn where its trace is. False: there is none any more.
static bool ask(struct watch *watch, struct tp_control_reply *reply, struct tp_err *err)
{
	if (tp_control_ask(watch->pid, TP_CONTROL_FLUSH, reply, err))
		return false;
	// As the recorder sees it; it may have started elsewhere.
	const int length = reply->output[0] == '/'
			       ? snprintf(watch->path, sizeof(watch->path), "%s", reply->output)
			       : snprintf(watch->path, sizeof(watch->path), "/proc/%u/cwd/%s",
				     reply->recorder, reply->output);
	watch->known = length > 0 && (size_t)length < sizeof(watch->path);
	char real[PATH_MAX];
	// This path outlives the recorder.
	if (watch->known && realpath(watch->path, real))
		memcpy(watch->path, real, sizeof(real));
	return watch->known;
}

// How old what we have is.
static void add_age(const struct watch *watch, const struct tp_control_reply *reply,
    const struct tp_open_trace *open, struct tp_buf *out)
{
	struct stat info;
	struct timespec now;
	if (open->trace.has_end) {
		tp_buf_add_string(out, "watching   the recording has ended: this is all of it\n");
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
	if (watch->live) {
		tp_buf_add_string(out, "; with what threads have recorded until now\n");
		return;
	}
	tp_buf_add_string(out,
	    watch->pid
		? "; chunks that threads are filling are not in it yet\n"
		: "; chunks that threads are filling are not in it yet, nor what is in the log "
		  "('teeperf ctl flush PID' writes it)\n");
}

// Whether the trace of a recorder that has not ended it will still grow.
static bool is_gone(const struct tp_tracefile *trace)
{
	pid_t pid;
	return !trace->has_end && trace->has_log &&
	       tp_recover_look(&trace->log, &pid) != TP_LOG_RECORDING;
}

static uint64_t terminal_lines(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > HEADING_LINES + 4)
		return size.ws_row;
	return 24;
}

// Add what the log has to MORE. The trace says which log it is.
static void add_live(struct watch *watch, struct tp_buf *more)
{
	if (!watch->has_log && watch->known) {
		struct tp_tracefile trace;
		struct tp_err err;
		if (tp_tracefile_open(&trace, watch->path, &err) == 0 && trace.has_log) {
			watch->log = trace.log;
			watch->has_log = true;
		}
		tp_tracefile_close(&trace);
	}
	watch->live = watch->has_log && tp_live_add(&watch->log, more);
	if (!watch->live)
		tp_buf_reset(more);
}

// One look. Returns an exit code.
static int look(struct watch *watch)
{
	struct tp_control_reply reply = {0};
	struct tp_open_trace open;
	struct tp_err err;
	struct tp_open_options quiet = *watch->open_options;
	struct tp_view_options shown = *watch->view_options;
	quiet.quiet = &err;
	if (watch->pid && !ask(watch, &reply, &err)) {
		if (!watch->known)
			return tp_command_fail(&err);
		// It is about to end, and writes the rest.
		watch->pid = 0;
	}
	// First the log: a chunk that is written to the trace meanwhile is in both, and not in none.
	struct tp_buf more;
	tp_buf_init(&more);
	add_live(watch, &more);
	quiet.more = &more;
	int status = tp_open_trace(&open, watch->path, &quiet);
	if (status) {
		tp_open_trace_release(&open);
		tp_buf_release(&more);
		// It has not begun, perhaps; but wrong usage stays wrong, and who is over will not begin.
		if (status == TP_EXIT_USAGE || !watch->rounds || watch->over)
			return status == TP_EXIT_USAGE ? status : tp_command_fail(&err);
		return TP_EXIT_DONE;
	}
	// It may have written the end since we have read: that is for the next look to tell.
	const bool was_gone = watch->gone;
	watch->gone = is_gone(&open.trace);
	const bool gone = was_gone && watch->gone;
	watch->over = open.trace.has_end || gone;
	if (watch->on_terminal) {
		shown.width = tp_terminal_width();
		const uint64_t room = terminal_lines() - HEADING_LINES - 3;
		if (!shown.limit || shown.limit > room)
			shown.limit = room;
	}
	const struct tp_analysis recorded = tp_view_as_recorded(&open.analysis);
	struct tp_out_file out;
	int code;
	tp_stdout_open(&out);
	// A redraw is less of a flicker than clearing everything first.
	tp_buf_add_string(&out.buf, watch->on_terminal ? "\033[H\033[J"
				    : watch->rounds    ? "\n"
						       : "");
	if (shown.format == TP_FORMAT_TABLE) {
		add_age(watch, &reply, &open, &out.buf);
		if (gone)
			tp_buf_add_string(
			    &out.buf, "watching   the recorder is gone: see teeperf-recover(1)\n");
		tp_view_add_header(&open.analysis, true, &out.buf);
		tp_buf_add_char(&out.buf, '\n');
	}
	code = tp_view_check_clock(watch->view, &open.analysis, watch->path, &err);
	if (!code)
		code = tp_view_render(watch->view,
		    watch->view->timeline ? &recorded : &open.analysis, &shown, &out.buf, &err);
	status = tp_stdout_close(&out, code, &err);
	tp_open_trace_release(&open);
	tp_buf_release(&more);
	watch->rounds++;
	return status;
}

// Wait until it is time to look again; true: enough of it.
static bool wait_for_key(const struct watch *watch, uint64_t ms)
{
	const uint64_t until = now_ms() + ms;
	for (uint64_t now = now_ms(); now < until && !interrupted; now = now_ms()) {
		struct pollfd input = {STDIN_FILENO, POLLIN, 0};
		const bool keys = watch->on_terminal && isatty(STDIN_FILENO);
		const int ready = poll(&input, keys, (int)(until - now));
		char key;
		if (ready > 0 && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q'))
			return true;
	}
	return interrupted;
}

int tp_view_check_clock(const struct tp_view *view, const struct tp_analysis *analysis,
    const char *file, struct tp_err *err)
{
	if (!view->timeline || !analysis->timeless)
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, file,
	    "recorded without a clock, so that there are no times, and the view '%s' is made of them",
	    view->name);
}

int tp_analyze_watch(const char *what, const struct tp_view *view,
    const struct tp_view_options *view_options, const struct tp_open_options *open_options,
    uint64_t interval_ms)
{
	struct watch watch = {
	    .view = view,
	    .view_options = view_options,
	    .open_options = open_options,
	    .pid = access(what, F_OK) == 0 ? 0 : tp_parse_pid(what),
	    .on_terminal = isatty(STDOUT_FILENO) && view_options->format == TP_FORMAT_TABLE,
	};
	if (!watch.pid) {
		const int length = snprintf(watch.path, sizeof(watch.path), "%s", what);
		watch.known = (size_t)length < sizeof(watch.path);
	}
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
	while (!status && !watch.over && !interrupted) {
		const uint64_t start = now_ms();
		status = look(&watch);
		// A long trace is not read all the time.
		const uint64_t took = now_ms() - start;
		if (status || watch.over ||
		    wait_for_key(&watch, took > interval_ms ? took : interval_ms))
			break;
	}
	if (raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	return status;
}
