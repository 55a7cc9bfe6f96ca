/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts of a flame graph that are the same in each: its style and its script. */
#ifndef TP_FLAME_SCRIPT_H
#define TP_FLAME_SCRIPT_H

/* CSS, without the characters that XML gives a meaning. */
extern const char tp_flame_style[];
/* JavaScript, to be put into a CDATA section. */
extern const char tp_flame_script[];

#endif
