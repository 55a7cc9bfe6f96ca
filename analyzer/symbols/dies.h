/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Goes through the entries of one unit of .debug_info, quickly: of each function the facts needed
 * to know whether it is a wanted one, of all else its size. Where something is not understood,
 * libdwarf goes through the unit instead (docs/decisions/0018-symbols.md). The bytes are untrusted.
 */
#ifndef TP_SYMBOL_DIES_H
#define TP_SYMBOL_DIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets are from the begin of .debug_info. All memory is the caller's. */
struct tp_dies_unit {
	const uint8_t *info;    /* the section */
	uint64_t header;        /* offset of the unit's header */
	uint64_t first;         /* of its first entry */
	uint64_t end;           /* behind the unit; not beyond the section */
	const uint8_t *abbrevs; /* its abbreviations, and what follows in their section */
	uint64_t abbrevs_size;
	const uint8_t *addresses; /* its part of .debug_addr, and what follows; may be NULL */
	uint64_t addresses_size;
	uint16_t version;
	uint8_t address_size;
	uint8_t offset_size;
};

/* What a DW_TAG_subprogram says. */
struct tp_die_function {
	uint64_t offset; /* of the entry */
	uint64_t low;    /* DW_AT_low_pc; valid if has_code */
	uint64_t file;   /* DW_AT_decl_file and DW_AT_decl_line; valid if has_file, has_line */
	uint64_t line;
	uint64_t reference; /* offset of what it was specified or made from; 0: none in this unit */
	bool has_code;      /* DW_AT_low_pc and DW_AT_high_pc */
	bool has_ranges;
	bool ranges_by_index; /* ranges is an index, not an offset in the section */
	uint64_t ranges;      /* DW_AT_ranges; UINT64_MAX: of another form */
	bool has_file;
	bool has_line;
	bool refers_out; /* to an entry of another unit */
};

/* The abbreviations of the last unit; reused for the next. All zero at first. */
struct tp_dies {
	struct tp_die_abbrev *abbrevs; /* abbrevs[code - 1] */
	struct tp_die_attribute *attributes;
	uint32_t abbrev_count;
	uint32_t abbrev_room;
	uint32_t attribute_count;
	uint32_t attribute_room;
};
void tp_dies_release(struct tp_dies *dies);

typedef void tp_dies_fn(void *context, const struct tp_die_function *function);

/*
 * Read the abbreviations of the unit. False if they are not understood, or there is no memory for
 * them: then nothing below can be called.
 */
bool tp_dies_open(struct tp_dies *dies, const struct tp_dies_unit *unit);

/* Call CALL for each function with code. False if not all entries could be gone through. */
bool tp_dies_each(
    const struct tp_dies *dies, const struct tp_dies_unit *unit, tp_dies_fn *call, void *context);

/* Read the entry at OFFSET, of any kind. False if there is none in the unit. */
bool tp_dies_read(const struct tp_dies *dies, const struct tp_dies_unit *unit, uint64_t offset,
    struct tp_die_function *function);

/* The address with this INDEX among the unit's `addresses`. False: there is none. */
bool tp_dies_address(const struct tp_dies_unit *unit, uint64_t index, uint64_t *address);

/* Called for each range [low, high); true ends the search. */
typedef bool tp_range_fn(void *context, uint64_t low, uint64_t high);

enum tp_ranges {
	TP_RANGES_PASSED,     /* the function was called for all of them */
	TP_RANGES_ENDED,      /* it returned true */
	TP_RANGES_UNREADABLE, /* perhaps after some calls */
};

/*
 * Lists of addresses in .debug_rnglists and .debug_rnglists.dwo (DWARF 5, section 7.25). Debian's
 * libdwarf does not find the second, where clang has most functions of a split unit.
 */
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
