// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two traces of 'record --tee' stay apart: joining them takes the analyzer. In place of
// cli/record/inner_join.c.
#include "cli/record/record.h"

bool tp_record_inner_join(const char *host, const char *tee, bool quiet, bool *joined)
{
	*joined = true;
	char host_word[TP_SHELL_WORD_SIZE];
	char tee_word[TP_SHELL_WORD_SIZE];
	if (!quiet)
		tp_command_tell(
		    "the host's side is in %s, the TEE's in %s; copy both to a complete TeePerf "
		    "and run there: teeperf join -o joined.trace %s %s\n",
		    tp_shell_word(host_word, host), tp_shell_word(tee_word, tee), host_word,
		    tee_word);
	return true;
}
