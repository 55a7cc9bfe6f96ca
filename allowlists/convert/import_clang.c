// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists that Clang itself reads. Each of its consumers has a precedence of its own, in which the order
// of lines means nothing; here lines are written in that order, so that the last that matches is the
// one that Clang would follow.
#include "formats.h"
#include "special.h"

static void init(struct tp_special_list *list, const struct tp_list_input *input,
    struct tp_buf *out, const struct tp_list_warner *warner, struct tp_err *err)
{
	tp_import_init(&list->import, input, out, warner, err);
}

/*
 * XRay: files before functions, [always] before [never]. What neither names is instrumented if it has
 * 200 instructions, of the machine, or a loop. A section for both, such as [*], is [always].
 */
TP_LIST_CONVERTER(tp_import_xray)
{
	static const char *const sections[] = {"always", "never", NULL};
	enum { ALWAYS, NEVER };
	struct tp_special_list list;
	init(&list, input, out, warner, err);
	const int status = tp_special_read(&list, sections);
	if (!status) {
		tp_buf_add_string(out,
		    "default:skip\n"
		    "# As XRay's threshold, for what is not listed; XRay counts machine instructions.\n"
		    "where:instrs>=200=allow\n"
		    "where:loops>0=allow\n");
		tp_special_write(&list, NEVER, "fun", "", "fun", TP_CATEGORY_SKIP);
		tp_special_write(&list, ALWAYS, "fun", "", "fun", TP_CATEGORY_ALLOW);
		for (uint32_t i = 0; i < list.import.count; i++)
			if (list.entries[i].section == ALWAYS &&
			    tp_span_is(list.entries[i].category, "arg1"))
				tp_import_warn(&list.import, list.import.entries[i].line,
				    "the first argument is not recorded (arg1)");
		tp_special_write(&list, ALWAYS, "fun", "arg1", "fun", TP_CATEGORY_ALLOW);
		tp_special_write(&list, NEVER, "src", "", "src", TP_CATEGORY_SKIP);
		tp_special_write(&list, ALWAYS, "src", "", "src", TP_CATEGORY_ALLOW);
		tp_special_finish(
		    &list, "XRay looks at fun: and src: lines without a category only");
	}
	tp_special_release(&list);
	return status;
}

// "default:" as the format has it: allow beats skip, skip beats forbid, wherever they stand.
static const char *default_of(struct tp_special_list *list)
{
	static const char *const words[] = {"forbid", "skip", "allow"};
	const char *found = NULL;
	bool selects = false;
	for (uint32_t word = 0; word < 3; word++) {
		for (uint32_t i = 0; i < list->import.count; i++) {
			struct tp_special_entry *entry = &list->entries[i];
			selects |=
			    tp_span_is(entry->prefix, "fun") || tp_span_is(entry->prefix, "src");
			if (!tp_span_is(entry->prefix, "default") ||
			    !tp_span_is(list->import.entries[i].pattern, words[word]))
				continue;
			entry->used = true;
			found = words[word];
		}
	}
	if (found)
		return found == words[2] ? "allow" : "skip";
	return selects ? "skip" : "allow";
}

// Profile lists: functions before files; then function: and source: before the older words.
TP_LIST_CONVERTER(tp_import_profile_list)
{
	static const char *const all[] = {"clang", "llvm", "csllvm", NULL};
	static const struct {
		const char *prefix;
		const char *category;
		const char *kind;
		enum tp_category becomes;
	} steps[] = {
	    {"src", "", "src", TP_CATEGORY_ALLOW},
	    {"!src", "", "src", TP_CATEGORY_SKIP},
	    {"source", "", "src", TP_CATEGORY_ALLOW},
	    {"source", "forbid", "src", TP_CATEGORY_SKIP},
	    {"source", "skip", "src", TP_CATEGORY_SKIP},
	    {"source", "allow", "src", TP_CATEGORY_ALLOW},
	    {"fun", "", "fun", TP_CATEGORY_ALLOW},
	    {"!fun", "", "fun", TP_CATEGORY_SKIP},
	    {"function", "", "fun", TP_CATEGORY_ALLOW},
	    {"function", "forbid", "fun", TP_CATEGORY_SKIP},
	    {"function", "skip", "fun", TP_CATEGORY_SKIP},
	    {"function", "allow", "fun", TP_CATEGORY_ALLOW},
	};
	struct tp_special_list list;
	init(&list, input, out, warner, err);
	const int status = tp_special_read(&list, all);
	if (!status) {
		// One kind of instrumentation: the first that the list has lines for.
		uint32_t section = 3;
		for (uint32_t i = 0; i < list.import.count; i++)
			if (list.entries[i].section < section)
				section = list.entries[i].section;
		tp_buf_addf(out, "default:%s\n", default_of(&list));
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			tp_special_write(&list, section, steps[i].prefix, steps[i].category,
			    steps[i].kind, steps[i].becomes);
		tp_special_finish(&list,
		    "Clang ignores it in a profile list, or it is about another kind of "
		    "instrumentation");
	}
	tp_special_release(&list);
	return status;
}

// The kinds of lines of a sanitizer's list of either sort; src: is about the file that is compiled.
static bool is_kind(const struct tp_special_list *list, uint32_t index, const char *prefix)
{
	return tp_span_is(list->entries[index].prefix, prefix) &&
	       !list->entries[index].category.size;
}

// Of an allowlist for coverage both the file that is compiled and the function must be named.
TP_LIST_CONVERTER(tp_import_sancov)
{
	static const char *const sections[] = {"coverage", NULL};
	struct tp_special_list list;
	init(&list, input, out, warner, err);
	const int status = tp_special_read(&list, sections);
	bool any_file = false;
	bool any_function = false;
	bool all_files = false;
	bool all_functions = false;
	for (uint32_t i = 0; !status && i < list.import.count; i++) {
		const bool star = tp_span_is(list.import.entries[i].pattern, "*");
		any_file |= is_kind(&list, i, "src");
		all_files |= star && is_kind(&list, i, "src");
		any_function |= is_kind(&list, i, "fun");
		all_functions |= star && is_kind(&list, i, "fun");
	}
	if (!status) {
		tp_buf_add_string(out, "default:skip\n");
		if (!any_file || !any_function)
			tp_import_warn(&list.import, 0,
			    "there is no line '%s:', so Clang instruments nothing; '%s:*' would be "
			    "all",
			    any_file ? "fun" : "src", any_file ? "fun" : "src");
		for (uint32_t i = 0; i < list.import.count; i++) {
			if (!is_kind(&list, i, "fun"))
				continue;
			list.entries[i].used = any_file;
			if (!any_file || (all_functions && !all_files &&
					     !tp_span_is(list.import.entries[i].pattern, "*")))
				continue;
			tp_import_comment(&list.import, list.import.entries[i].comment);
			if (all_files) {
				tp_import_rule(&list.import, "fun", list.import.entries[i].pattern,
				    NULL, (struct tp_span){0}, TP_CATEGORY_ALLOW);
				continue;
			}
			const bool star = tp_span_is(list.import.entries[i].pattern, "*");
			for (uint32_t k = 0; k < list.import.count; k++) {
				if (!is_kind(&list, k, "src"))
					continue;
				const struct tp_span file = list.import.entries[k].pattern;
				tp_import_rule(&list.import, star ? "mainfile" : "fun",
				    star ? file : list.import.entries[i].pattern,
				    star ? NULL : "mainfile", file, TP_CATEGORY_ALLOW);
			}
		}
		for (uint32_t i = 0; i < list.import.count; i++)
			list.entries[i].used |= any_function && is_kind(&list, i, "src");
		tp_special_finish(&list, "Clang instruments nothing for it");
	}
	tp_special_release(&list);
	return status;
}

TP_LIST_CONVERTER(tp_import_sancov_ignore)
{
	static const char *const sections[] = {"coverage", NULL};
	struct tp_special_list list;
	init(&list, input, out, warner, err);
	const int status = tp_special_read(&list, sections);
	if (!status) {
		tp_buf_add_string(out, "default:allow\n");
		tp_special_write(&list, 0, "src", "", "mainfile", TP_CATEGORY_SKIP);
		tp_special_write(&list, 0, "fun", "", "fun", TP_CATEGORY_SKIP);
		tp_special_finish(
		    &list, "Clang looks at fun: and src: lines without a category only");
	}
	tp_special_release(&list);
	return status;
}
