// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long it takes to read a list and to decide about functions: allowlist_speed LINES FUNCTIONS.
// Lists are of several mixes of lines, made up like the functions' names. Beside it what comparing
// each name with each line takes, measured on a few functions.
#include "allowlists/language/list.h"
#include "common/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	WORDS = 3000,  // that names are made of
	FILES = 2000,  // that functions are in
	ROUNDS = 5,    // of which the median counts
	COMPARED = 40, // functions that are compared with each line
};

static uint64_t state = 7;

static uint32_t pick(uint32_t count)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % count;
}

static char words[WORDS][24];

static void make_words(void)
{
	static const char *const syllables[] = {"Ac", "ta", "Bu", "ck", "Co", "re", "Da", "te",
	    "El", "Fi", "le", "Gra", "ph", "Ha", "sh", "It", "er", "Key", "Lo", "ck", "Map", "No",
	    "de"};
	for (uint32_t i = 0; i < WORDS; i++) {
		const uint32_t count = 2 + pick(3);
		words[i][0] = '\0';
		for (uint32_t n = 0; n < count; n++)
			strcat(words[i], syllables[pick(sizeof(syllables) / sizeof(syllables[0]))]);
	}
}

struct function {
	char linkage[160];
	char demangled[160];
	char source[64];
};

// Mangled and demangled names of functions in one or two namespaces and a class.
static void make_function(struct function *function, uint32_t number)
{
	static const char *const parameters[][2] = {{"v", ""}, {"i", "int"}, {"PKc", "char const*"},
	    {"RKSs", "std::string const&"}, {"m", "unsigned long"}};
	const char *space = words[pick(40)];
	const char *class = words[pick(WORDS)];
	char method[48];
	snprintf(method, sizeof(method), "%s%u", words[pick(WORDS)], number);
	const uint32_t p = pick(5);
	snprintf(function->linkage, sizeof(function->linkage), "_ZN%zu%.23s%zu%.23s%zu%.40sE%s",
	    strlen(space), space, strlen(class), class, strlen(method), method, parameters[p][0]);
	snprintf(function->demangled, sizeof(function->demangled), "%.23s::%.23s::%.40s(%s)", space,
	    class, method, parameters[p][1]);
	const uint32_t file = pick(FILES);
	snprintf(function->source, sizeof(function->source), "src/%.20s/%.20s_%u.cc",
	    words[file % 40], words[file], file);
}

static void add_exact(struct tp_buf *text, const struct function *function)
{
	tp_buf_addf(text, "fun:%s", function->linkage);
}

static void add_prefix(struct tp_buf *text, const struct function *function)
{
	tp_buf_addf(text, "fun:%.*s*", (int)(strlen(function->linkage) * 3 / 4), function->linkage);
}

static void add_suffix(struct tp_buf *text, const struct function *function)
{
	tp_buf_addf(text, "fun:*%s", function->linkage + strlen(function->linkage) / 2);
}

static void add_inside(struct tp_buf *text, const struct function *function)
{
	(void)function;
	tp_buf_addf(text, "fun:*%s%u*", words[pick(WORDS)], pick(1000));
}

// The same pieces again and again: the distinctive part is short, and in the middle.
static void add_common(struct tp_buf *text, const struct function *function)
{
	(void)function;
	tp_buf_addf(text, "fun:_ZN*%s*%u*E?", words[pick(40)], pick(1000));
}

static void add_source(struct tp_buf *text, const struct function *function)
{
	tp_buf_addf(text, pick(2) ? "src:%s" : "src:*/%s", strchr(function->source, '/') + 1);
}

static void add_name(struct tp_buf *text, const struct function *function)
{
	tp_buf_addf(text, "name:%.*s", (int)strcspn(function->demangled, "("), function->demangled);
}

static void add_both(struct tp_buf *text, const struct function *function)
{
	tp_buf_addf(text, "fun:%.*s*@src:%s", (int)(strlen(function->linkage) / 2),
	    function->linkage, function->source);
}

static void add_mixed(struct tp_buf *text, const struct function *function)
{
	static void (*const adders[])(struct tp_buf *, const struct function *) = {add_exact,
	    add_exact, add_exact, add_exact, add_prefix, add_prefix, add_suffix, add_inside,
	    add_source, add_name};
	adders[pick(sizeof(adders) / sizeof(adders[0]))](text, function);
}

static const struct mix {
	const char *name;
	void (*add)(struct tp_buf *text, const struct function *function);
} mixes[] = {
    {"fun:NAME", add_exact},
    {"fun:PREFIX*", add_prefix},
    {"fun:*SUFFIX", add_suffix},
    {"fun:*WORD*", add_inside},
    {"fun:_ZN*COMMON*N*E?", add_common},
    {"src:", add_source},
    {"name:", add_name},
    {"fun:PREFIX*@src:", add_both},
    {"mixed", add_mixed},
};

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	const double left = *(const double *)a;
	const double right = *(const double *)b;
	return (left > right) - (left < right);
}

static double median(double values[ROUNDS])
{
	qsort(values, ROUNDS, sizeof(values[0]), by_value);
	return values[ROUNDS / 2];
}

static struct tp_subject subject_of(const struct function *function)
{
	return (struct tp_subject){
	    .function = function->linkage,
	    .demangled = function->demangled,
	    .source = function->source,
	    .main_file = function->source,
	};
}

static uint32_t match_all(
    const struct tp_allowlist *list, const struct function *functions, uint32_t count)
{
	uint32_t chosen = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_subject subject = subject_of(&functions[i]);
		chosen += tp_allowlist_match(list, &subject).category == TP_CATEGORY_ALLOW;
	}
	return chosen;
}

// Comparing names with the first part of each line, the last line first.
static uint32_t compare_all(
    const struct tp_allowlist *list, const struct function *functions, uint32_t count)
{
	uint32_t chosen = 0;
	for (uint32_t i = 0; i < count; i++) {
		const char *texts[] = {[TP_RULE_FUNCTION] = functions[i].linkage,
		    [TP_RULE_NAME] = functions[i].demangled,
		    [TP_RULE_SOURCE] = functions[i].source};
		bool found = false;
		for (uint32_t e = list->entry_count; e-- > 0 && !found;) {
			const struct tp_condition *first = &list->entries[e].first;
			found = tp_globs_match(
			    &first->globs, texts[first->kind], strlen(texts[first->kind]));
		}
		chosen += found;
	}
	return chosen;
}

static void measure(
    const struct mix *mix, uint32_t lines, const struct function *functions, uint32_t count)
{
	struct tp_buf text;
	tp_buf_init(&text);
	for (uint32_t i = 0; i < lines; i++) {
		// Half of them are about functions that are not there.
		struct function other;
		make_function(&other, count + i);
		mix->add(&text, pick(2) ? &functions[pick(count)] : &other);
		tp_buf_add_string(&text, pick(4) ? "\n" : "=skip\n");
	}
	double load_ms[ROUNDS];
	double match_ms[ROUNDS];
	uint32_t chosen = 0;
	struct tp_allowlist *list = NULL;
	for (int round = 0; round < ROUNDS; round++) {
		struct tp_err err;
		char line[TP_ERR_TEXT_SIZE];
		tp_allowlist_free(list);
		const double start = now_ms();
		if (tp_allowlist_parse(&list, text.data, text.size, mix->name, &err)) {
			fprintf(stderr, "%s\n", tp_err_render(&err, line, sizeof(line)));
			exit(1);
		}
		const double loaded = now_ms();
		chosen = match_all(list, functions, count);
		load_ms[round] = loaded - start;
		match_ms[round] = now_ms() - loaded;
	}
	const uint32_t few = count < COMPARED ? count : COMPARED;
	const double start = now_ms();
	const volatile uint32_t found = compare_all(list, functions, few);
	(void)found;
	const double each_s = (now_ms() - start) / few * count / 1e3;
	printf("%-20s %9.1f ms %9.1f ms %9" PRIu32 " %9.0f s\n", mix->name, median(load_ms),
	    median(match_ms), chosen, each_s);
	tp_allowlist_free(list);
	tp_buf_release(&text);
}

int main(int argc, char **argv)
{
	const long lines = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	const long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	if (lines < 1 || count < 1 || lines > 1000000 || count > 10000000) {
		fprintf(stderr, "usage: allowlist_speed LINES FUNCTIONS\n");
		return 129;
	}
	make_words();
	struct function *functions = calloc((size_t)count, sizeof(*functions));
	if (!functions)
		return 1;
	for (long i = 0; i < count; i++)
		make_function(&functions[i], (uint32_t)i);
	printf("%ld lines, %ld functions, median of %d\n", lines, count, ROUNDS);
	printf("%-20s %12s %12s %9s %11s\n", "lines", "load", "match", "chosen", "one by one");
	for (size_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++)
		measure(&mixes[i], (uint32_t)lines, functions, (uint32_t)count);
	free(functions);
	return 0;
}
