// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two trace files become one: for 'join' and 'record --tee'.
#include "open_trace.h"

#include "analyzer/import/open.h"
#include "analyzer/join/join.h"
#include "common/out_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What does not stand where it belongs, and why.
// NONE: of the TEE's calls, which there are, none is joined.
static void warn_of(const struct tp_join_counts *counts, bool none)
{
	if (none)
		tp_command_warn(
		    "no call of the host into the TEE is joined: compile what the SDK's tool has "
		    "generated for each side with 'teeperf cc', or report the calls: see "
		    "teeperf/teeperf.h, teeperf_border_call");
	if (counts->ambiguous)
		tp_command_warn(
		    "%llu call%s of the TEE could belong to several threads, or to several calls "
		    "of one: %s in threads of %s own; give calls without parameters a handle, and "
		    "OP-TEE commands the whole log of teeperf_tee_log: see teeperf/teeperf.h",
		    (unsigned long long)counts->ambiguous, tp_plural(counts->ambiguous),
		    tp_by_count(counts->ambiguous, "it is", "they are"),
		    tp_by_count(counts->ambiguous, "its", "their"));
	if (counts->alone)
		tp_command_warn(
		    "%llu call%s of the TEE %s in no recorded call of the host: in threads of "
		    "their own",
		    (unsigned long long)counts->alone, tp_plural(counts->alone),
		    tp_by_count(counts->alone, "is", "are"));
	if (counts->dropped)
		tp_command_warn(
		    "%llu record%s of the TEE %s left out: their functions are not the TEE's own",
		    (unsigned long long)counts->dropped, tp_plural(counts->dropped),
		    tp_by_count(counts->dropped, "was", "were"));
	if (counts->times)
		tp_command_warn(
		    "%llu record%s of the TEE had times outside the host's call and got the "
		    "nearest ones inside it",
		    (unsigned long long)counts->times, tp_plural(counts->times));
}

static void tell(const struct tp_join_counts *counts, const char *output)
{
	char shown[PATH_MAX];
	char word[TP_SHELL_WORD_SIZE];
	tp_shown_name(shown, output);
	tp_command_tell("%llu call%s into the TEE joined in '%s'",
	    (unsigned long long)counts->calls, tp_plural(counts->calls), shown);
	if (counts->moved)
		fprintf(stderr, "; %llu module%s of the TEE got other addresses",
		    (unsigned long long)counts->moved, tp_plural(counts->moved));
	fprintf(stderr, "; next: teeperf analyze %s\n", tp_shell_word(word, output));
}

static bool is_same(const char *one, const char *other)
{
	struct stat here;
	struct stat there;
	return !stat(one, &here) && !stat(other, &there) && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

int tp_join_files(
    const char *host, const char *tee, const char *output, bool known, bool quiet, bool *damaged)
{
	static struct tp_tracefile traces[2];
	struct tp_join_counts counts;
	struct tp_out_file out;
	struct tp_err err;
	*damaged = false;
	int code = tp_import_open(&traces[0], host, NULL, NULL, 0, &err);
	if (code) {
		tp_tracefile_close(&traces[0]);
		return tp_command_fail(&err);
	}
	code = tp_import_open(&traces[1], tee, NULL, NULL, 0, &err);
	for (int i = 0; i < 2; i++) {
		tp_open_warn_all(&traces[i].problems);
		*damaged |= traces[i].problems.count != 0;
	}
	const bool is_there = access(output, F_OK) == 0;
	// A file that is still read must not be emptied.
	if (!code)
		code = is_same(output, host) || is_same(output, tee)
			   ? tp_out_file_replace_read(&out, output, &err)
			   : tp_out_file_replace(&out, output, &err);
	if (!code) {
		code = tp_join(&traces[0], &traces[1], known, &out.buf, &counts, &err);
		if (code) {
			tp_out_file_drop(&out);
			if (!is_there)
				unlink(output);
		} else {
			code = tp_out_file_close(&out, &err);
		}
	}
	const bool none = !code && !counts.calls && traces[1].thread_count;
	tp_tracefile_close(&traces[0]);
	tp_tracefile_close(&traces[1]);
	if (code)
		return tp_command_fail(&err);
	*damaged |= none;
	warn_of(&counts, none);
	if (!quiet)
		tell(&counts, output);
	return TP_EXIT_DONE;
}
