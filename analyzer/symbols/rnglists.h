/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists of addresses in .debug_rnglists and .debug_rnglists.dwo (DWARF 5, section 7.25). Debian's libdwarf does
 * not find the second, where clang has most functions of a split unit. The bytes are untrusted.
 */
#ifndef TP_SYMBOL_RNGLISTS_H
#define TP_SYMBOL_RNGLISTS_H

#include "analyzer/symbols/dies.h"
#include "analyzer/symbols/ranges.h"

struct tp_rnglists {
	const uint8_t *data; /* the section; NULL: not there */
	uint64_t size;
	uint64_t table; /* offset of the unit's table of offsets, which are from there */
	uint64_t base;  /* address of the unit's code */
	const struct tp_dies_unit *unit;
};

/* Call CALL for each range of the list that FUNCTION names. */
enum tp_ranges tp_rnglists_each(const struct tp_rnglists *lists,
    const struct tp_die_function *function, tp_range_fn *call, void *context);

#endif
