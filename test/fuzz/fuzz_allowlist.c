// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parse any bytes as a list; ask a list that parses about names taken from its own text.
#include "allowlists/allowlist.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_allowlist *list;
	struct tp_err err;
	const int status = tp_allowlist_parse(&list, (const char *)data, size, "fuzz", &err);
	if (status) {
		// An error says where and what.
		char text[1024];
		if (list || err.code != status || !err.what[0] ||
		    (status == TP_ERR_SYNTAX && (!err.line || !err.column)) ||
		    !tp_err_format(&err, text, sizeof(text))[0])
			abort();
		return 0;
	}
	char name[64];
	for (size_t at = 0; at < size && at < 256; at += 5) {
		const size_t length = size - at < sizeof(name) ? size - at : sizeof(name) - 1;
		memcpy(name, data + at, length);
		name[length] = '\0';
		const struct tp_facts facts = {
		    .instrs = at, .loops = at % 3, .linkage = "internal"};
		const struct tp_subject subject = {name, name, name, name, name, &facts};
		const struct tp_verdict verdict = tp_allowlist_match(list, &subject);
		if (verdict.line > size || (verdict.category == TP_CATEGORY_ALLOW && !verdict.line))
			abort();
	}
	tp_allowlist_free(list);
	return 0;
}
