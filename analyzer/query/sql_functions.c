// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that we add to SQL: pctl(x, p), ns(ticks), ms(ns), human(ns).
#include "analyzer/query/sql.h"

#include "analyzer/output/text.h"
#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tp_sql_bound(sqlite3_value *value, bool from, int64_t *bound)
{
	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		*bound = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT: {
		const double real = sqlite3_value_double(value);
		// Behind 2^53 a real number may stand for several whole ones.
		if (!(fabs(real) < 9e15))
			return false;
		*bound = (int64_t)(from ? ceil(real) : floor(real));
		return true;
	}
	default:
		return false;
	}
}

// ---- pctl

// The values of a group, as whole numbers that have the same order.
struct values {
	uint64_t *items;
	uint64_t count;
	uint64_t capacity;
	double part;
	bool real; // one of them at least: all are
	bool has_part;
	bool failed;
};

#define SIGN (UINT64_C(1) << 63)

static uint64_t key_of_real(double real)
{
	uint64_t bits;
	memcpy(&bits, &real, sizeof(bits));
	return bits & SIGN ? ~bits : bits | SIGN;
}

static double real_of_key(uint64_t key)
{
	const uint64_t bits = key & SIGN ? key & ~SIGN : ~key;
	double real;
	memcpy(&real, &bits, sizeof(real));
	return real;
}

static uint64_t key_of_integer(int64_t integer)
{
	return (uint64_t)integer ^ SIGN;
}

static int64_t integer_of_key(uint64_t key)
{
	return (int64_t)(key ^ SIGN);
}

static void pctl_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	(void)argc;
	struct values *values = sqlite3_aggregate_context(context, sizeof(*values));
	if (!values)
		return;
	const int type = sqlite3_value_numeric_type(argv[0]);
	const double part = sqlite3_value_double(argv[1]);
	if (!(part >= 0 && part <= 1) || (values->has_part && part != values->part)) {
		sqlite3_result_error(
		    context, "pctl(x, p): p must be from 0 to 1, and the same for all rows", -1);
		return;
	}
	values->part = part;
	values->has_part = true;
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return;
	if (!TP_GROW(values->items, values->capacity, values->count + 1)) {
		values->failed = true;
		sqlite3_result_error_nomem(context);
		return;
	}
	if (type == SQLITE_FLOAT && !values->real) {
		for (uint64_t i = 0; i < values->count; i++)
			values->items[i] = key_of_real((double)integer_of_key(values->items[i]));
		values->real = true;
	}
	values->items[values->count++] = values->real
					     ? key_of_real(sqlite3_value_double(argv[0]))
					     : key_of_integer(sqlite3_value_int64(argv[0]));
}

// The item with this rank.
static uint64_t select_key(const struct values *values, uint64_t rank)
{
	uint64_t low = values->items[0];
	uint64_t high = low;
	for (uint64_t i = 1; i < values->count; i++) {
		low = values->items[i] < low ? values->items[i] : low;
		high = values->items[i] > high ? values->items[i] : high;
	}
	// Near each other, as times are, they need few passes.
	for (uint64_t i = 0; i < values->count; i++)
		values->items[i] -= low;
	const uint32_t bits = high == low ? 0 : 64 - (uint32_t)__builtin_clzll(high - low);
	if (bits < 64)
		return low + tp_select_value(values->items, values->count, rank, bits);
	// Both halves of all numbers: the lower one first.
	uint64_t below = 0;
	for (uint64_t i = 0; i < values->count; i++)
		below += !(values->items[i] & SIGN);
	const bool upper = rank >= below;
	uint64_t count = 0;
	for (uint64_t i = 0; i < values->count; i++)
		if (!(values->items[i] & SIGN) != upper)
			values->items[count++] = values->items[i] & ~SIGN;
	return low + (upper ? SIGN : 0) +
	       tp_select_value(values->items, count, upper ? rank - below : rank, 63);
}

static void pctl_final(sqlite3_context *context)
{
	struct values *values = sqlite3_aggregate_context(context, 0);
	if (!values)
		return;
	if (values->count && !values->failed) {
		uint64_t rank = (uint64_t)ceil(values->part * (double)values->count);
		rank = rank < 1 ? 1 : rank > values->count ? values->count : rank;
		const uint64_t key = select_key(values, rank - 1);
		if (values->real)
			sqlite3_result_double(context, real_of_key(key));
		else
			sqlite3_result_int64(context, integer_of_key(key));
	}
	free(values->items);
	values->items = NULL;
}

// ---- scalars

// Ticks of the first trace's clock, as all columns convert them.
static void to_ns(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	(void)argc;
	const struct tp_query *query = sqlite3_user_data(context);
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL || !query->trace_count)
		return;
	const struct tp_analysis *analysis = query->traces[0]->analysis;
	const sqlite3_int64 ticks = sqlite3_value_int64(argv[0]);
	if (analysis->timeless)
		return;
	// A difference may be negative.
	const uint64_t size = ticks < 0 ? -(uint64_t)ticks : (uint64_t)ticks;
	const sqlite3_int64 ns = tp_sql_clamp(tp_timebase_ns(&analysis->time, size));
	sqlite3_result_int64(context, ticks < 0 ? -ns : ns);
}

// A time in ns as text with a unit, as in the views.
static void human(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	(void)argc;
	char text[TP_TEXT_NUMBER + 1];
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	const sqlite3_int64 ns = sqlite3_value_int64(argv[0]);
	text[0] = '-';
	tp_text_ns(text + 1, ns < 0 ? -(uint64_t)ns : (uint64_t)ns);
	sqlite3_result_text(context, ns < 0 ? text : text + 1, -1, SQLITE_TRANSIENT);
}

int tp_sql_add_functions(struct tp_query *query)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int code = sqlite3_create_function_v2(
	    query->db, "pctl", 2, flags, query, NULL, pctl_step, pctl_final, NULL);
	if (!code)
		code = sqlite3_create_function_v2(
		    query->db, "ns", 1, flags, query, to_ns, NULL, NULL, NULL);
	if (!code)
		code = sqlite3_create_function_v2(
		    query->db, "human", 1, flags, query, human, NULL, NULL, NULL);
	return code;
}
