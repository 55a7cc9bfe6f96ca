/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What analyzer/output/report/viewer/embed.py makes of page/ and viewer/: the page over the fleet,
 * and the script that gives the report's viewer the sums of a set. Both have modules of that viewer
 * in them.
 */
#ifndef TP_SERVE_PAGES_H
#define TP_SERVE_PAGES_H

extern const char tp_fleet_script[];
extern const char tp_fleet_script_hash[];
extern const char tp_fleet_style[];
extern const char tp_fleet_style_hash[];
extern const char tp_fleet_before[];
extern const char tp_fleet_behind[];
extern const char tp_set_script[];
extern const char tp_set_script_hash[];

#endif
