/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The traces of one recording with --follow-fork: FILE, of the first process, and beside it
 * FILE.PID and FILE.PID-N. What has such a name and is of another recording is left out, with a
 * warning.
 */
#ifndef TP_OPEN_FAMILY_H
#define TP_OPEN_FAMILY_H

#include "analyzer/output/family.h"
#include "cli/analyze/open_trace.h"

struct tp_open_family {
	struct tp_open_trace **opens; /* of each member */
	char **names;
	struct tp_family_member *members;
	uint32_t count;
	uint32_t left_out; /* traces that are of the recording, or may be, and could not be used */
	bool damaged;      /* exit with TP_EXIT_FAILED in the end, though there are results */
};

/*
 * Open and analyse FILE and what belongs to it, and print problems as warnings. Returns an exit
 * code: on anything but TP_EXIT_DONE an error has been printed. Release it in any case.
 */
int tp_open_family(
    struct tp_open_family *family, const char *file, const struct tp_open_options *options);
void tp_open_family_release(struct tp_open_family *family);
/* An option that was given and is for a single trace, as "--thread"; NULL: none. */
const char *tp_open_family_refuses(const struct tp_open_options *options);
/* Print what limits the sums as warnings. */
void tp_open_family_warn(const struct tp_family *family);

#endif
