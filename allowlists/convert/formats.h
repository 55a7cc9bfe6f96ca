/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The readers and writers of tp_list_formats.
 */
#ifndef TP_LIST_FORMATS_H
#define TP_LIST_FORMATS_H

#include "convert.h"

#include <stdarg.h>

/* Tell the warner of LINE of the input. */
void tp_list_warn(const struct tp_list_warner *warner, const struct tp_list_input *input,
    uint32_t line, const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

#define TP_LIST_CONVERTER(name)                                         \
	int name(const struct tp_list_input *input, struct tp_buf *out, \
	    const struct tp_list_warner *warner, struct tp_err *err)

TP_LIST_CONVERTER(tp_import_afl);
TP_LIST_CONVERTER(tp_import_afl_deny);
TP_LIST_CONVERTER(tp_import_extrae);
TP_LIST_CONVERTER(tp_import_gcc);
TP_LIST_CONVERTER(tp_import_profile_list);
TP_LIST_CONVERTER(tp_import_sancov);
TP_LIST_CONVERTER(tp_import_sancov_ignore);
TP_LIST_CONVERTER(tp_import_scorep);
TP_LIST_CONVERTER(tp_import_tau);
TP_LIST_CONVERTER(tp_import_xray);
TP_LIST_CONVERTER(tp_export_afl);
TP_LIST_CONVERTER(tp_export_profile_list);
TP_LIST_CONVERTER(tp_export_sancov);
TP_LIST_CONVERTER(tp_export_sancov_ignore);
TP_LIST_CONVERTER(tp_export_scorep);
TP_LIST_CONVERTER(tp_export_xray);

#endif
