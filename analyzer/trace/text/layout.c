// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the text form of traces calls the parts of a trace.
#include "line.h"

#include "analyzer/trace/timebase.h"

#include <inttypes.h>
#include <string.h>
#include <teeperf/trace.h>

enum form {
	DECIMAL, // of 2, 4 or 8 bytes
	HEX,
	PLAIN, // decimal, without the key
	CLOCK, // the name of a clock
	STRING,
	BYTES,
	COUNTED, // bytes; the 4 before them are how many
};

struct field {
	enum tp_text_struct of;
	const char *key;
	uint32_t offset;
	uint32_t size;
	enum form form;
	uint32_t group;     // 0: it always stands there; else if one of its group is not all zeroes
	uint64_t otherwise; // without the option, unless it is 0
};

#define TP_STRUCT(name, type) typedef type of_##name;
#include "analyzer/trace/sections.def"

static const struct field fields[] = {
#define TP_FIELD(in, name, member, ...)             \
	{.of = TP_TEXT_##in,                        \
	    .key = name,                            \
	    .offset = offsetof(of_##in, member),    \
	    .size = sizeof(((of_##in *)0)->member), \
	    .form = __VA_ARGS__},
#include "analyzer/trace/sections.def"
};
static const size_t field_count = sizeof(fields) / sizeof(fields[0]);
_Static_assert(offsetof(struct teeperf_module, build_id) ==
		   offsetof(struct teeperf_module, build_id_size) + sizeof(uint32_t),
    "the count is before the bytes");

const struct tp_text_control *tp_text_control(uint32_t code, const char *word)
{
	static const struct tp_text_control controls[] = {
#define TP_CONTROL(name, form, word, kind) {word, TEEPERF_CONTROL_##name, TP_RECORD_##form},
#include "common/chunks/records.def"
	};
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (word ? strcmp(controls[i].word, word) == 0 : controls[i].code == code)
			return &controls[i];
	return NULL;
}

void tp_text_add_quoted(struct tp_buf *out, const char *text, size_t size)
{
	tp_buf_add_char(out, '"');
	for (size_t i = 0; i < size; i++) {
		const unsigned char c = (unsigned char)text[i];
		if (c == '"' || c == '\\')
			tp_buf_addf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			tp_buf_addf(out, "\\x%02x", c);
		else
			tp_buf_add_char(out, (char)c);
	}
	tp_buf_add_char(out, '"');
}

void tp_text_add_hex(struct tp_buf *out, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		tp_buf_addf(out, "%02x", data[i]);
}

// Whether the field stands in a line: it, or another one of its group, is not all zeroes.
static bool is_there(const struct field *wanted, const uint8_t *data)
{
	uint8_t bits = !wanted->group;
	for (size_t i = 0; i < field_count && !bits; i++)
		for (uint32_t j = 0; fields[i].of == wanted->of &&
				     fields[i].group == wanted->group && j < fields[i].size;
		     j++)
			bits |= data[fields[i].offset + j];
	return bits;
}

static uint64_t number_at(const uint8_t *at, uint32_t size)
{
	uint64_t value = 0;
	memcpy(&value, at, size);
	return value;
}

static void add_value(struct tp_buf *out, const struct field *field, const uint8_t *at)
{
	const uint64_t value = field->form < STRING ? number_at(at, field->size) : 0;
	const uint64_t count = field->form == COUNTED ? number_at(at - 4, 4) : field->size;
	if (field->form == STRING)
		tp_text_add_quoted(out, (const char *)at, strnlen((const char *)at, field->size));
	else if (field->form >= BYTES)
		tp_text_add_hex(out, at, count < field->size ? count : field->size);
	else if (field->form == CLOCK)
		tp_buf_add_string(out, teeperf_clock_name((uint32_t)value));
	else
		tp_buf_addf(out, field->form == HEX ? "0x%" PRIx64 : "%" PRIu64, value);
}

void tp_text_add(struct tp_buf *out, enum tp_text_struct of, const void *data)
{
	for (size_t i = 0; i < field_count; i++) {
		const struct field *field = &fields[i];
		if (field->of != of || !is_there(field, data))
			continue;
		if (field->form == PLAIN)
			tp_buf_add_char(out, ' ');
		else
			tp_buf_addf(out, " %s=", field->key);
		add_value(out, field, (const uint8_t *)data + field->offset);
	}
}

static uint32_t read_clock(struct tp_line *line, const char *key, uint32_t otherwise)
{
	const char *name = tp_line_option_word(line, key, teeperf_clock_name(otherwise));
	for (uint32_t kind = 0; kind <= TEEPERF_CLOCK_TSC_ORDERED; kind++)
		if (strcmp(teeperf_clock_name(kind), name) == 0)
			return kind;
	tp_line_fail(line, "unknown clock '%s'", name);
	return otherwise;
}

static void read_value(struct tp_line *line, const struct field *field, uint8_t *at)
{
	const uint32_t size = field->size;
	if (field->form == STRING) {
		tp_line_option_string(line, field->key, (char *)at, size);
		return;
	}
	if (field->form >= BYTES) {
		const uint32_t count =
		    tp_line_hex(line, tp_line_option_word(line, field->key, ""), at, size);
		if (field->form == COUNTED)
			memcpy(at - sizeof(count), &count, sizeof(count));
		return;
	}
	const uint64_t most = UINT64_MAX >> (64 - 8 * size);
	uint64_t value = field->otherwise ? field->otherwise : number_at(at, size);
	if (field->form == PLAIN)
		value = tp_line_number(line, most);
	else if (field->form == CLOCK)
		value = read_clock(line, field->key, (uint32_t)value);
	else
		value = tp_line_option(line, field->key, value, most);
	memcpy(at, &value, size);
}

void tp_text_read(struct tp_line *line, enum tp_text_struct of, void *data)
{
	for (size_t i = 0; i < field_count; i++)
		if (fields[i].of == of)
			read_value(line, &fields[i], (uint8_t *)data + fields[i].offset);
}
