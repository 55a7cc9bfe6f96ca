// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the heading says of a joined trace.
#include "heading_joined.h"

#include <stdlib.h>
#include <string.h>

// Of a trace of a host and its TEE.
void tp_heading_add_joined(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char calls[32];
	if (tp_tracefile_host(trace, "joined_calls", calls, sizeof(calls)))
		tp_buf_addf(out, "joined     %s calls of the host into the TEE\n", calls);
}

// What of it is not where it belongs.
void tp_heading_note_apart(struct tp_notes *notes, const struct tp_tracefile *trace)
{
	static const struct {
		const char *key;
		const char *what;
	} facts[] = {
	    {"joined_ambiguous",
		"calls in the TEE may be several of the host's: in threads of their own"},
	    {"joined_alone",
		"calls in the TEE are in none of the host's that was recorded: in threads of their own"},
	};
	char text[32];
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (tp_tracefile_host(trace, facts[i].key, text, sizeof(text)) &&
		    strcmp(text, "0") != 0)
			tp_notes_add(notes, TP_NOTE_ID_JOINED_APART, strtoull(text, NULL, 10),
			    "%s %s", text, facts[i].what);
}
