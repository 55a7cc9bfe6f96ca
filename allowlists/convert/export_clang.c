// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists that Clang reads, and AFL++'s. Our globs are Clang's; what differs is who wins.
#include "formats.h"

#define VERSION_2 "#!special-case-list-v2\n"

static void write_rule(struct tp_export *export, const struct tp_export_rule *rule,
    const char *prefix, const char *end)
{
	struct tp_span glob;
	tp_list_add_lines(export->out, rule->comment);
	for (int dot = tp_export_needs_dot(rule, &glob); dot >= 0; dot--) {
		tp_buf_addf(export->out, "%s:%s", prefix, dot ? "./" : "");
		tp_buf_add_span(export->out, glob);
		tp_buf_addf(export->out, "%s\n", end);
	}
}

// XRay: files before functions, always before never.
static bool xray_wins(const struct tp_export_rule *earlier, const struct tp_export_rule *later)
{
	const int first = 2 * tp_export_is(earlier, "src") + earlier->allow;
	const int second = 2 * tp_export_is(later, "src") + later->allow;
	return first > second;
}

static void write_xray(struct tp_export *export)
{
	if (export->allow) {
		tp_buf_add_string(
		    export->out, "# To be used with -fxray-instruction-threshold=1.\n");
		tp_export_warn(export, 0,
		    "what no line matches is instrumented if it is above XRay's threshold: "
		    "compile with -fxray-instruction-threshold=1");
	}
	tp_export_check_order(export, xray_wins);
	for (int allow = 1; allow >= 0; allow--) {
		tp_buf_add_string(export->out, allow ? "[always]\n" : "[never]\n");
		if (!allow && !export->allow)
			tp_buf_add_string(export->out, "fun:*\n");
		for (uint32_t i = 0; i < export->count; i++)
			if (export->rules[i].allow == allow)
				write_rule(
				    export, &export->rules[i], export->rules[i].parts.prefix, "");
	}
}

const struct tp_list_writer tp_export_xray = {
    "XRay", VERSION_2, tp_export_needs_linkage_names, write_xray};

// Profile lists: functions before files, allow before skip.
static bool profile_wins(const struct tp_export_rule *earlier, const struct tp_export_rule *later)
{
	const int first = 2 * tp_export_is(earlier, "fun") + earlier->allow;
	const int second = 2 * tp_export_is(later, "fun") + later->allow;
	return first > second;
}

static void write_profile_list(struct tp_export *export)
{
	tp_export_check_order(export, profile_wins);
	tp_buf_addf(export->out, "default:%s\n", export->allow ? "allow" : "skip");
	for (uint32_t i = 0; i < export->count; i++)
		write_rule(export, &export->rules[i],
		    tp_export_is(&export->rules[i], "fun") ? "function" : "source",
		    export->rules[i].allow ? "=allow" : "=skip");
}

const struct tp_list_writer tp_export_profile_list = {
    "-fprofile-list", VERSION_2, tp_export_needs_linkage_names, write_profile_list};

static bool is_file(const struct tp_export_rule *rule)
{
	return tp_export_is(rule, "src") || tp_export_is(rule, "mainfile");
}

static const char *sancov_cannot(const struct tp_export_rule *rule)
{
	if (!is_file(rule) && !tp_export_is(rule, "fun"))
		return tp_export_needs_linkage_names(rule);
	return rule->allow ? NULL
			   : "it has no exceptions; its ignorelist is '--format sancov-ignore'";
}

static const char *ignore_cannot(const struct tp_export_rule *rule)
{
	if (!is_file(rule) && !tp_export_is(rule, "fun"))
		return tp_export_needs_linkage_names(rule);
	return rule->allow ? "it has no exceptions; its allowlist is '--format sancov'" : NULL;
}

static void write_sancov_rules(struct tp_export *export)
{
	for (uint32_t i = 0; i < export->count; i++)
		write_rule(
		    export, &export->rules[i], is_file(&export->rules[i]) ? "src" : "fun", "");
}

static void warn_of_sources(struct tp_export *export)
{
	for (uint32_t i = 0; i < export->count; i++)
		if (tp_export_is(&export->rules[i], "src"))
			tp_export_warn(export, export->rules[i].line,
			    "src: is about the compiled file there, not about that of the function");
}

// Both a file and a function must be named: lists of one kind only can be said.
static void write_sancov(struct tp_export *export)
{
	bool any_function = export->allow;
	bool any_file = export->allow;
	for (uint32_t i = 0; i < export->count; i++) {
		any_file |= is_file(&export->rules[i]);
		any_function |= !is_file(&export->rules[i]);
	}
	warn_of_sources(export);
	if (any_function && any_file && export->count)
		tp_export_warn(export, 0,
		    "Clang instruments only what both a file's and a function's line names");
	if (!any_file || export->allow)
		tp_buf_add_string(export->out, "src:*\n");
	if (!any_function || export->allow)
		tp_buf_add_string(export->out, "fun:*\n");
	write_sancov_rules(export);
}

const struct tp_list_writer tp_export_sancov = {
    "-fsanitize-coverage-allowlist", VERSION_2, sancov_cannot, write_sancov};

static void write_sancov_ignore(struct tp_export *export)
{
	warn_of_sources(export);
	if (!export->allow)
		tp_export_warn(export, 0,
		    "what no line matches is instrumented there; the allowlist is '--format sancov'");
	write_sancov_rules(export);
}

const struct tp_list_writer tp_export_sancov_ignore = {
    "-fsanitize-coverage-ignorelist", VERSION_2, ignore_cannot, write_sancov_ignore};

static const char *afl_cannot(const struct tp_export_rule *rule)
{
	if (!tp_export_is(rule, "fun") && !tp_export_is(rule, "src") && !tp_export_is(rule, "name"))
		return "it knows no such line";
	return rule->allow ? NULL : "it has no exceptions";
}

// AFL++ puts '*' before files, and compares functions with both of their names.
static void write_afl(struct tp_export *export)
{
	if (export->allow)
		tp_buf_add_string(export->out, "fun:*\n");
	for (uint32_t i = 0; i < export->count; i++) {
		const struct tp_export_rule *rule = &export->rules[i];
		tp_list_add_lines(export->out, rule->comment);
		tp_export_fnmatch(export, tp_export_is(rule, "src") ? "src:" : "fun:", rule);
	}
}

const struct tp_list_writer tp_export_afl = {"AFL++", "", afl_cannot, write_afl};
