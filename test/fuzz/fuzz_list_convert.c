// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read any bytes as the list of some tool, chosen by the first byte: each converted list loads,
// each list that loads can be written for every tool, and its canonical form is its own.
#define _GNU_SOURCE
#include "allowlists/convert/convert.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void warn(const char *file, uint32_t line, const char *text)
{
	(void)line;
	if (!file || !*text)
		abort();
}

static void write_all(const struct tp_list_input *input)
{
	struct tp_buf out;
	struct tp_buf again;
	struct tp_err err;
	tp_buf_init(&out);
	tp_buf_init(&again);
	for (const struct tp_list_format *format = tp_list_formats; format->name; format++) {
		tp_buf_reset(&out);
		if (format->write && tp_list_export(format, input, &out, &err))
			abort();
	}
	tp_buf_reset(&out);
	if (tp_list_fmt(input, &out, &err))
		abort();
	const struct tp_list_input canonical = {out.data, out.size, "canonical", warn};
	if (tp_list_fmt(&canonical, &again, &err) || again.size != out.size ||
	    memcmp(again.data, out.data, out.size) != 0)
		abort();
	tp_buf_release(&out);
	tp_buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	// A byte order mark in the middle would be at the beginning if the lines above it were
	// removed.
	if (!size || size > 4096 || memmem(data, size, "\xef\xbb\xbf", 3))
		return 0;
	size_t count = 0;
	while (tp_list_formats[count].name)
		count++;
	const struct tp_list_input input = {(const char *)data + 1, size - 1, "fuzz", warn};
	const size_t chosen = data[0] % (count + 1);
	struct tp_allowlist *list;
	struct tp_buf out;
	struct tp_err err;
	tp_buf_init(&out);
	if (chosen == count) {
		if (tp_allowlist_parse(&list, input.text, input.size, "fuzz", &err) == 0)
			write_all(&input);
		tp_allowlist_free(list);
	} else if (tp_list_import(&tp_list_formats[chosen], &input, &out, &err) == 0) {
		const struct tp_list_input read = {out.data, out.size, "read", warn};
		write_all(&read);
	} else if (!err.what[0]) {
		abort();
	}
	tp_buf_release(&out);
	return 0;
}
