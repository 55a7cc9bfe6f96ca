/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The records of a chunk, one by one: teeperf/log.h and docs/format.md (Records) have the grammar,
 * records.def the control records. The words may be anything.
 *
 * Records of functions have other readers: the replay (analyzer/replay/stack.c, stack_usual.c), for
 * speed; test/unit/u_stack_usual.c compares. And two cannot include this: a port of the runtime
 * (runtime/port/private_log.c), which reads what it wrote, and gdb/.
 */
#ifndef TP_RECORDS_H
#define TP_RECORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/log.h>

enum tp_record_form {
	/* Records of functions, by their kind. */
	TP_RECORD_ENTER = TEEPERF_KIND_ENTER,
	TP_RECORD_EXIT = TEEPERF_KIND_EXIT,
	TP_RECORD_UNTIMED = TEEPERF_KIND_UNTIMED,
	TP_RECORD_RESYNC = TEEPERF_KIND_RESYNC,
	/* Control records, by what their time field is (records.def). */
	TP_RECORD_NOTHING,
	TP_RECORD_NUMBER,
	TP_RECORD_HIGH,
	TP_RECORD_PAIRS,
	TP_RECORD_NAMED,
	TP_RECORD_BORDER,
	TP_RECORD_UNKNOWN, /* a control record of another version, or damage */
};

/* A place in the words of one chunk. */
struct tp_record_cursor {
	const uint64_t *words;
	uint32_t count;
	uint32_t i;    /* the next record's */
	uint64_t high; /* upper half of the clock there */
};

struct tp_record {
	uint64_t time;        /* if `timed`; it may be below that of the record before it */
	const uint64_t *more; /* the raw words that follow the record's own, and belong to it */
	uint32_t more_count;
	uint32_t at;     /* index of its word */
	uint32_t tagged; /* upper half: a name and its kind, or enum teeperf_control */
	uint32_t value;  /* lower half */
	enum tp_record_form form;
	bool timed;
	/*
	 * The chunk ends before its raw words do, or no chunk has room for their number: `more` is
	 * the rest, and nothing shows where another record begins.
	 */
	bool cut;
};

/* FIRST_TIME is that of the chunk to which the COUNT words belong. */
static inline struct tp_record_cursor tp_records_begin(
    const uint64_t *words, uint32_t count, uint64_t first_time)
{
	return (struct tp_record_cursor){words, count, 0, first_time >> 32 << 32};
}

static inline enum tp_record_form tp_record_form_of(uint32_t tagged)
{
	if (tagged >= TEEPERF_NAME_FIRST)
		return (enum tp_record_form)(tagged & TEEPERF_KIND_MASK);
	switch (tagged) {
#define TP_CONTROL(name, form, word, kind) \
	case TEEPERF_CONTROL_##name:       \
		return TP_RECORD_##form;
#include "common/chunks/records.def"
	default:
		return TP_RECORD_UNKNOWN;
	}
}

static inline bool tp_record_form_is_timed(enum tp_record_form form)
{
	const uint32_t forms = 1U << TP_RECORD_ENTER | 1U << TP_RECORD_EXIT |
			       1U << TP_RECORD_RESYNC | 1U << TP_RECORD_NAMED |
			       1U << TP_RECORD_BORDER;
	return forms >> form & 1;
}

/* Whether it is one of a function, whose name is `tagged` without its kind. */
static inline bool tp_record_names(const struct tp_record *record)
{
	return record->form <= TP_RECORD_RESYNC;
}

/* Take the next record. False: there is none. */
static inline bool tp_record_next(struct tp_record_cursor *cursor, struct tp_record *record)
{
	if (cursor->i >= cursor->count)
		return false;
	const uint32_t at = cursor->i++;
	const uint32_t tagged = (uint32_t)(cursor->words[at] >> 32);
	const uint32_t value = (uint32_t)cursor->words[at];
	const uint32_t left = cursor->count - cursor->i;
	const enum tp_record_form form = tp_record_form_of(tagged);
	uint32_t more = form == TP_RECORD_RESYNC;
	bool cut = more > left;
	if (form == TP_RECORD_PAIRS) {
		cut = value > TEEPERF_COUNTS_MAX || value > left / 2;
		more = value * 2;
	} else if (form == TP_RECORD_HIGH) {
		cursor->high = (uint64_t)value << 32;
	}
	*record = (struct tp_record){
	    .time = cursor->high | value,
	    .more = cursor->words + cursor->i,
	    .more_count = cut ? left : more,
	    .at = at,
	    .tagged = tagged,
	    .value = value,
	    .form = form,
	    .timed = tp_record_form_is_timed(form),
	    .cut = cut,
	};
	cursor->i += record->more_count;
	return true;
}

#endif
