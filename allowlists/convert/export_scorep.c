// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Score-P filters: in each block the last rule that matches decides; a file that is left out stays out,
// and of the others the block of regions decides.
#include "formats.h"

#include <string.h>

static const char *cannot(const struct tp_export_rule *rule)
{
	if (tp_export_is(rule, "fun") || tp_export_is(rule, "name") || tp_export_is(rule, "src"))
		return NULL;
	return "it knows files and regions only";
}

static bool earlier_wins(const struct tp_export_rule *earlier, const struct tp_export_rule *later)
{
	const bool first = tp_export_is(earlier, "src");
	const bool second = tp_export_is(later, "src");
	return first != second && (first ? !earlier->allow : later->allow);
}

static void write_block(struct tp_export *export, const char *block, bool files, bool skip_all)
{
	tp_buf_addf(export->out, "SCOREP_%s_NAMES_BEGIN\n", block);
	if (skip_all)
		tp_buf_add_string(export->out, "  EXCLUDE *\n");
	for (uint32_t i = 0; i < export->count; i++) {
		const struct tp_export_rule *rule = &export->rules[i];
		if (tp_export_is(rule, "src") != files)
			continue;
		tp_list_add_lines(export->out, rule->comment);
		const bool mangled = tp_export_is(rule, "fun");
		tp_export_fnmatch(export,
		    rule->allow ? (mangled ? "  INCLUDE MANGLED " : "  INCLUDE ")
				: (mangled ? "  EXCLUDE MANGLED " : "  EXCLUDE "),
		    rule);
	}
	tp_buf_addf(export->out, "SCOREP_%s_NAMES_END\n", block);
}

static void write(struct tp_export *export)
{
	bool any_file = false;
	bool file_allowed = false;
	for (uint32_t i = 0; i < export->count; i++) {
		const bool file = tp_export_is(&export->rules[i], "src");
		any_file |= file;
		file_allowed |= file && export->rules[i].allow;
	}
	// The default is a rule of the block whose rules make exceptions of it.
	const bool by_file = !export->allow && file_allowed;
	for (uint32_t i = 0; by_file && i < export->count; i++) {
		const struct tp_export_rule *rule = &export->rules[i];
		if (!tp_export_is(rule, "src") && rule->allow)
			tp_export_warn(export, rule->line,
			    "'%.*s' counts in Score-P only for files that are included",
			    (int)(rule->text.size < 100 ? rule->text.size : 100), rule->text.text);
	}
	tp_export_check_order(export, earlier_wins);
	if (any_file)
		write_block(export, "FILE", true, by_file);
	write_block(export, "REGION", false, !export->allow && !by_file);
}

const struct tp_list_writer tp_export_scorep = {"Score-P", "", cannot, write};
