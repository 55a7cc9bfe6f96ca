// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formats that lists can be converted from and to.
#include "formats.h"

#include <stdio.h>
#include <string.h>

const struct tp_list_format tp_list_formats[] = {
    {"afl", "an AFL++ allowlist", tp_import_afl, &tp_export_afl},
    {"afl-deny", "an AFL++ denylist", tp_import_afl_deny, NULL},
    {"extrae", "a list of user functions of Extrae", tp_import_extrae, NULL},
    {"gcc", "options -finstrument-functions-exclude-*-list of gcc", tp_import_gcc, NULL},
    {"profile-list", "a -fprofile-list of Clang", tp_import_profile_list, &tp_export_profile_list},
    {"sancov", "a -fsanitize-coverage-allowlist of Clang", tp_import_sancov, &tp_export_sancov},
    {"sancov-ignore", "a -fsanitize-coverage-ignorelist of Clang", tp_import_sancov_ignore,
	&tp_export_sancov_ignore},
    {"scorep", "a Score-P filter", tp_import_scorep, &tp_export_scorep},
    {"tau", "a selective instrumentation file of TAU", tp_import_tau, NULL},
    {"xray", "a -fxray-attr-list of Clang", tp_import_xray, &tp_export_xray},
    {0},
};

const struct tp_list_format *tp_list_format_find(const char *name)
{
	for (const struct tp_list_format *format = tp_list_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

void tp_list_warn(tp_list_warner *warner, const struct tp_list_input *input, uint32_t line,
    const char *format, va_list arguments)
{
	char text[512];
	vsnprintf(text, sizeof(text), format, arguments);
	warner(input->file, line, text);
}

void tp_list_add_lines(struct tp_buf *out, struct tp_span text)
{
	struct tp_lines lines;
	struct tp_span line;
	tp_lines_init(&lines, text.text, text.size);
	while (tp_lines_next(&lines, &line)) {
		tp_buf_add_span(out, line);
		tp_buf_add_char(out, '\n');
	}
}
