// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace that is being recorded: each look reads the new part.
#include "growing.h"

#include "recorder/recover/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tp_growing_init(struct tp_growing *growing, const char *what)
{
	*growing = (struct tp_growing){
	    .pid = access(what, F_OK) == 0 ? 0 : tp_parse_pid(what),
	};
	if (growing->pid)
		return;
	const int length = snprintf(growing->path, sizeof(growing->path), "%s", what);
	growing->known = (size_t)length < sizeof(growing->path);
}

// What the recorder adds to the trace's name for a snapshot of its rings.
static const char snapshot_mark[] = ".snapshot-";

// Have a recording write what it can, and learn where its trace is. SNAPSHOT becomes the path of
// the file that it has written for us, which is ours to remove, or empty. False: there is no
// recording any more.
static bool ask(struct tp_growing *growing, char *snapshot, struct tp_err *err)
{
	struct tp_control_reply *reply = &growing->reply;
	if (tp_control_ask(growing->pid, TP_CONTROL_FLUSH, reply, err))
		return false;
	// As the recorder sees it; it may have started elsewhere.
	const int length = reply->output[0] == '/'
			       ? snprintf(growing->path, sizeof(growing->path), "%s", reply->output)
			       : snprintf(growing->path, sizeof(growing->path), "/proc/%u/cwd/%s",
				     reply->recorder, reply->output);
	growing->known = length > 0 && (size_t)length < sizeof(growing->path);
	char real[PATH_MAX];
	// This path outlives the recorder.
	if (growing->known && realpath(growing->path, real))
		memcpy(growing->path, real, sizeof(real));
	if (growing->known && reply->snapshot) {
		memcpy(snapshot, growing->path, PATH_MAX);
		char *mark = NULL;
		for (char *at = growing->path; (at = strstr(at, snapshot_mark)); at++)
			mark = at;
		if (mark)
			*mark = '\0';
	}
	return growing->known;
}

// Whether the trace of a recorder that has not ended it will still grow.
static bool is_gone(const struct tp_tracefile *trace)
{
	pid_t pid;
	return !trace->has_end && trace->has_log &&
	       tp_recover_look(&trace->log, &pid) != TP_LOG_RECORDING;
}

// Add what the log has to MORE. The trace says which log it is.
static void add_live(struct tp_growing *growing, struct tp_buf *more)
{
	if (!growing->has_log && growing->known) {
		struct tp_tracefile trace;
		struct tp_err err;
		int code = tp_tracefile_begin(&trace, growing->path, &err);
		// Its chunks are for others.
		trace.defers = !code;
		if (!code)
			code = tp_tracefile_load(&trace, &err);
		if (!code && trace.has_log) {
			growing->log = trace.log;
			growing->has_log = true;
		}
		tp_tracefile_close(&trace);
	}
	growing->live = growing->has_log && tp_live_add(&growing->log, more);
	if (!growing->live)
		tp_buf_reset(more);
}

int tp_growing_look(struct tp_growing *growing, struct tp_open_trace *open, struct tp_buf *more,
    const struct tp_open_options *options, struct tp_err *err)
{
	struct tp_open_options quiet = *options;
	char snapshot[PATH_MAX] = "";
	memset(&growing->reply, 0, sizeof(growing->reply));
	if (growing->pid && !ask(growing, snapshot, err)) {
		if (!growing->known)
			return TP_EXIT_FAILED;
		// It is about to end, and writes the rest.
		growing->pid = 0;
	}
	// First the log: a chunk that is written to the trace meanwhile is in both, and not in
	// none.
	tp_buf_init(more);
	growing->ring = snapshot[0] != '\0';
	growing->live = false;
	if (growing->ring) {
		// Each is a file of its own.
		tp_kept_forget(&growing->kept.replay);
		tp_source_memo_release(&growing->kept.memo);
	} else {
		add_live(growing, more);
	}
	quiet.quiet = err;
	quiet.more = more;
	quiet.kept = &growing->kept;
	const uint64_t before = growing->kept.read_bytes;
	growing->kept.replay.why = NULL;
	const int status = tp_open_trace(open, growing->ring ? snapshot : growing->path, &quiet);
	if (growing->ring)
		unlink(snapshot); // it is open
	growing->read_bytes = growing->kept.read_bytes - before;
	if (status) {
		tp_open_trace_release(open);
		tp_buf_release(more);
		return status;
	}
	// It may have written the end since we have read: that is for the next look to tell.
	const bool was_gone = growing->seen_gone;
	growing->seen_gone = is_gone(&open->trace);
	growing->gone = was_gone && growing->seen_gone;
	growing->over = (open->trace.has_end && !growing->ring) || growing->gone;
	growing->looks++;
	return TP_EXIT_DONE;
}

void tp_growing_release(struct tp_growing *growing)
{
	tp_open_kept_release(&growing->kept);
}
