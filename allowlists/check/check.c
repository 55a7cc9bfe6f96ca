// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the mistakes in an allowlist for a program.
#include "check.h"

#include "allowlists/convert/text.h"
#include "common/array.h"
#include "common/clean.h"
#include "common/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Looking for what was meant takes a look at every function, several times (some 40 ms for
 * 100,000): a list that is wrong as a whole does not need it for each line.
 */
enum { HINTS_LEAST = 10, HINTS_MOST = 100, HINTS_FUNCTIONS = 2000000 };
enum { NAMES_MOST = 3, INTO_MOST = 3 };

struct checking {
	struct tp_list_check *check;
	const struct tp_list_use *use;
	const struct tp_list_check_options *options;
	uint32_t index; /* of the line that is looked at */
	struct tp_allowlist_line line;
	const struct tp_line_use *found;
	struct tp_buf what; // of the finding that is put together
	struct tp_buf remedy;
	uint32_t hints;
	bool failed;
};

const char *tp_finding_kind_name(enum tp_finding_kind kind)
{
	static const char *const names[] = {"no-match", "inlined", "removed", "partly-inlined",
	    "ambiguous", "shadowed", "suspicious", "empty", "budget"};
	_Static_assert(sizeof(names) / sizeof(names[0]) == TP_FINDING_KIND_COUNT, "a name each");
	return names[kind];
}

const char *tp_severity_name(enum tp_severity severity)
{
	static const char *const names[] = {"note", "warning", "error"};
	return names[severity];
}

static struct tp_finding *add_finding(struct tp_list_check *check, enum tp_finding_kind kind,
    enum tp_severity severity, const char *what, const char *remedy)
{
	if (!TP_GROW(check->findings, check->capacity, check->count + UINT64_C(1)))
		return NULL;
	struct tp_finding *finding = &check->findings[check->count];
	*finding = (struct tp_finding){
	    .kind = kind,
	    .severity = severity,
	    .line = TP_LINE_NONE,
	    .what = tp_arena_copy(&check->arena, what, strlen(what)),
	};
	if (remedy && *remedy)
		finding->remedy = tp_arena_copy(&check->arena, remedy, strlen(remedy));
	if (!finding->what || (remedy && *remedy && !finding->remedy))
		return NULL;
	check->count++;
	check->counts[severity]++;
	return finding;
}

int tp_list_check_add(struct tp_list_check *check, enum tp_finding_kind kind,
    enum tp_severity severity, const char *what, const char *remedy, struct tp_err *err)
{
	if (add_finding(check, kind, severity, what, remedy))
		return 0;
	return tp_err_memory(err, NULL);
}

// The functions of these fates that the line matches, as examples of a finding.
static void add_functions(
    struct checking *at, struct tp_finding *finding, enum tp_fate first, enum tp_fate last)
{
	enum { MOST = TP_FATE_COUNT * TP_LINE_EXAMPLES };
	uint32_t *functions = tp_arena_alloc(&at->check->arena, MOST * sizeof(*functions));
	if (!functions) {
		at->failed = true;
		return;
	}
	finding->functions = functions;
	for (enum tp_fate fate = first; fate <= last; fate++) {
		const uint32_t count = at->found->fates[fate];
		finding->all += count;
		for (uint32_t i = 0; i < count && i < TP_LINE_EXAMPLES; i++)
			functions[finding->function_count++] = at->found->examples[fate][i];
	}
}

// A finding about the line, which matches functions of the fates FIRST to LAST.
static void find(struct checking *at, enum tp_finding_kind kind, enum tp_severity severity,
    enum tp_fate first, enum tp_fate last)
{
	at->failed |= at->what.failed || at->remedy.failed;
	struct tp_finding *finding =
	    at->failed ? NULL
		       : add_finding(at->check, kind, severity, at->what.data, at->remedy.data);
	if (finding) {
		finding->line = at->index;
		add_functions(at, finding, first, last);
	}
	at->failed |= !finding;
	tp_buf_reset(&at->what);
	tp_buf_reset(&at->remedy);
}

static const struct tp_inventory_function *function_at(const struct checking *at, uint32_t index)
{
	return &at->use->inventory->functions[index];
}

// "'f' was inlined into 'g' (3 times) and 'h'".
static void add_inlined(
    struct checking *at, const struct tp_inventory_function *function, const char *was)
{
	tp_buf_addf_clean(&at->what, "'%s'%s", function->demangled, was);
	if (!function->into_count)
		return;
	tp_buf_add_string(&at->what, " into ");
	tp_list_add_into(&at->what, at->use->inventory, function, INTO_MOST);
}

// "'f' into 'g'; 'h'; and 3 more" of ALL that have this fate, or another one.
static void add_examples(struct checking *at, enum tp_fate fate, uint32_t all)
{
	uint32_t named = 0;
	for (; named < at->found->fates[fate] && named < NAMES_MOST; named++) {
		tp_buf_add_string(&at->what, named ? "; " : "");
		add_inlined(at, function_at(at, at->found->examples[fate][named]), "");
	}
	if (named < all)
		tp_buf_addf(&at->what, "; and %" PRIu32 " more", all - named);
}

// The line that keeps FUNCTION visible, and those of who holds its copies.
static void add_force(
    struct checking *at, struct tp_buf *remedy, const struct tp_inventory_function *function)
{
	tp_buf_add_string(remedy, "write 'fun:");
	tp_glob_add_literal(remedy, tp_span_of(function->name));
	tp_buf_add_string(remedy, "=force' to keep it from being inlined");
	if (!function->into_count)
		return;
	tp_buf_add_string(remedy, ", or list the functions that contain it:");
	for (uint32_t i = 0; i < function->into_count && i < INTO_MOST; i++) {
		tp_buf_addf(remedy, "%s 'fun:", i ? "," : "");
		tp_glob_add_literal(
		    remedy, tp_span_of(function_at(at, function->into[i].function)->name));
		tp_buf_add_char(remedy, '\'');
	}
}

static void check_no_match(struct checking *at)
{
	const bool general = at->options->is_general && at->options->is_general(at->line.file);
	if (general || at->options->lenient[TP_FINDING_NO_MATCH])
		return;
	if (at->line.exact)
		tp_buf_addf(&at->what, "unknown function '%s'", at->line.exact);
	else
		tp_buf_add_string(&at->what, "this line matches no function");
	const uint64_t looks = (uint64_t)at->hints * at->use->inventory->function_count;
	if (at->hints < HINTS_LEAST || (at->hints < HINTS_MOST && looks < HINTS_FUNCTIONS)) {
		at->hints++;
		tp_list_hint(&at->remedy, at->use, at->index);
	}
	find(at, TP_FINDING_NO_MATCH, TP_SEVERITY_WARNING, TP_FATE_THERE, TP_FATE_REMOVED);
}

static void check_one_gone(struct checking *at, bool inlined)
{
	const enum tp_fate fate = inlined ? TP_FATE_INLINED : TP_FATE_REMOVED;
	const struct tp_inventory_function *function =
	    function_at(at, at->found->examples[fate][0]);
	if (inlined) {
		add_inlined(at, function, " was inlined");
		tp_buf_add_string(
		    &at->what, " and is no longer a function of its own: nothing is recorded");
		if (at->line.category != TP_CATEGORY_FORCE)
			add_force(at, &at->remedy, function);
		else
			tp_buf_add_string(&at->remedy,
			    "it was compiled without this line, or is declared always_inline");
	} else {
		tp_buf_addf_clean(&at->what,
		    "'%s' was removed by the compiler: nothing is recorded", function->demangled);
		tp_buf_add_string(&at->remedy,
		    "it is not called, or was inlined completely: '=force' keeps its calls, if "
		    "there are any");
	}
	find(at, inlined ? TP_FINDING_INLINED : TP_FINDING_REMOVED, TP_SEVERITY_WARNING,
	    TP_FATE_INLINED, TP_FATE_REMOVED);
}

// Nothing of what the line matches is a function of the program any more.
static void check_gone(struct checking *at)
{
	const uint32_t inlined = at->found->fates[TP_FATE_INLINED];
	const enum tp_finding_kind kind = inlined ? TP_FINDING_INLINED : TP_FINDING_REMOVED;
	if (!tp_category_instruments(at->line.category) || at->options->lenient[kind])
		return;
	if (at->found->matched == 1) {
		check_one_gone(at, inlined);
		return;
	}
	tp_buf_addf(&at->what, "all %" PRIu32 " functions that match were %s: ", at->found->matched,
	    !inlined                            ? "removed by the compiler"
	    : at->found->fates[TP_FATE_REMOVED] ? "inlined or removed"
						: "inlined");
	add_examples(at, inlined ? TP_FATE_INLINED : TP_FATE_REMOVED, at->found->matched);
	if (inlined && at->line.category != TP_CATEGORY_FORCE)
		tp_buf_add_string(
		    &at->remedy, "'=force' keeps functions from being inlined, at a cost");
	find(at, kind, TP_SEVERITY_WARNING, TP_FATE_INLINED, TP_FATE_REMOVED);
}

/*
 * Functions that were inlined elsewhere, too. Of a line that names one function this is a warning;
 * that a glob matches some of these is normal.
 */
static void check_partly(struct checking *at)
{
	const uint32_t partly = at->found->fates[TP_FATE_PARTLY];
	if (!partly || !at->found->decided || !tp_category_instruments(at->line.category) ||
	    at->options->lenient[TP_FINDING_PARTLY])
		return;
	const struct tp_inventory_function *function =
	    function_at(at, at->found->examples[TP_FATE_PARTLY][0]);
	const bool one = at->found->matched == 1;
	if (one) {
		add_inlined(at, function, " was also inlined");
		tp_buf_add_string(&at->what, ": calls there are not recorded");
		if (at->line.category != TP_CATEGORY_FORCE)
			add_force(at, &at->remedy, function);
	} else {
		tp_buf_addf(&at->what,
		    "%" PRIu32 " of the %" PRIu32
		    " functions that match were also inlined elsewhere, and calls there are not "
		    "recorded: ",
		    partly, at->found->matched);
		add_examples(at, TP_FATE_PARTLY, partly);
	}
	find(at, TP_FINDING_PARTLY, one ? TP_SEVERITY_WARNING : TP_SEVERITY_NOTE, TP_FATE_PARTLY,
	    TP_FATE_PARTLY);
}

// fun:init, and there are several static functions of this name.
static void check_ambiguous(struct checking *at)
{
	if (!at->line.exact || at->found->named < 2 || at->options->lenient[TP_FINDING_AMBIGUOUS])
		return;
	const struct tp_line_parts parts = tp_line_split(tp_span_of(at->line.text));
	if (parts.more_count)
		return;
	tp_buf_addf(
	    &at->what, "%" PRIu32 " functions are named '%s': ", at->found->named, at->line.exact);
	uint32_t named = 0;
	const char *file = NULL;
	for (enum tp_fate fate = 0; fate < TP_FATE_COUNT; fate++) {
		for (uint32_t i = 0; i < at->found->fates[fate] && i < TP_LINE_EXAMPLES; i++) {
			const struct tp_inventory_function *function =
			    function_at(at, at->found->examples[fate][i]);
			const bool debug = *function->file != '\0';
			if (!tp_line_names(&at->line, function))
				continue;
			tp_buf_addf_clean(&at->what, "%s%s", named++ ? ", " : "",
			    debug ? function->file : function->main_file);
			if (debug)
				tp_buf_addf(&at->what, ":%" PRIu64, function->line);
			if (!file)
				file = debug ? function->file : function->main_file;
		}
	}
	if (named < at->found->named)
		tp_buf_addf(&at->what, " and %" PRIu32 " more", at->found->named - named);
	if (file && *file) {
		tp_buf_addf(&at->remedy,
		    "to select one, add its source: 'fun:%.*s@src:", (int)parts.glob.size,
		    parts.glob.text);
		tp_glob_add_literal(&at->remedy, tp_span_of(file));
		if (parts.has_category) {
			tp_buf_add_char(&at->remedy, '=');
			tp_category_add(&at->remedy, parts.category, parts.sample);
		}
		tp_buf_add_char(&at->remedy, '\'');
	}
	find(at, TP_FINDING_AMBIGUOUS, TP_SEVERITY_WARNING, TP_FATE_THERE, TP_FATE_REMOVED);
}

static void check_shadowed(struct checking *at)
{
	if (at->found->decided || at->options->lenient[TP_FINDING_SHADOWED])
		return;
	const struct tp_allowlist_line other =
	    tp_allowlist_line(at->use->list, at->found->beaten_by);
	tp_buf_add_string(&at->what, "this line has no effect: ");
	if (strcmp(other.file, at->line.file) != 0)
		tp_buf_addf(&at->what, "%s:", other.file);
	else
		tp_buf_add_string(&at->what, "line ");
	tp_buf_addf(&at->what, "%" PRIu32 ", '%s', %s the %s that it matches", other.line,
	    other.text, at->found->contradicted ? "decides about" : "says the same about",
	    tp_by_count(at->found->matched, "function", "functions"));
	if (at->found->contradicted)
		tp_buf_add_string(&at->remedy,
		    other.category == TP_CATEGORY_FORBID
			? "'forbid' overrides every other line"
			: "the last line that matches decides: move this one down, or remove it");
	find(at, TP_FINDING_SHADOWED,
	    at->found->contradicted ? TP_SEVERITY_WARNING : TP_SEVERITY_NOTE, TP_FATE_THERE,
	    TP_FATE_REMOVED);
}

static void check_suspicious(struct checking *at)
{
	if (at->options->lenient[TP_FINDING_SUSPICIOUS])
		return;
	if (tp_list_suspicious(&at->what, &at->remedy, &at->line))
		find(
		    at, TP_FINDING_SUSPICIOUS, TP_SEVERITY_WARNING, TP_FATE_THERE, TP_FATE_REMOVED);
}

static void check_line(struct checking *at)
{
	check_suspicious(at);
	if (!at->use->inventory->function_count)
		return;
	if (!at->found->matched) {
		check_no_match(at);
		return;
	}
	check_ambiguous(at);
	if (at->found->beaten_by != TP_LINE_NONE && !at->found->decided) {
		check_shadowed(at);
		return;
	}
	if (at->found->fates[TP_FATE_THERE] + at->found->fates[TP_FATE_PARTLY] == 0)
		check_gone(at);
	else
		check_partly(at);
}

static void check_list(struct checking *at)
{
	const struct tp_inventory *inventory = at->use->inventory;
	if (!inventory->function_count || at->options->lenient[TP_FINDING_EMPTY])
		return;
	uint32_t there = 0;
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		if (tp_fate_of(&inventory->functions[i]) > TP_FATE_PARTLY)
			continue;
		if (tp_category_instruments(at->use->verdicts[i].category))
			return;
		there++;
	}
	tp_buf_addf(&at->what,
	    "nothing is instrumented: the list selects none of the program's %" PRIu32 " functions",
	    there);
	tp_buf_add_string(&at->remedy,
	    "functions are instrumented if the last line that matches them says allow, sample, "
	    "count or force, or 'default:allow' does");
	at->failed = at->what.failed || at->remedy.failed ||
		     !add_finding(at->check, TP_FINDING_EMPTY, TP_SEVERITY_WARNING, at->what.data,
			 at->remedy.data);
}

int tp_list_check_init(struct tp_list_check *check, const struct tp_list_use *use,
    const struct tp_list_check_options *options, struct tp_err *err)
{
	*check = (struct tp_list_check){0};
	tp_arena_init(&check->arena);
	struct checking at = {.check = check, .use = use, .options = options};
	tp_buf_init(&at.what);
	tp_buf_init(&at.remedy);
	for (at.index = 0; at.index < use->line_count && !at.failed; at.index++) {
		at.line = tp_allowlist_line(use->list, at.index);
		at.found = &use->lines[at.index];
		check_line(&at);
	}
	if (!at.failed)
		check_list(&at);
	tp_buf_release(&at.what);
	tp_buf_release(&at.remedy);
	return at.failed ? tp_err_memory(err, NULL) : 0;
}

void tp_list_check_release(struct tp_list_check *check)
{
	free(check->findings);
	tp_arena_release(&check->arena);
}
