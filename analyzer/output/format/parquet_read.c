// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads Parquet files of our own.
#include "parquet_read.h"

#include "parquet_encode.h"

#include "common/bytes.h"
#include "common/varint.h"
#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { FILE_MAX_SHIFT = 33, COLUMNS_MOST = 4096, DEEP_MOST = 16 };
enum { T_END = 0, T_TRUE, T_FALSE, T_BYTE, T_I16, T_I32, T_I64, T_DOUBLE, T_BINARY, T_LIST };
enum { T_STRUCT = 12 };
enum { CODEC_ZSTD = 6, ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5 };
enum { ENCODING_DICTIONARY = 8, DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

// ---- thrift's compact protocol

struct thrift {
	struct tp_bytes bytes;
	bool failed; // besides an underflow
};

struct field {
	int id;
	int type;
};

static uint8_t read_byte(struct thrift *in)
{
	uint8_t byte = 0;
	tp_bytes_copy(&in->bytes, &byte, 1);
	return byte;
}

static uint64_t read_varint(struct thrift *in)
{
	uint64_t value;
	const uint8_t *at = in->bytes.data + in->bytes.at;
	const bool is_whole = tp_varint_take(&at, in->bytes.data + in->bytes.size, &value);
	in->bytes.at = (size_t)(at - in->bytes.data);
	in->failed |= !is_whole;
	return is_whole ? value : 0;
}

static int64_t read_number(struct thrift *in)
{
	const uint64_t value = read_varint(in);
	return (int64_t)(value >> 1 ^ -(value & 1));
}

static bool is_bad(const struct thrift *in)
{
	return in->failed || in->bytes.underflow;
}

// The next field of a struct; false at its end, and if something is wrong.
static bool next_field(struct thrift *in, struct field *field)
{
	const uint8_t head = read_byte(in);
	if (is_bad(in) || head == T_END)
		return false;
	field->type = head & 15;
	field->id = head >> 4 ? field->id + (head >> 4) : (int)(int16_t)read_number(in);
	return !is_bad(in);
}

// A list's length; *TYPE: of its items.
static uint32_t read_list(struct thrift *in, int *type)
{
	const uint8_t head = read_byte(in);
	const uint64_t count = head >> 4 == 15 ? read_varint(in) : head >> 4;
	*type = head & 15;
	// Each item takes a byte at least.
	if (count > tp_bytes_left(&in->bytes)) {
		in->failed = true;
		return 0;
	}
	return (uint32_t)count;
}

static const char *read_binary(struct thrift *in, size_t *size)
{
	const uint64_t length = read_varint(in);
	*size = 0;
	if (length > tp_bytes_left(&in->bytes)) {
		in->failed = true;
		return NULL;
	}
	*size = (size_t)length;
	return tp_bytes_take(&in->bytes, (size_t)length);
}

static void skip(struct thrift *in, int type, uint32_t deep);

static void skip_list(struct thrift *in, uint32_t deep)
{
	int type;
	uint32_t count = read_list(in, &type);
	for (; count && !is_bad(in); count--) {
		// A truth in a list is a byte.
		if (type == T_TRUE || type == T_FALSE)
			read_byte(in);
		else
			skip(in, type, deep);
	}
}

static void skip(struct thrift *in, int type, uint32_t deep)
{
	struct field field = {0};
	size_t size;
	if (deep > DEEP_MOST) {
		in->failed = true;
		return;
	}
	switch (type) {
	case T_TRUE:
	case T_FALSE:
		return;
	case T_BYTE:
		read_byte(in);
		return;
	case T_I16:
	case T_I32:
	case T_I64:
		read_varint(in);
		return;
	case T_DOUBLE:
		tp_bytes_u64(&in->bytes);
		return;
	case T_BINARY:
		read_binary(in, &size);
		return;
	case T_LIST:
		skip_list(in, deep + 1);
		return;
	case T_STRUCT:
		while (next_field(in, &field))
			skip(in, field.type, deep + 1);
		return;
	default:
		in->failed = true;
	}
}

// ---- the footer

static char *read_text(struct thrift *in, struct tp_arena *arena)
{
	size_t size;
	const char *text = read_binary(in, &size);
	char *copy = text ? tp_arena_copy(arena, text, size) : NULL;
	in->failed |= !copy;
	return copy;
}

static bool is_number(int type)
{
	return type == T_I16 || type == T_I32 || type == T_I64;
}

// An element of the schema: the first one is the root.
static void read_element(struct thrift *in, struct tp_parquet_reader *reader, bool root)
{
	struct tp_parquet_column column = {.name = NULL};
	struct field field = {0};
	while (next_field(in, &field))
		if (field.id == 1 && is_number(field.type))
			column.type = (enum tp_parquet_type)read_number(in);
		else if (field.id == 3 && is_number(field.type))
			column.optional = read_number(in) == 1;
		else if (field.id == 4 && field.type == T_BINARY)
			column.name = read_text(in, &reader->arena);
		else
			skip(in, field.type, 0);
	if (root)
		return;
	const bool known = column.type == TP_PARQUET_INT32 || column.type == TP_PARQUET_INT64 ||
			   column.type == TP_PARQUET_DOUBLE || column.type == TP_PARQUET_TEXT;
	in->failed |= !known || !column.name;
	reader->columns[reader->column_count++] = column;
}

static void read_schema(struct thrift *in, struct tp_parquet_reader *reader)
{
	int type;
	const uint32_t count = read_list(in, &type);
	if (reader->columns || type != T_STRUCT || !count || count > COLUMNS_MOST) {
		in->failed = true;
		return;
	}
	reader->columns = tp_arena_alloc(&reader->arena, count * sizeof(*reader->columns));
	in->failed |= !reader->columns;
	for (uint32_t i = 0; i < count && !is_bad(in); i++)
		read_element(in, reader, i == 0);
}

static void read_meta(struct thrift *in, struct tp_parquet_chunk *chunk)
{
	struct field field = {0};
	int64_t dictionary = 0;
	int64_t data = 0;
	while (next_field(in, &field))
		if (field.id == 1 && is_number(field.type))
			chunk->type = (enum tp_parquet_type)read_number(in);
		else if (field.id == 4 && is_number(field.type))
			in->failed |= read_number(in) != CODEC_ZSTD;
		else if (field.id == 5 && is_number(field.type))
			chunk->values = (uint64_t)read_number(in);
		else if (field.id == 7 && is_number(field.type))
			chunk->size = (uint64_t)read_number(in);
		else if (field.id == 9 && is_number(field.type))
			data = read_number(in);
		else if (field.id == 11 && is_number(field.type))
			dictionary = read_number(in);
		else
			skip(in, field.type, 0);
	chunk->offset = (uint64_t)(dictionary ? dictionary : data);
}

static void read_chunk(struct thrift *in, struct tp_parquet_chunk *chunk)
{
	struct field field = {0};
	while (next_field(in, &field))
		if (field.id == 3 && field.type == T_STRUCT)
			read_meta(in, chunk);
		else
			skip(in, field.type, 0);
}

static void read_group(
    struct thrift *in, struct tp_parquet_reader *reader, struct tp_parquet_group *group)
{
	struct field field = {0};
	while (next_field(in, &field))
		if (field.id == 1 && field.type == T_LIST) {
			int type;
			const uint32_t count = read_list(in, &type);
			if (type != T_STRUCT || count > COLUMNS_MOST || group->chunks) {
				in->failed = true;
				return;
			}
			group->chunks =
			    tp_arena_alloc(&reader->arena, (count + 1) * sizeof(*group->chunks));
			in->failed |= !group->chunks;
			for (; group->chunk_count < count && !is_bad(in); group->chunk_count++)
				read_chunk(in, &group->chunks[group->chunk_count]);
		} else if (field.id == 3 && is_number(field.type)) {
			group->rows = (uint64_t)read_number(in);
		} else {
			skip(in, field.type, 0);
		}
}

static void read_groups(struct thrift *in, struct tp_parquet_reader *reader)
{
	int type;
	const uint32_t count = read_list(in, &type);
	if (reader->groups || (count && type != T_STRUCT)) {
		in->failed = true;
		return;
	}
	reader->groups =
	    tp_arena_alloc(&reader->arena, ((size_t)count + 1) * sizeof(*reader->groups));
	in->failed |= !reader->groups;
	for (; reader->group_count < count && !is_bad(in); reader->group_count++)
		read_group(in, reader, &reader->groups[reader->group_count]);
}

static void read_facts(struct thrift *in, struct tp_parquet_reader *reader)
{
	int type;
	const uint32_t count = read_list(in, &type);
	if (reader->facts || (count && type != T_STRUCT)) {
		in->failed = true;
		return;
	}
	reader->facts =
	    tp_arena_alloc(&reader->arena, ((size_t)count + 1) * sizeof(*reader->facts));
	in->failed |= !reader->facts;
	for (; reader->fact_count < count && !is_bad(in); reader->fact_count++) {
		struct tp_parquet_fact *fact = &reader->facts[reader->fact_count];
		struct field field = {0};
		while (next_field(in, &field))
			if (field.id == 1 && field.type == T_BINARY)
				fact->key = read_text(in, &reader->arena);
			else if (field.id == 2 && field.type == T_BINARY)
				fact->value = read_text(in, &reader->arena);
			else
				skip(in, field.type, 0);
		in->failed |= !fact->key;
	}
}

// Whether groups have what the schema and the file have room for.
static bool is_sound(struct tp_parquet_reader *reader)
{
	for (uint32_t i = 0; i < reader->group_count; i++) {
		const struct tp_parquet_group *group = &reader->groups[i];
		if (group->chunk_count != reader->column_count ||
		    group->rows > TP_PARQUET_GROUP_ROWS)
			return false;
		for (uint32_t j = 0; j < group->chunk_count; j++) {
			const struct tp_parquet_chunk *chunk = &group->chunks[j];
			if (chunk->type != reader->columns[j].type ||
			    chunk->values != group->rows || chunk->offset > reader->size ||
			    chunk->size > reader->size - chunk->offset)
				return false;
		}
		reader->rows += group->rows;
	}
	return reader->columns && reader->groups;
}

static int not_ours(const struct tp_parquet_reader *reader, struct tp_err *err)
{
	return tp_err_set(err, TP_ERR_FORMAT, reader->name,
	    "is damaged, or is not a Parquet file written by 'teeperf fleet'");
}

int tp_parquet_reader_from_memory(struct tp_parquet_reader *reader, const char *name,
    const void *data, size_t size, struct tp_err *err)
{
	*reader = (struct tp_parquet_reader){.data = data, .size = size};
	tp_buf_init(&reader->own);
	tp_arena_init(&reader->arena);
	const size_t length = strlen(name);
	snprintf(reader->name, sizeof(reader->name), "%s",
	    name + (length < sizeof(reader->name) ? 0 : length - sizeof(reader->name) + 1));
	uint32_t footer = 0;
	if (size < 12 || memcmp(data, "PAR1", 4) != 0 ||
	    memcmp((const char *)data + size - 4, "PAR1", 4) != 0)
		return not_ours(reader, err);
	memcpy(&footer, (const char *)data + size - 8, sizeof(footer));
	if (footer > size - 12)
		return not_ours(reader, err);
	struct thrift in = {.failed = false};
	struct field field = {0};
	tp_bytes_init(&in.bytes, (const char *)data + size - 8 - footer, footer);
	while (next_field(&in, &field))
		if (field.id == 2 && field.type == T_LIST)
			read_schema(&in, reader);
		else if (field.id == 4 && field.type == T_LIST)
			read_groups(&in, reader);
		else if (field.id == 5 && field.type == T_LIST)
			read_facts(&in, reader);
		else
			skip(&in, field.type, 0);
	return is_bad(&in) || !is_sound(reader) ? not_ours(reader, err) : 0;
}

int tp_parquet_reader_open(struct tp_parquet_reader *reader, const char *path, struct tp_err *err)
{
	struct tp_buf buf;
	*reader = (struct tp_parquet_reader){0};
	tp_buf_init(&reader->own);
	struct stat status;
	// One that is a pipe would have nobody at its other end.
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tp_err_system(err, errno, path, "cannot read");
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return tp_err_set(err, TP_ERR_FORMAT, path, "is not a regular file");
	}
	tp_buf_init(&buf);
	int code = tp_read_all(&buf, fd, path, "the file", UINT64_C(1) << FILE_MAX_SHIFT, err);
	close(fd);
	if (code) {
		tp_buf_release(&buf);
		return code;
	}
	code = tp_parquet_reader_from_memory(reader, path, buf.data, buf.size, err);
	reader->own = buf;
	return code;
}

void tp_parquet_reader_close(struct tp_parquet_reader *reader)
{
	tp_arena_release(&reader->arena);
	tp_buf_release(&reader->own);
	*reader = (struct tp_parquet_reader){0};
	tp_buf_init(&reader->own);
}

const char *tp_parquet_reader_fact(const struct tp_parquet_reader *reader, const char *key)
{
	for (uint32_t i = 0; i < reader->fact_count; i++)
		if (strcmp(reader->facts[i].key, key) == 0)
			return reader->facts[i].value;
	return NULL;
}

int tp_parquet_reader_column(const struct tp_parquet_reader *reader, const char *name)
{
	for (uint32_t i = 0; i < reader->column_count; i++)
		if (strcmp(reader->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

// ---- pages

struct page {
	int type;
	uint64_t values;
	int encoding;
	uint8_t *bytes; // unpacked
	size_t size;
};

static void read_page_head(struct thrift *in, struct page *page, uint64_t *packed)
{
	struct field field = {0};
	uint64_t raw = 0;
	page->type = page->encoding = -1;
	while (next_field(in, &field)) {
		if (field.id == 1 && is_number(field.type)) {
			page->type = (int)read_number(in);
		} else if (field.id == 2 && is_number(field.type)) {
			raw = (uint64_t)read_number(in);
		} else if (field.id == 3 && is_number(field.type)) {
			*packed = (uint64_t)read_number(in);
		} else if ((field.id == 5 || field.id == 7) && field.type == T_STRUCT) {
			struct field inner = {0};
			while (next_field(in, &inner))
				if (inner.id == 1 && is_number(inner.type))
					page->values = (uint64_t)read_number(in);
				else if (inner.id == 2 && is_number(inner.type))
					page->encoding = (int)read_number(in);
				else
					skip(in, inner.type, 0);
		} else {
			skip(in, field.type, 0);
		}
	}
	in->failed |= raw > TP_PARQUET_PAGE_MAX;
	page->size = (size_t)raw;
}

// The next page; release page->bytes in any case. 0; 1: it is not ours; TP_ERR_MEMORY.
static int read_page(struct thrift *in, struct page *page)
{
	uint64_t packed = 0;
	*page = (struct page){0};
	read_page_head(in, page, &packed);
	if (is_bad(in) || packed > tp_bytes_left(&in->bytes))
		return 1;
	const void *from = tp_bytes_take(&in->bytes, (size_t)packed);
	// What it says of its size may be made up: zstd knows.
	const unsigned long long size = from ? ZSTD_getFrameContentSize(from, (size_t)packed) : 0;
	if (size != page->size)
		return 1;
	page->bytes = malloc(page->size + 8);
	if (!page->bytes)
		return TP_ERR_MEMORY;
	return ZSTD_decompress(page->bytes, page->size, from, (size_t)packed) == page->size ? 0 : 1;
}

// COUNT plain values. 0, 1, TP_ERR_MEMORY as above.
static int read_plain(struct tp_parquet_values *values, enum tp_parquet_type type,
    const uint8_t *data, size_t size, uint64_t count, int64_t *numbers)
{
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, data, size);
	if (type == TP_PARQUET_TEXT) {
		values->texts = calloc(count + 1, sizeof(*values->texts));
		if (!values->texts)
			return TP_ERR_MEMORY;
	}
	for (uint64_t i = 0; i < count && !bytes.underflow; i++) {
		if (type == TP_PARQUET_INT32) {
			numbers[i] = (int32_t)tp_bytes_u32(&bytes);
		} else if (type != TP_PARQUET_TEXT) {
			numbers[i] = (int64_t)tp_bytes_u64(&bytes);
		} else {
			const uint32_t length = tp_bytes_u32(&bytes);
			const char *text = tp_bytes_take(&bytes, length);
			if (!text)
				return 1;
			numbers[i] = values->text_count;
			values->texts[values->text_count++] =
			    tp_arena_copy(&values->arena, text, length);
			if (!values->texts[values->text_count - 1])
				return TP_ERR_MEMORY;
		}
	}
	return bytes.underflow ? 1 : 0;
}

// The levels in front of an optional column's values; *COUNT: how many are there.
static int read_levels(
    struct tp_parquet_values *values, struct page *page, size_t *at, uint64_t *count)
{
	uint32_t size = 0;
	uint32_t *levels = calloc(values->count + 1, sizeof(*levels));
	values->present = calloc(values->count + 1, sizeof(*values->present));
	int code = levels && values->present ? 0 : TP_ERR_MEMORY;
	if (page->size >= 4)
		memcpy(&size, page->bytes, sizeof(size));
	if (!code &&
	    (page->size < 4 || size > page->size - 4 ||
		!tp_parquet_read_hybrid(page->bytes + 4, size, 1, (uint32_t)values->count, levels)))
		code = 1;
	*at = 4 + (size_t)size;
	*count = 0;
	for (uint64_t i = 0; !code && i < values->count; i++)
		*count += values->present[i] = levels[i] == 1;
	free(levels);
	return code;
}

// The COUNT numbers that are there, each in its row.
static void spread(struct tp_parquet_values *values, uint64_t count)
{
	if (!values->present)
		return;
	for (uint64_t i = values->count; i-- > 0;)
		values->numbers[i] = values->present[i] ? values->numbers[--count] : 0;
}

static int read_codes(struct tp_parquet_values *values, const uint8_t *data, size_t size,
    uint64_t count, const int64_t *dictionary, uint64_t entries)
{
	uint32_t *codes = calloc(count + 1, sizeof(*codes));
	int code = codes ? 0 : TP_ERR_MEMORY;
	if (!code &&
	    (!size || !tp_parquet_read_hybrid(data + 1, size - 1, data[0], (uint32_t)count, codes)))
		code = 1;
	for (uint64_t i = 0; !code && i < count; i++) {
		if (codes[i] >= entries)
			code = 1;
		else
			values->numbers[i] = dictionary[codes[i]];
	}
	free(codes);
	return code;
}

static int read_values(
    struct tp_parquet_values *values, const struct tp_parquet_column *column, struct thrift *in)
{
	struct page first = {0};
	struct page data = {0};
	int64_t *dictionary = NULL;
	uint64_t count = values->count;
	size_t at = 0;
	size_t used;
	int code = read_page(in, &first);
	struct page *page = &first;
	if (!code && first.type == DICTIONARY_PAGE) {
		// Writers make none with more entries than there are values.
		if (first.values > first.size || first.values > values->count)
			code = 1;
		dictionary = code ? NULL : calloc(first.values + 1, sizeof(*dictionary));
		if (!code)
			code = dictionary ? read_plain(values, column->type, first.bytes,
						first.size, first.values, dictionary)
					  : TP_ERR_MEMORY;
		if (!code)
			code = read_page(in, &data);
		page = &data;
	}
	if (!code && (page->type != DATA_PAGE || page->values != values->count))
		code = 1;
	if (!code && column->optional)
		code = read_levels(values, page, &at, &count);
	if (!code && page->encoding == ENCODING_DICTIONARY)
		code = dictionary ? read_codes(values, page->bytes + at, page->size - at, count,
					dictionary, first.values)
				  : 1;
	else if (!code && page->encoding == ENCODING_PLAIN && !dictionary)
		code = read_plain(values, column->type, page->bytes + at, page->size - at, count,
		    values->numbers);
	else if (!code && page->encoding == ENCODING_DELTA && !dictionary &&
		 column->type != TP_PARQUET_TEXT && column->type != TP_PARQUET_DOUBLE)
		code = tp_parquet_read_delta(page->bytes + at, page->size - at,
			   column->type == TP_PARQUET_INT32 ? 4 : 8, (uint32_t)count,
			   values->numbers, &used)
			   ? 0
			   : 1;
	else if (!code)
		code = 1;
	if (!code)
		spread(values, count);
	free(dictionary);
	free(first.bytes);
	free(data.bytes);
	return code;
}

int tp_parquet_values_read(struct tp_parquet_values *values, const struct tp_parquet_reader *reader,
    uint32_t group, uint32_t column, struct tp_err *err)
{
	const struct tp_parquet_chunk *chunk = &reader->groups[group].chunks[column];
	struct thrift in = {.failed = false};
	*values = (struct tp_parquet_values){
	    .count = reader->groups[group].rows,
	    .numbers = calloc(reader->groups[group].rows + 1, sizeof(*values->numbers)),
	};
	tp_arena_init(&values->arena);
	tp_bytes_init(&in.bytes, reader->data + chunk->offset, (size_t)chunk->size);
	const int code =
	    values->numbers ? read_values(values, &reader->columns[column], &in) : TP_ERR_MEMORY;
	if (code == TP_ERR_MEMORY)
		return tp_err_memory(err, reader->name);
	return code ? not_ours(reader, err) : 0;
}

int tp_parquet_values_read_named(struct tp_parquet_values *values,
    const struct tp_parquet_reader *reader, uint32_t group, const char *name,
    enum tp_parquet_type type, struct tp_err *err)
{
	const int column = tp_parquet_reader_column(reader, name);
	*values = (struct tp_parquet_values){0};
	if (column < 0)
		return 0;
	if (reader->columns[column].type != type)
		return tp_err_set(
		    err, TP_ERR_FORMAT, reader->name, "column '%s' has another type", name);
	return tp_parquet_values_read(values, reader, group, (uint32_t)column, err);
}

void tp_parquet_values_release(struct tp_parquet_values *values)
{
	tp_arena_release(&values->arena);
	free(values->numbers);
	free(values->present);
	free(values->texts);
	*values = (struct tp_parquet_values){0};
}
