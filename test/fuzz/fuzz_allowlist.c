// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parse any bytes as a list; ask a list that parses about names taken from its own text.
#include "allowlists/language/allowlist.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The lines that match: they come in order, and the one that decided is among them.
struct matches {
	const struct tp_allowlist *list;
	const struct tp_verdict *verdict;
	uint32_t next;
	bool decided;
};

static void note(void *context, uint32_t index)
{
	struct matches *matches = context;
	if (index < matches->next || index >= tp_allowlist_line_count(matches->list))
		abort();
	matches->next = index + 1;
	const struct tp_allowlist_line line = tp_allowlist_line(matches->list, index);
	matches->decided |= line.line == matches->verdict->line &&
			    line.category == matches->verdict->category &&
			    line.sample == matches->verdict->sample;
}

static void ask(const struct tp_allowlist *list, const struct tp_subject *subject, size_t size)
{
	const struct tp_verdict verdict = tp_allowlist_match(list, subject);
	if (verdict.line > size || verdict.sample < 1 || verdict.sample > TP_SAMPLE_MAX)
		abort();
	struct matches matches = {.list = list, .verdict = &verdict};
	tp_allowlist_matches(list, subject, note, &matches);
	const struct tp_verdict other = tp_allowlist_default(list);
	if (matches.next ? !matches.decided
			 : verdict.line != other.line || verdict.category != other.category)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_allowlist *list;
	struct tp_err err;
	const int status = tp_allowlist_parse(&list, (const char *)data, size, "fuzz", &err);
	if (status) {
		// An error says where and what.
		char text[TP_ERR_TEXT_SIZE];
		if (list || err.code != status || !err.what[0] ||
		    (status == TP_ERR_SYNTAX && (!err.line || !err.column)) ||
		    !tp_err_render(&err, text, sizeof(text))[0])
			abort();
		return 0;
	}
	for (uint32_t i = 0; i < tp_allowlist_warning_count(list); i++)
		if (!tp_allowlist_warning(list, i)->line || !tp_allowlist_warning(list, i)->column)
			abort();
	char name[64];
	for (size_t at = 0; at < size && at < 256; at += 5) {
		const size_t length = size - at < sizeof(name) ? size - at : sizeof(name) - 1;
		memcpy(name, data + at, length);
		name[length] = '\0';
		const struct tp_facts facts = {
		    .instrs = at, .loops = at % 3, .linkage = "internal"};
		const struct tp_subject subject = {.function = name,
		    .demangled = name,
		    .origin = name + length / 2,
		    .origin_demangled = name + length / 2,
		    .source = name,
		    .main_file = name,
		    .module = name,
		    .facts = &facts};
		ask(list, &subject, size);
	}
	tp_allowlist_free(list);
	return 0;
}
