// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block "sources" of a report: lines of the functions' source files below a folder, only if
// they are asked for.
#include "analyzer/output/report/report.h"
#include "common/array.h"
#include "common/clean.h"
#include "common/json.h"
#include "common/read_all.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST (UINT64_C(16) << 20) // bytes of a file; larger ones are not read
#define ALL_MOST (UINT64_C(2) << 20)   // bytes of all lines in the report
#define LINE_MOST 400                  // bytes of a line; the rest of it is left out
#define FUNCTION_MOST 200              // lines of a function
#define ABOVE 3                        // lines above a function
#define TAB 8

// A function that has a line, and later all those of a file: COUNT of them, from FIRST on.
struct place {
	const char *file;
	uint64_t line;
	uint64_t self;
	uint32_t function; // index in the analysis
	uint32_t first;
	uint32_t count;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;
	const int order = strcmp(x->file, y->file);
	if (order)
		return order;
	return x->line < y->line ? -1 : x->line > y->line;
}

// The files in which most time was spent first.
static int compare_files(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return strcmp(x->file, y->file);
}

static bool is_below(const char *path, const char *folder)
{
	const size_t size = strlen(folder);
	return strncmp(path, folder, size) == 0 && (path[size] == '/' || folder[size - 1] == '/');
}

/*
 * A file comes from a trace, and may be any text: what it names is looked for below FOLDER alone,
 * with fewer and fewer of its folders. A link out of there is not followed. Returns a descriptor or
 * -1; FOUND is the file's path.
 */
static int open_source(const char *folder, const char *file, char found[PATH_MAX])
{
	for (const char *at = file; at; at = strchr(at, '/')) {
		char path[PATH_MAX];
		struct stat stat;
		at += strspn(at, "/");
		const int size = snprintf(path, sizeof(path), "%s/%s", folder, at);
		if (!*at || size < 0 || (size_t)size >= sizeof(path) || !realpath(path, found) ||
		    !is_below(found, folder))
			continue;
		const int fd = open(found, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd >= 0 && !fstat(fd, &stat) && S_ISREG(stat.st_mode) &&
		    (uint64_t)stat.st_size <= FILE_MOST)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

// One line as text: tabs are spaces, and nothing in it is unfit to be read.
static void add_line(struct tp_json *json, const char *line, size_t size, struct tp_buf *text)
{
	tp_buf_reset(text);
	for (size_t i = 0; i < size && line[i] && text->size < LINE_MOST; i++) {
		if (line[i] == '\r' && i + 1 == size)
			break;
		const size_t spaces = line[i] == '\t' ? TAB - text->size % TAB : 0;
		if (spaces)
			tp_buf_addf(text, "%*s", (int)spaces, "");
		else
			tp_buf_add_char(text, line[i]);
	}
	struct tp_buf clean;
	tp_buf_init(&clean);
	tp_buf_add_clean(&clean, text->size ? text->data : "");
	tp_json_text(json, NULL, clean.size ? clean.data : "");
	json->out->failed |= clean.failed || text->failed;
	tp_buf_release(&clean);
}

/*
 * The lines of the functions at PLACES: from a few above each until a line that begins with a
 * brace, the next function, or the maximum of lines. Parts that touch become one.
 */
static void add_parts(struct tp_report *report, struct tp_json *json, const struct tp_buf *content,
    const struct place *places, uint32_t count, bool *shown)
{
	struct tp_buf text;
	uint32_t next = 0;   // the first place that is not above this line
	bool inside = false; // of a function ...
	uint64_t start = 0;  // ... that begins there
	uint64_t last = 0;   // the last line that is in the report
	uint64_t line = 0;
	const char *end = content->data + content->size;
	tp_buf_init(&text);
	tp_json_array(json, "parts");
	for (const char *begin = content->data; begin < end; line++) {
		const char *stop = memchr(begin, '\n', (size_t)(end - begin));
		const uint64_t number = line + 1;
		while (next < count && places[next].line < number)
			next++;
		if (!inside && next == count)
			break;
		if (report->source_bytes >= ALL_MOST) {
			report->sources_left++; // a part of it
			break;
		}
		if (next < count && places[next].line == number) {
			start = number;
			inside = true;
			for (uint32_t i = next; i < count && places[i].line == number; i++)
				shown[places[i].function] = true;
		}
		if (inside || places[next].line - number <= ABOVE) {
			const uint64_t before = json->out->size;
			if (last + 1 != number && last) {
				tp_json_end(json);
				tp_json_end(json);
			}
			if (last + 1 != number || !last) {
				tp_json_object(json, NULL);
				tp_json_uint(json, "line", number);
				tp_json_array(json, "text");
			}
			add_line(json, begin, (size_t)((stop ? stop : end) - begin), &text);
			report->source_bytes += json->out->size - before;
			report->source_lines++;
			last = number;
		}
		if (*begin == '}' || number - start + 1 >= FUNCTION_MOST)
			inside = false;
		begin = stop ? stop + 1 : end;
	}
	if (last) {
		tp_json_end(json);
		tp_json_end(json);
	}
	tp_json_end(json);
	tp_buf_release(&text);
}

static void add_file(struct tp_report *report, struct tp_json *json, const char *folder,
    const struct place *file, const struct place *places, bool *shown)
{
	char found[PATH_MAX];
	struct tp_err err;
	struct tp_buf content;
	const int fd = open_source(folder, file->file, found);
	tp_buf_init(&content);
	if (fd < 0 || tp_read_all(&content, fd, found, "the source", FILE_MOST, &err) ||
	    !content.size) {
		report->sources_missing++;
	} else {
		report->source_files++;
		tp_json_object(json, NULL);
		tp_json_text(json, "file", file->file);
		// Where the report's reader has the folder is not known: its part below that folder
		// says which file it was.
		tp_json_text(json, "found", found + strlen(folder) + (folder[1] != '\0'));
		add_parts(report, json, &content, &places[file->first], file->count, shown);
		tp_json_end(json);
	}
	if (fd >= 0)
		close(fd);
	tp_buf_release(&content);
}

bool tp_report_add_sources(struct tp_report *report, struct tp_buf *out)
{
	const struct tp_analysis *analysis = report->analysis;
	struct place *places = malloc(((size_t)analysis->function_count + 1) * sizeof(*places));
	struct place *files = malloc(((size_t)analysis->function_count + 1) * sizeof(*files));
	bool *shown = calloc((size_t)analysis->function_count + 1, sizeof(*shown));
	char *folder = realpath(report->options->source_dir, NULL);
	bool ok = places && files && shown && folder;
	uint32_t count = 0;
	uint32_t file_count = 0;
	for (uint32_t i = 0; ok && i < analysis->function_count; i++) {
		const struct tp_function *function = &analysis->functions[i];
		if (*function->symbol.file && function->symbol.line)
			places[count++] = (struct place){.file = function->symbol.file,
			    .line = function->symbol.line,
			    .self = function->self,
			    .function = i};
	}
	if (ok)
		qsort(places, count, sizeof(*places), compare_places);
	for (uint32_t i = 0; ok && i < count; i++) {
		if (!i || strcmp(places[i].file, places[i - 1].file) != 0)
			files[file_count++] = (struct place){.file = places[i].file, .first = i};
		files[file_count - 1].self += places[i].self;
		files[file_count - 1].count++;
	}
	struct tp_json json;
	if (ok) {
		qsort(files, file_count, sizeof(*files), compare_files);
		tp_json_init(&json, out, TP_JSON_COMPACT);
		tp_json_object(&json, NULL);
		tp_json_array(&json, "files");
	}
	for (uint32_t i = 0; ok && i < file_count; i++) {
		if (report->source_bytes >= ALL_MOST)
			report->sources_left++;
		else
			add_file(report, &json, folder, &files[i], places, shown);
	}
	if (ok) {
		tp_json_end(&json);
		ok = tp_report_add_source_calls(report, &json, shown);
		tp_json_end(&json);
	}
	free(folder);
	free(shown);
	free(files);
	free(places);
	return ok;
}
