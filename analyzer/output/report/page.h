/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The viewer: what analyzer/output/report/viewer/embed.py makes of the files in report/. Hashes are as in a content policy. */
#ifndef TP_REPORT_PAGE_H
#define TP_REPORT_PAGE_H

extern const char tp_report_script[];
extern const char tp_report_script_hash[];
extern const char tp_report_style[];
extern const char tp_report_style_hash[];
/* The elements before and behind the overview. */
extern const char tp_report_before[];
extern const char tp_report_behind[];

#endif
