// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds lines to a manifest without reading it as a whole: a template is no TOML yet.
#include "manifest_edit.h"

#include <stdbool.h>
#include <string.h>

#include "allowlists/language/span.h"

// An addition: KEY of TABLE, an array that gets ENTRY or, without one, a string VALUE.
struct setting {
	const char *table;
	const char *key;
	const char *entry; // of an array, as an inline table or a string
	const char *block; // the same as a table of its own
	const char *value;
};

// Where a setting can go in the text: behind the byte at `at`.
struct place {
	enum {
		PLACE_TOP,   // before all tables, as TABLE.KEY
		PLACE_TABLE, // behind the header of TABLE
		PLACE_ARRAY, // in the array that is there
		PLACE_BLOCK, // at the end, as one more table of an array of tables
		PLACE_LINE,  // instead of the line that is there
		PLACE_NONE,
	} kind;
	size_t at;
	uint32_t line;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

// The name before '=', or in brackets, without blanks: "sgx . debug" is "sgx.debug".
static void read_name(struct tp_span text, char *name, size_t size)
{
	size_t used = 0;
	for (size_t i = 0; i < text.size && used + 1 < size; i++)
		if (!is_blank(text.text[i]) && text.text[i] != '"' && text.text[i] != '\'')
			name[used++] = text.text[i];
	name[used] = '\0';
}

static bool is_key(const char *name, const char *table, const char *key)
{
	const size_t length = strlen(table);
	if (!length)
		return strcmp(name, key) == 0;
	return strncmp(name, table, length) == 0 && name[length] == '.' &&
	       strcmp(name + length + 1, key) == 0;
}

// The part of TABLE.KEY that is left in the table CURRENT, or NULL: "env.X" of "loader.env.X" in
// "loader".
static const char *rest_of(const char *whole, const char *current)
{
	const size_t length = strlen(current);
	if (!length)
		return whole;
	return strncmp(whole, current, length) == 0 && whole[length] == '.' ? whole + length + 1
									    : NULL;
}

// Look at one line, KEY = ..., of the table CURRENT.
static void look_at_key(const struct setting *setting, const char *whole, const char *current,
    const char *text, size_t start, size_t end, struct place *place)
{
	char name[256];
	const char *equals = memchr(text + start, '=', end - start);
	const char *rest = rest_of(whole, current);
	if (!equals || !rest)
		return;
	read_name(
	    (struct tp_span){text + start, (size_t)(equals - text) - start}, name, sizeof(name));
	const size_t length = strlen(name);
	const char *value = equals + 1;
	while (value < text + end && is_blank(*value))
		value++;
	if (strcmp(name, rest) == 0 && setting->value)
		*place = (struct place){PLACE_LINE, start, place->line};
	else if (strcmp(name, rest) == 0 && value < text + end && *value == '[')
		*place = (struct place){PLACE_ARRAY, (size_t)(value - text) + 1, place->line};
	else if (strcmp(name, rest) == 0 ||
		 (strncmp(name, rest, strlen(rest)) == 0 && name[strlen(rest)] == '.') ||
		 (strncmp(rest, name, length) == 0 && rest[length] == '.' && value < text + end &&
		     *value == '{'))
		place->kind = PLACE_NONE; // an inline table, or an older form
}

static struct place find_place(const struct setting *setting, const char *text)
{
	char whole[256] = "";
	char current[256] = "";
	strcat(strcat(strcat(whole, setting->table), "."), setting->key);
	struct place place = {PLACE_TOP, 0, 0};
	bool found = false;
	size_t depth = 0; // of the table that is nearest to the setting
	uint32_t line = 0;
	size_t next;
	for (size_t start = 0; text[start] && !found; start = next) {
		const size_t end = start + strcspn(text + start, "\n");
		next = end + (text[end] == '\n');
		line++;
		while (start < end && is_blank(text[start]))
			start++;
		if (text[start] == '[') {
			const bool array = text[start + 1] == '[';
			const size_t from = start + 1 + array;
			const size_t size = strcspn(text + from, "]\n");
			read_name((struct tp_span){text + from, size}, current, sizeof(current));
			if (array && is_key(current, setting->table, setting->key))
				place = (struct place){PLACE_BLOCK, 0, line};
			else if (!array && place.kind <= PLACE_TABLE && strlen(current) > depth &&
				 rest_of(whole, current)) {
				place = (struct place){PLACE_TABLE, next, line};
				depth = strlen(current);
			}
			continue;
		}
		const struct place before = place;
		place.line = line;
		look_at_key(setting, whole, current, text, start, end, &place);
		found = place.kind == PLACE_ARRAY || place.kind == PLACE_LINE ||
			place.kind == PLACE_NONE;
		if (!found)
			place = before;
	}
	return place;
}

static const char *header_name(const char *text, size_t behind, char *name, size_t size)
{
	size_t start = behind - (behind && text[behind - 1] == '\n');
	while (start && text[start - 1] != '\n')
		start--;
	const char *open = strchr(text + start, '[');
	read_name((struct tp_span){open + 1, strcspn(open + 1, "]")}, name, size);
	return name;
}

static void add_value(struct tp_buf *out, const struct setting *setting, const char *key)
{
	if (setting->value)
		tp_buf_addf(out, "%s = \"%s\"\n", key, setting->value);
	else
		tp_buf_addf(out, "%s = [\n  %s,\n]\n", key, setting->entry);
}

static void apply(
    struct tp_buf *out, const char *text, const struct setting *setting, const struct place *place)
{
	char whole[256] = "";
	char table[256];
	strcat(strcat(strcat(whole, setting->table), "."), setting->key);
	tp_buf_add(out, text, place->at);
	switch (place->kind) {
	case PLACE_TOP:
		add_value(out, setting, whole);
		break;
	case PLACE_TABLE:
		if (place->at && text[place->at - 1] != '\n')
			tp_buf_add_char(out, '\n');
		add_value(out, setting,
		    rest_of(whole, header_name(text, place->at, table, sizeof(table))));
		break;
	case PLACE_ARRAY:
		tp_buf_addf(out, "\n  %s,", setting->entry);
		break;
	case PLACE_LINE: {
		const char *equals = strchr(text + place->at, '=');
		tp_buf_add(out, text + place->at, (size_t)(equals - text) - place->at);
		tp_buf_addf(out, "= \"%s\"", setting->value);
		text += strcspn(text + place->at, "\n");
		break;
	}
	default:
		break;
	}
	tp_buf_add_string(out, text + place->at);
	if (place->kind == PLACE_BLOCK)
		tp_buf_addf(out, "\n[[%s]]\n%s", whole, setting->block);
}

int tp_manifest_edit(
    struct tp_buf *out, const char *text, const char *file, const char *log, struct tp_err *err)
{
	char allowed[512] = "\"dev:";
	strcat(strncat(allowed, log, sizeof(allowed) - 8), "\"");
	const struct setting settings[] = {
	    {"fs", "mounts",
		"{ type = \"untrusted_shm\", path = \"/dev/shm\", uri = \"dev:/dev/shm\" }",
		"type = \"untrusted_shm\"\npath = \"/dev/shm\"\nuri = \"dev:/dev/shm\"\n", NULL},
	    {"sgx", "allowed_files", allowed, NULL, NULL},
	    {"loader", "env.TEEPERF_LOG", NULL, NULL, log},
	};
	// What tells that an entry is there, however it is spelled.
	const char *const marks[] = {"dev:/dev/shm\"", allowed + 1, NULL};
	struct tp_buf from;
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct place place = find_place(&settings[i], text);
		if ((!marks[i] || !strstr(text, marks[i])) &&
		    (place.kind == PLACE_NONE || (place.kind == PLACE_BLOCK && !settings[i].block)))
			return tp_err_set(err, TP_ERR_SYNTAX, file,
			    "line %u: '%s.%s' is written in a form that cannot be extended: "
			    "change it to an array in brackets or to dotted keys, or add the "
			    "lines that 'teeperf gramine-manifest' prints",
			    place.line, settings[i].table, settings[i].key);
	}
	tp_buf_init(&from);
	tp_buf_add_string(&from, text);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (marks[i] && strstr(from.data, marks[i]))
			continue;
		const struct place place = find_place(&settings[i], from.data);
		tp_buf_reset(out);
		apply(out, from.data, &settings[i], &place);
		tp_buf_reset(&from);
		tp_buf_add_string(&from, out->data);
	}
	tp_buf_reset(out);
	tp_buf_add_string(out, from.data);
	out->failed = out->failed || from.failed;
	tp_buf_release(&from);
	return 0;
}
