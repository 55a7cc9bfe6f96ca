/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whether what a view or an export writes is sound: nothing that could steer a terminal, and JSON,
 * CSV, folded stacks and SVG that others can read. For fuzz targets: each function ends the program
 * if it is not.
 */
#ifndef TP_CHECK_OUTPUT_H
#define TP_CHECK_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void check_that(bool good, const char *what, const char *text)
{
	if (good)
		return;
	fprintf(stderr, "not sound: %s, in:\n%.4000s\n", what, text);
	abort();
}

/*
 * No control characters but the end of a line; none of those from 0x80 on that terminals obey in
 * UTF-8.
 */
static inline void check_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const unsigned char c = (unsigned char)text[i];
		check_that((c >= 0x20 && c != 0x7f) || c == '\n', "a control character", text);
		check_that(c != 0xc2 || (unsigned char)text[i + 1] < 0x80 ||
			       (unsigned char)text[i + 1] > 0x9f,
		    "a control character in UTF-8", text);
	}
}

static inline const char *check_json_string(const char *at, const char *text)
{
	for (at++; *at != '"'; at++) {
		check_that((unsigned char)*at >= 0x20, "JSON string", text);
		if (*at != '\\')
			continue;
		at++;
		if (*at == 'u') {
			check_that(strspn(at + 1, "0123456789abcdefABCDEF") >= 4, "JSON \\u", text);
			at += 4;
		} else {
			check_that(*at && strchr("\"\\/bfnrt", *at), "JSON escape", text);
		}
	}
	return at + 1;
}

static inline const char *check_json_value(const char *at, const char *text, int depth)
{
	static const char *const words[] = {"true", "false", "null"};
	check_that(depth < 100, "JSON depth", text);
	at += strspn(at, " \n");
	if (*at == '"')
		return check_json_string(at, text);
	if (*at == '{' || *at == '[') {
		const char end = *at == '{' ? '}' : ']';
		at++;
		at += strspn(at, " \n");
		if (*at == end)
			return at + 1;
		for (;; at++) {
			at += strspn(at, " \n");
			if (end == '}') {
				check_that(*at == '"', "JSON key", text);
				at = check_json_string(at, text);
				check_that(*at == ':', "JSON colon", text);
				at++;
			}
			at = check_json_value(at, text, depth + 1);
			at += strspn(at, " \n");
			if (*at == end)
				return at + 1;
			check_that(*at == ',', "JSON comma", text);
		}
	}
	for (int i = 0; i < 3; i++)
		if (!strncmp(at, words[i], strlen(words[i])))
			return at + strlen(words[i]);
	char *end;
	check_that(*at == '-' || (*at >= '0' && *at <= '9'), "JSON number", text);
	strtod(at, &end);
	check_that(end > at, "JSON number", text);
	return end;
}

static inline void check_json(const char *text)
{
	const char *end = check_json_value(text, text, 0);
	check_that(end[strspn(end, "\n")] == '\0', "text behind JSON", text);
}

/* All rows have as many fields as the first. */
static inline void check_csv(const char *text)
{
	unsigned wanted = 0;
	for (const char *at = text; *at;) {
		unsigned fields = 1;
		for (; *at && *at != '\n'; at++) {
			if (*at == ',') {
				fields++;
			} else if (*at == '"') {
				for (at++; *at != '"' || at[1] == '"'; at++) {
					check_that(*at != '\0', "CSV quotes", text);
					at += *at == '"';
				}
				check_that(
				    at[1] == ',' || at[1] == '\n', "CSV behind quotes", text);
			}
		}
		check_that(*at == '\n', "CSV last line", text);
		at++;
		wanted = wanted ? wanted : fields;
		check_that(fields == wanted, "CSV fields", text);
	}
}

/* Lines "FRAME;FRAME WEIGHT". */
static inline void check_folded(const char *text)
{
	for (const char *at = text; *at;) {
		const char *end = strchr(at, '\n');
		check_that(end != NULL, "folded: last line", text);
		const char *digits = end;
		while (digits > at && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		check_that(
		    digits < end && digits > at && digits[-1] == ' ', "folded: weight", text);
		at = end + 1;
	}
}

/* Elements are nested as they should be, and nothing stands for markup that should not. */
static inline void check_xml(const char *text)
{
	const char *open[64];
	size_t depth = 0;
	for (const char *at = text; *at;) {
		if (*at == '&') {
			const size_t size = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz#0123456789");
			check_that(size && at[size + 1] == ';', "XML entity", text);
			at += size + 2;
		} else if (*at != '<') {
			at++;
		} else if (!strncmp(at, "<![CDATA[", 9)) {
			at = strstr(at, "]]>");
			check_that(at != NULL, "CDATA", text);
			at += 3;
		} else if (at[1] == '?' || at[1] == '!') {
			at = strchr(at, '>');
			check_that(at != NULL, "XML declaration", text);
			at++;
		} else {
			const bool closes = at[1] == '/';
			const char *name = at + 1 + closes;
			const size_t length =
			    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
			check_that(length > 0, "XML name", text);
			for (at = name + length; *at && *at != '>'; at++) {
				check_that(*at != '<', "XML tag", text);
				if (*at == '"') {
					const size_t value = strcspn(at + 1, "\"<");
					check_that(at[value + 1] == '"', "XML attribute", text);
					at += value + 1;
				}
			}
			check_that(*at == '>', "XML tag's end", text);
			if (closes) {
				check_that(depth && !strncmp(open[depth - 1], name, length),
				    "XML nesting", text);
				depth--;
			} else if (at[-1] != '/') {
				check_that(depth < 64, "XML depth", text);
				open[depth++] = name;
			}
			at++;
		}
	}
	check_that(depth == 0, "XML is open at the end", text);
}

#endif
