/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What hostile_program calls when it is linked with a port without a system below it
 * (HOSTILE_BARE).
 */
#ifndef TP_HOSTILE_BARE_H
#define TP_HOSTILE_BARE_H

/* Once. True: there are guards around the log. */
bool hostile_bare_begin();

/* Around a few bursts of work. */
void hostile_bare_enter();
void hostile_bare_leave();

#endif
