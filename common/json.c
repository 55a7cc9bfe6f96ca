// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json.h"

#include "clean.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void tp_json_init(struct tp_json *json, struct tp_buf *out, enum tp_json_spacing spacing)
{
	*json = (struct tp_json){.out = out, .spacing = spacing, .indent = -1};
}

static uint32_t here(const struct tp_json *json)
{
	return UINT32_C(1) << json->depth;
}

static void new_line(struct tp_json *json, int32_t indent)
{
	tp_buf_addf(json->out, "\n%*s", (int)indent, "");
	json->indent = -1;
}

void tp_json_value(struct tp_json *json, const char *key)
{
	const bool first = !(json->begun & here(json));
	const int32_t indent = json->indent >= 0          ? json->indent
			       : json->lines & here(json) ? (int32_t)(2 * json->depth)
							  : -1;
	assert(!key == !(json->objects & here(json)));
	json->begun |= json->depth ? here(json) : 0;
	if (!first)
		tp_buf_add_char(json->out, ',');
	if (indent >= 0)
		new_line(json, indent);
	else if (!first && json->spacing == TP_JSON_SPACED)
		tp_buf_add_char(json->out, ' ');
	if (key) {
		tp_json_quote(json->out, key);
		tp_buf_add_string(json->out, json->spacing == TP_JSON_SPACED ? ": " : ":");
	}
}

static void open_item(struct tp_json *json, const char *key, bool object)
{
	tp_json_value(json, key);
	tp_buf_add_char(json->out, object ? '{' : '[');
	assert(json->depth < TP_JSON_DEPTH);
	json->depth++;
	json->begun &= ~here(json);
	json->lines &= ~here(json);
	json->objects &= ~here(json);
	json->objects |= object ? here(json) : 0;
}

void tp_json_object(struct tp_json *json, const char *key)
{
	open_item(json, key, true);
}

void tp_json_array(struct tp_json *json, const char *key)
{
	open_item(json, key, false);
}

void tp_json_end(struct tp_json *json)
{
	assert(json->depth);
	const bool object = json->objects & here(json);
	const bool lines = json->lines & json->begun & here(json);
	json->depth--;
	if (json->indent >= 0 || lines)
		new_line(json, json->indent >= 0 ? json->indent : (int32_t)(2 * json->depth));
	tp_buf_add_char(json->out, object ? '}' : ']');
}

void tp_json_text(struct tp_json *json, const char *key, const char *text)
{
	tp_json_value(json, key);
	if (text)
		tp_json_quote(json->out, text);
	else
		tp_buf_add_string(json->out, "null");
}

void tp_json_uint(struct tp_json *json, const char *key, uint64_t number)
{
	tp_json_value(json, key);
	tp_buf_addf(json->out, "%" PRIu64, number);
}

void tp_json_uint_if(struct tp_json *json, const char *key, bool known, uint64_t number)
{
	if (known)
		tp_json_uint(json, key, number);
	else
		tp_json_null(json, key);
}

void tp_json_real(struct tp_json *json, const char *key, int decimals, double number)
{
	tp_json_value(json, key);
	if (isfinite(number))
		tp_buf_addf(json->out, "%.*f", decimals, number);
	else
		tp_buf_add_string(json->out, "null");
}

const char *tp_json_digits(char text[32], double number)
{
	snprintf(text, 32, "%.15g", number);
	if (strtod(text, NULL) != number)
		snprintf(text, 32, "%.17g", number);
	return text;
}

void tp_json_exact(struct tp_json *json, const char *key, double number)
{
	char text[32];
	tp_json_value(json, key);
	tp_buf_add_string(json->out, isfinite(number) ? tp_json_digits(text, number) : "null");
}

void tp_json_bool(struct tp_json *json, const char *key, bool value)
{
	tp_json_value(json, key);
	tp_buf_add_string(json->out, value ? "true" : "false");
}

void tp_json_null(struct tp_json *json, const char *key)
{
	tp_json_text(json, key, NULL);
}

void tp_json_lines(struct tp_json *json)
{
	json->lines |= here(json);
}

void tp_json_line(struct tp_json *json, uint32_t indent)
{
	json->indent = (int32_t)indent;
}

void tp_json_quote(struct tp_buf *out, const char *text)
{
	tp_buf_add_char(out, '"');
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		const size_t size = tp_clean_character(at);
		if (*at == '"' || *at == '\\')
			tp_buf_addf(out, "\\%c", *at);
		else if (size == 0)
			tp_buf_add_string(out, "\\ufffd");
		else if (tp_clean_unfit(at, size))
			tp_buf_addf(out, "\\u%04x", tp_clean_unfit(at, size));
		else
			tp_buf_add(out, at, size);
		at += size ? size : 1;
	}
	tp_buf_add_char(out, '"');
}
