// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf completion: scripts by which shells complete command lines of teeperf.
#include "analyzer/output/format/export.h"
#include "analyzer/output/view.h"
#include "allowlists/convert/convert.h"
#include "cli/analyze/open_trace.h"
#include "cli/completion/completion.h"
#include "common/spelling.h"
#include "recorder/tee.h"

#include <string.h>

#define TP_COMMAND(symbol) extern const struct tp_command symbol;
#include "commands.inc"
#undef TP_COMMAND

static const struct tp_command *const commands[] = {
#define TP_COMMAND(symbol) &symbol,
#include "commands.inc"
#undef TP_COMMAND
    NULL,
};

static const char *output;

static const char *view_word(size_t i)
{
	return tp_views()[i] ? tp_views()[i]->name : NULL;
}

static const char *export_word(size_t i)
{
	size_t count = 0;
	while (tp_exports()[count])
		count++;
	return i < count ? tp_exports()[i]->name : i == count ? "sqlite" : NULL;
}

static const char *list_word(size_t i)
{
	return tp_list_formats[i].name;
}

static const char *port_word(size_t i)
{
	return tp_tees()[i].name;
}

static const struct tp_completion_set sets[] = {
    {"analyze", "view", view_word},
    {"export", "format", export_word},
    {"allowlist import", "format", list_word},
    {"allowlist export", "format", list_word},
    {NULL, "port", port_word},
    {0},
};

static const struct {
	const char *name;
	void (*add)(const struct tp_completion *completion, struct tp_buf *out);
} shells[] = {
    {"bash", tp_completion_bash},
    {"zsh", tp_completion_zsh},
    {"fish", tp_completion_fish},
};

static int run(int argc, char **argv)
{
	if (argc != 1)
		return tp_options_usage(argc ? "only one shell at a time" : "for which shell?");
	struct tp_spelling spelling = {.word = argv[0]};
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		tp_spelling_consider(&spelling, shells[i].name);
		if (strcmp(shells[i].name, argv[0]) != 0)
			continue;
		const struct tp_completion completion = {.commands = commands, .sets = sets};
		struct tp_buf out;
		tp_buf_init(&out);
		shells[i].add(&completion, &out);
		const int status = tp_write_out(&out, output);
		tp_buf_release(&out);
		return status;
	}
	return tp_options_usage("the shell is bash, zsh or fish, not '%s'%s%s%s", argv[0],
	    spelling.nearest ? "; did you mean '" : "", spelling.nearest ? spelling.nearest : "",
	    spelling.nearest ? "'?" : "");
}

static const struct tp_option options[] = {TP_OPT_OUTPUT(&output), TP_OPT_END};

const struct tp_command tp_cmd_completion = {
    .name = "completion",
    .summary = "print a script for shell completion",
    .usage = "[options] bash|zsh|fish",
    .operands = "bash zsh fish",
    .description = "Prints a completion script for the shell. TeePerf installs these scripts, "
		   "so you need this\n"
		   "command only if the shell does not look where TeePerf is installed.\n",
    .examples = "  source <(teeperf completion bash)\n"
		"  teeperf completion zsh > ~/.zfunc/_teeperf\n"
		"  teeperf completion fish > ~/.config/fish/completions/teeperf.fish\n",
    .options = options,
    .run = run,
};
