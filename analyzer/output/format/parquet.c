// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A writer of Parquet files.
#include "parquet.h"

#include "parquet_encode.h"

#include "common/varint.h"

#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>
#include <zstd.h>

#define LEVEL 1         // of zstd: 3 makes calls 4 % smaller and takes twice the time
#define TEXT_LIMIT 1024 // longer values are in no statistics

// Thrift's compact protocol.
enum {
	T_TRUE = 1,
	T_FALSE = 2,
	T_I16 = 4,
	T_I32 = 5,
	T_I64 = 6,
	T_BINARY = 8,
	T_LIST = 9,
	T_STRUCT = 12
};

// parquet.thrift
enum { CODEC_ZSTD = 6, ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5 };
enum { ENCODING_DICTIONARY = 8, DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { REQUIRED = 0, OPTIONAL = 1, CONVERTED_UTF8 = 0 };

// ---- thrift

// Field ID of TYPE, behind field *LAST of this struct.
static void add_field(struct tp_buf *out, int *last, int id, int type)
{
	tp_buf_add_char(out, (char)((id - *last) << 4 | type));
	*last = id;
}

static void add_zigzag(struct tp_buf *out, int64_t value)
{
	tp_varint_add(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void add_number(struct tp_buf *out, int *last, int id, int type, int64_t value)
{
	add_field(out, last, id, type);
	add_zigzag(out, value);
}

static void add_bytes(struct tp_buf *out, const void *bytes, size_t size)
{
	tp_varint_add(out, size);
	tp_buf_add(out, bytes, size);
}

static void add_binary(struct tp_buf *out, int *last, int id, const void *bytes, size_t size)
{
	add_field(out, last, id, T_BINARY);
	add_bytes(out, bytes, size);
}

static void add_list(struct tp_buf *out, int *last, int id, int type, uint32_t count)
{
	add_field(out, last, id, T_LIST);
	if (count < 15) {
		tp_buf_add_char(out, (char)(count << 4 | (uint32_t)type));
	} else {
		tp_buf_add_char(out, (char)(0xf0 | type));
		tp_varint_add(out, count);
	}
}

static void end_struct(struct tp_buf *out)
{
	tp_buf_add_char(out, 0);
}

// ---- opening

static void init_buffer(struct tp_parquet_buffer *buffer)
{
	tp_buf_init(&buffer->bytes);
	tp_buf_init(&buffer->min_text);
	tp_buf_init(&buffer->max_text);
	tp_buf_init(&buffer->levels);
}

static void begin_group(struct tp_parquet *parquet)
{
	parquet->group_rows = 0;
	for (uint32_t i = 0; i < parquet->column_count; i++) {
		struct tp_parquet_buffer *buffer = &parquet->columns[i];
		tp_buf_reset(&buffer->bytes);
		tp_buf_reset(&buffer->min_text);
		tp_buf_reset(&buffer->max_text);
		tp_buf_reset(&buffer->levels);
		buffer->run = buffer->missing = 0;
		buffer->min = INT64_MAX;
		buffer->max = INT64_MIN;
	}
}

int tp_parquet_open(struct tp_parquet *parquet, const char *directory, const char *name,
    const struct tp_parquet_column *columns, const char *sorted, struct tp_err *err)
{
	uint32_t count = 0;
	while (columns[count].name)
		count++;
	*parquet = (struct tp_parquet){
	    .columns = calloc(count, sizeof(*parquet->columns)),
	    .compressor = ZSTD_createCCtx(),
	    .sorted = -1,
	    .level = LEVEL,
	};
	tp_buf_init(&parquet->groups);
	tp_buf_init(&parquet->packed);
	tp_out_file_from_fd(&parquet->file, -1, name);
	if (!parquet->columns || !parquet->compressor)
		return tp_err_memory(err, name);
	for (uint32_t i = 0; i < count; i++) {
		if (sorted && strcmp(columns[i].name, sorted) == 0)
			parquet->sorted = (int)parquet->column_count;
		init_buffer(&parquet->columns[parquet->column_count]);
		parquet->columns[parquet->column_count++].column = &columns[i];
	}
	begin_group(parquet);
	const int code = tp_out_file_open_in(&parquet->file, directory, name, err);
	if (!code)
		tp_buf_add_string(&parquet->file.buf, "PAR1");
	return code;
}

// ---- rows

static void add_statistics(
    struct tp_buf *out, int *last, int id, const struct tp_parquet_buffer *buffer)
{
	int field = 0;
	add_field(out, last, id, T_STRUCT);
	if (buffer->column->type == TP_PARQUET_DOUBLE) {
		add_number(out, &field, 3, T_I64, buffer->missing);
	} else if (buffer->column->type == TP_PARQUET_TEXT) {
		add_number(out, &field, 3, T_I64, buffer->missing);
		// Without any when some value was too long.
		if (buffer->min <= buffer->max) {
			add_binary(out, &field, 5, buffer->max_text.data, buffer->max_text.size);
			add_binary(out, &field, 6, buffer->min_text.data, buffer->min_text.size);
		}
	} else {
		const size_t size = buffer->column->type == TP_PARQUET_INT32 ? 4 : 8;
		const bool any = buffer->min <= buffer->max;
		// Twice: fields 1 and 2 for readers from before 2017.
		if (any) {
			add_binary(out, &field, 1, &buffer->max, size);
			add_binary(out, &field, 2, &buffer->min, size);
		}
		add_number(out, &field, 3, T_I64, buffer->missing);
		if (any) {
			add_binary(out, &field, 5, &buffer->max, size);
			add_binary(out, &field, 6, &buffer->min, size);
		}
	}
	end_struct(out);
}

// One level for each value, 1 if it is there: runs of one level, as "RLE / bit-packed hybrid" has
// them, of width 1.
static void end_run(struct tp_parquet_buffer *buffer)
{
	if (buffer->run) {
		tp_varint_add(&buffer->levels, (uint64_t)buffer->run << 1);
		tp_buf_add_char(&buffer->levels, (char)buffer->present);
	}
	buffer->run = 0;
}

static void note_level(struct tp_parquet_buffer *buffer, bool present)
{
	if (!buffer->column->optional)
		return;
	if (buffer->present != present)
		end_run(buffer);
	buffer->present = present;
	buffer->run++;
	buffer->missing += !present;
}

// Bytes that BODY has when it is packed, which it then is in parquet->packed; SIZE_MAX: it failed.
static size_t pack(struct tp_parquet *parquet, const struct tp_buf *body, int level)
{
	struct tp_buf *packed = &parquet->packed;
	const size_t bound = ZSTD_compressBound(body->size);
	parquet->failed |= body->failed;
	tp_buf_reset(packed);
	if (packed->capacity < bound + 1) {
		char *data = realloc(packed->capacity ? packed->data : NULL, bound + 1);
		if (!data) {
			parquet->failed = true;
			return SIZE_MAX;
		}
		packed->data = data;
		packed->capacity = bound + 1;
	}
	const size_t got = ZSTD_compressCCtx(
	    parquet->compressor, packed->data, bound, body->data, body->size, level);
	if (ZSTD_isError(got)) {
		parquet->failed = true;
		return SIZE_MAX;
	}
	return got;
}

// Write a page with BODY as it is: COUNT values in ENCODING. Adds to *SIZE its bytes in the file,
// and to *RAW the same unpacked; both with the header of the page.
static void write_page(struct tp_parquet *parquet, int type, const struct tp_buf *body,
    uint32_t count, int encoding, uint64_t *size, uint64_t *raw)
{
	struct tp_buf header;
	const size_t got = pack(parquet, body, parquet->level);
	int field = 0;
	int inner = 0;
	if (got == SIZE_MAX)
		return;
	tp_buf_init(&header);
	add_number(&header, &field, 1, T_I32, type);
	add_number(&header, &field, 2, T_I32, (int64_t)body->size);
	add_number(&header, &field, 3, T_I32, (int64_t)got);
	add_field(&header, &field, type == DATA_PAGE ? 5 : 7, T_STRUCT);
	add_number(&header, &inner, 1, T_I32, count);
	add_number(&header, &inner, 2, T_I32, encoding);
	if (type == DATA_PAGE) {
		add_number(&header, &inner, 3, T_I32, ENCODING_RLE);
		add_number(&header, &inner, 4, T_I32, ENCODING_RLE);
	}
	end_struct(&header);
	end_struct(&header);
	parquet->failed |= header.failed;
	*size += header.size + got;
	*raw += header.size + body->size;
	tp_buf_add(&parquet->file.buf, header.data, header.size);
	tp_buf_add(&parquet->file.buf, parquet->packed.data, got);
	tp_buf_release(&header);
}

// Bytes of a value of the column; 0: a text.
static uint32_t value_size(const struct tp_parquet_buffer *buffer)
{
	return buffer->column->type == TP_PARQUET_TEXT    ? 0
	       : buffer->column->type == TP_PARQUET_INT32 ? 4
							  : 8;
}

static bool is_whole(const struct tp_parquet_buffer *buffer)
{
	return buffer->column->type == TP_PARQUET_INT32 || buffer->column->type == TP_PARQUET_INT64;
}

// A column's values in an encoding.
struct encoded {
	struct tp_parquet_dictionary dictionary; // of ENCODING_DICTIONARY
	struct tp_buf page;                      // of the values, without levels
	int encoding;
};

static void release_encoded(struct encoded *encoded)
{
	tp_parquet_dictionary_release(&encoded->dictionary);
	tp_buf_release(&encoded->page);
}

// False: this encoding is impossible or failed, and is released.
static bool encode(struct tp_parquet *parquet, const struct tp_parquet_buffer *buffer,
    uint32_t values, int encoding, struct encoded *encoded)
{
	*encoded = (struct encoded){.encoding = encoding};
	tp_buf_init(&encoded->page);
	if (encoding == ENCODING_DICTIONARY) {
		struct tp_parquet_dictionary *dictionary = &encoded->dictionary;
		const bool made = tp_parquet_dictionary_make(
		    dictionary, &buffer->bytes, value_size(buffer), values);
		parquet->failed |= dictionary->no_memory;
		if (!made) {
			release_encoded(encoded);
			return false;
		}
		const uint32_t width = tp_parquet_width(dictionary->count - 1);
		tp_buf_add_char(&encoded->page, (char)width);
		tp_parquet_add_hybrid(&encoded->page, dictionary->codes, values, width);
	} else if (encoding == ENCODING_DELTA) {
		tp_parquet_add_delta(
		    &encoded->page, buffer->bytes.data, value_size(buffer), values);
	} else {
		tp_buf_add(&encoded->page, buffer->bytes.data, buffer->bytes.size);
	}
	return true;
}

static size_t packed_size(struct tp_parquet *parquet, const struct encoded *encoded)
{
	const size_t page = pack(parquet, &encoded->page, LEVEL);
	const size_t dictionary = encoded->encoding == ENCODING_DICTIONARY
				      ? pack(parquet, &encoded->dictionary.values, LEVEL)
				      : 0;
	return page == SIZE_MAX || dictionary == SIZE_MAX ? SIZE_MAX : page + dictionary;
}

// Which encoding is the smallest, is found by trying all.
static void encode_smallest(struct tp_parquet *parquet, const struct tp_parquet_buffer *buffer,
    uint32_t values, struct encoded *best)
{
	static const int encodings[] = {ENCODING_DICTIONARY, ENCODING_DELTA};
	encode(parquet, buffer, values, ENCODING_PLAIN, best);
	size_t least = packed_size(parquet, best);
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
		struct encoded other;
		if (!encode(parquet, buffer, values, encodings[i], &other))
			continue;
		const size_t size = packed_size(parquet, &other);
		if (size < least) {
			release_encoded(best);
			*best = other;
			least = size;
		} else {
			release_encoded(&other);
		}
	}
}

static void encode_column(struct tp_parquet *parquet, const struct tp_parquet_buffer *buffer,
    uint32_t values, struct encoded *encoded)
{
	const enum tp_parquet_encoding wanted = buffer->column->encoding;
	if (wanted == TP_PARQUET_SMALLEST && is_whole(buffer))
		encode_smallest(parquet, buffer, values, encoded);
	else if (wanted != TP_PARQUET_DICTIONARY ||
		 !encode(parquet, buffer, values, ENCODING_DICTIONARY, encoded))
		encode(parquet, buffer, values,
		    wanted != TP_PARQUET_PLAIN && is_whole(buffer) ? ENCODING_DELTA
								   : ENCODING_PLAIN,
		    encoded);
}

// Write the pages of a column: a dictionary, if it has one, and the values. The levels of an
// optional column, behind their size, come before its values.
static void write_column(
    struct tp_parquet *parquet, struct tp_parquet_buffer *buffer, uint64_t *size, uint64_t *raw)
{
	const uint32_t values = parquet->group_rows - buffer->missing;
	struct encoded encoded;
	struct tp_buf page;
	parquet->failed |= buffer->bytes.failed;
	buffer->written = ENCODING_PLAIN;
	if (buffer->column->encoding == TP_PARQUET_PLAIN && !buffer->column->optional) {
		buffer->data_offset = tp_out_file_offset(&parquet->file);
		write_page(parquet, DATA_PAGE, &buffer->bytes, values, ENCODING_PLAIN, size, raw);
		return;
	}
	encode_column(parquet, buffer, values, &encoded);
	buffer->written = encoded.encoding;
	tp_buf_init(&page);
	if (buffer->column->optional) {
		end_run(buffer);
		const uint32_t bytes = (uint32_t)buffer->levels.size;
		parquet->failed |= buffer->levels.failed;
		tp_buf_add(&page, &bytes, sizeof(bytes));
		tp_buf_add(&page, buffer->levels.data, buffer->levels.size);
	}
	tp_buf_add(&page, encoded.page.data, encoded.page.size);
	page.failed |= encoded.page.failed;
	if (encoded.encoding == ENCODING_DICTIONARY)
		write_page(parquet, DICTIONARY_PAGE, &encoded.dictionary.values,
		    encoded.dictionary.count, ENCODING_PLAIN, size, raw);
	buffer->data_offset = tp_out_file_offset(&parquet->file);
	write_page(parquet, DATA_PAGE, &page, parquet->group_rows, encoded.encoding, size, raw);
	release_encoded(&encoded);
	tp_buf_release(&page);
}

static void describe_column(struct tp_buf *out, const struct tp_parquet_buffer *buffer,
    uint32_t rows, uint64_t offset, uint64_t size, uint64_t raw)
{
	int field = 0;
	int inner = 0;
	const char *name = buffer->column->name;
	add_number(out, &field, 2, T_I64, (int64_t)offset);
	add_field(out, &field, 3, T_STRUCT);
	add_number(out, &inner, 1, T_I32, buffer->column->type);
	const int encoding = buffer->written;
	add_list(out, &inner, 2, T_I32, encoding == ENCODING_DICTIONARY ? 3 : 2);
	if (encoding == ENCODING_DICTIONARY)
		add_zigzag(out, ENCODING_PLAIN);
	add_zigzag(out, encoding);
	add_zigzag(out, ENCODING_RLE);
	add_list(out, &inner, 3, T_BINARY, 1);
	add_bytes(out, name, strlen(name));
	add_number(out, &inner, 4, T_I32, CODEC_ZSTD);
	add_number(out, &inner, 5, T_I64, rows);
	add_number(out, &inner, 6, T_I64, (int64_t)raw);
	add_number(out, &inner, 7, T_I64, (int64_t)size);
	add_number(out, &inner, 9, T_I64, (int64_t)buffer->data_offset);
	if (encoding == ENCODING_DICTIONARY)
		add_number(out, &inner, 11, T_I64, (int64_t)offset);
	add_statistics(out, &inner, 12, buffer);
	end_struct(out);
	end_struct(out);
}

static void write_group(struct tp_parquet *parquet)
{
	struct tp_buf *out = &parquet->groups;
	const uint64_t start = tp_out_file_offset(&parquet->file);
	uint64_t all = 0;
	uint64_t all_raw = 0;
	int field = 0;
	if (!parquet->group_rows)
		return;
	add_list(out, &field, 1, T_STRUCT, parquet->column_count);
	for (uint32_t i = 0; i < parquet->column_count && !parquet->failed; i++) {
		const uint64_t offset = tp_out_file_offset(&parquet->file);
		uint64_t size = 0;
		uint64_t raw = 0;
		write_column(parquet, &parquet->columns[i], &size, &raw);
		describe_column(out, &parquet->columns[i], parquet->group_rows, offset, size, raw);
		all += size;
		all_raw += raw;
	}
	add_number(out, &field, 2, T_I64, (int64_t)all_raw);
	add_number(out, &field, 3, T_I64, parquet->group_rows);
	if (parquet->sorted >= 0) {
		int inner = 0;
		add_list(out, &field, 4, T_STRUCT, 1);
		add_number(out, &inner, 1, T_I32, parquet->sorted);
		add_field(out, &inner, 2, T_FALSE); // descending
		add_field(out, &inner, 3, T_FALSE); // NULLs first
		end_struct(out);
	}
	add_number(out, &field, 5, T_I64, (int64_t)start);
	add_number(out, &field, 6, T_I64, (int64_t)all);
	if (parquet->group_count <= INT16_MAX)
		add_number(out, &field, 7, T_I16, parquet->group_count);
	end_struct(out);
	parquet->group_count++;
	begin_group(parquet);
}

static void end_value(struct tp_parquet *parquet)
{
	if (++parquet->at < parquet->column_count)
		return;
	parquet->at = 0;
	parquet->rows++;
	if (++parquet->group_rows == TP_PARQUET_GROUP_ROWS)
		write_group(parquet);
}

void tp_parquet_add(struct tp_parquet *parquet, int64_t value)
{
	struct tp_parquet_buffer *buffer = &parquet->columns[parquet->at];
	const bool narrow = buffer->column->type == TP_PARQUET_INT32;
	note_level(buffer, true);
	struct tp_buf *bytes = &buffer->bytes;
	if (narrow)
		value = (int32_t)value;
	// Little-endian, as the machines are that this runs on. Mostly there is room, and no call
	// for it.
	if (bytes->capacity - bytes->size > sizeof(value)) {
		memcpy(bytes->data + bytes->size, &value, sizeof(value));
		bytes->size += narrow ? 4 : 8;
	} else {
		tp_buf_add(bytes, &value, narrow ? 4 : 8);
	}
	if (value < buffer->min)
		buffer->min = value;
	if (value > buffer->max)
		buffer->max = value;
	end_value(parquet);
}

static int compare(const struct tp_buf *one, const char *other, size_t size)
{
	const size_t common = one->size < size ? one->size : size;
	const int order = common ? memcmp(one->data, other, common) : 0;
	return order ? order : one->size < size ? -1 : one->size > size;
}

static void copy_text(struct tp_buf *to, const char *text, size_t size)
{
	tp_buf_reset(to);
	tp_buf_add(to, text, size);
}

void tp_parquet_add_text(struct tp_parquet *parquet, const char *text)
{
	struct tp_parquet_buffer *buffer = &parquet->columns[parquet->at];
	const size_t length = strlen(text);
	note_level(buffer, true);
	const uint32_t size = length < UINT32_MAX / 2 ? (uint32_t)length : 0;
	tp_buf_add(&buffer->bytes, &size, sizeof(size));
	tp_buf_add(&buffer->bytes, text, size);
	// min > max: no value yet; min 1 and max 0: there are no statistics.
	if (size > TEXT_LIMIT) {
		buffer->min = 1;
		buffer->max = 0;
	} else if (buffer->min == INT64_MAX) {
		buffer->min = buffer->max = 0;
		copy_text(&buffer->min_text, text, size);
		copy_text(&buffer->max_text, text, size);
	} else if (buffer->min <= buffer->max) {
		if (compare(&buffer->min_text, text, size) > 0)
			copy_text(&buffer->min_text, text, size);
		if (compare(&buffer->max_text, text, size) < 0)
			copy_text(&buffer->max_text, text, size);
	}
	end_value(parquet);
}

void tp_parquet_add_real(struct tp_parquet *parquet, double value)
{
	struct tp_parquet_buffer *buffer = &parquet->columns[parquet->at];
	note_level(buffer, true);
	tp_buf_add(&buffer->bytes, &value, sizeof(value));
	end_value(parquet);
}

void tp_parquet_add_missing(struct tp_parquet *parquet)
{
	note_level(&parquet->columns[parquet->at], false);
	end_value(parquet);
}

void tp_parquet_end_group(struct tp_parquet *parquet)
{
	write_group(parquet);
}

// ---- closing

static void describe_schema(struct tp_buf *out, int *last, const struct tp_parquet *parquet)
{
	int field = 0;
	add_list(out, last, 2, T_STRUCT, parquet->column_count + 1);
	add_binary(out, &field, 4, "schema", 6);
	add_number(out, &field, 5, T_I32, parquet->column_count);
	end_struct(out);
	for (uint32_t i = 0; i < parquet->column_count; i++) {
		const struct tp_parquet_column *column = parquet->columns[i].column;
		field = 0;
		add_number(out, &field, 1, T_I32, column->type);
		add_number(out, &field, 3, T_I32, column->optional ? OPTIONAL : REQUIRED);
		add_binary(out, &field, 4, column->name, strlen(column->name));
		if (column->type == TP_PARQUET_TEXT) {
			int inner = 0;
			add_number(out, &field, 6, T_I32, CONVERTED_UTF8);
			add_field(out, &field, 10, T_STRUCT); // a union: STRING
			add_field(out, &inner, 1, T_STRUCT);
			end_struct(out);
			end_struct(out);
		}
		end_struct(out);
	}
}

static void write_footer(struct tp_parquet *parquet)
{
	static const char created_by[] = "teeperf version " TEEPERF_VERSION;
	struct tp_buf footer;
	int field = 0;
	tp_buf_init(&footer);
	add_number(&footer, &field, 1, T_I32, 1);
	describe_schema(&footer, &field, parquet);
	add_number(&footer, &field, 3, T_I64, (int64_t)parquet->rows);
	add_list(&footer, &field, 4, T_STRUCT, parquet->group_count);
	tp_buf_add(&footer, parquet->groups.data, parquet->groups.size);
	if (parquet->fact_count)
		add_list(&footer, &field, 5, T_STRUCT, parquet->fact_count);
	for (uint32_t i = 0; i < parquet->fact_count; i++) {
		const struct tp_parquet_fact *fact = &parquet->facts[i];
		int inner = 0;
		add_binary(&footer, &inner, 1, fact->key, strlen(fact->key));
		add_binary(&footer, &inner, 2, fact->value, strlen(fact->value));
		end_struct(&footer);
	}
	add_binary(&footer, &field, 6, created_by, sizeof(created_by) - 1);
	// The order that min and max are by: the type's own.
	add_list(&footer, &field, 7, T_STRUCT, parquet->column_count);
	for (uint32_t i = 0; i < parquet->column_count; i++) {
		int inner = 0;
		add_field(&footer, &inner, 1, T_STRUCT);
		end_struct(&footer);
		end_struct(&footer);
	}
	end_struct(&footer);
	const uint32_t size = (uint32_t)footer.size;
	tp_buf_add(&parquet->file.buf, footer.data, footer.size);
	tp_buf_add(&parquet->file.buf, &size, sizeof(size));
	tp_buf_add_string(&parquet->file.buf, "PAR1");
	parquet->failed |= footer.failed || footer.size > INT32_MAX;
	tp_buf_release(&footer);
}

int tp_parquet_close(struct tp_parquet *parquet, struct tp_err *err)
{
	const bool open = parquet->file.fd >= 0;
	if (open && !parquet->failed) {
		write_group(parquet);
		write_footer(parquet);
	}
	for (uint32_t i = 0; i < parquet->column_count; i++) {
		parquet->failed |= parquet->columns[i].bytes.failed ||
				   parquet->columns[i].min_text.failed ||
				   parquet->columns[i].max_text.failed;
		tp_buf_release(&parquet->columns[i].bytes);
		tp_buf_release(&parquet->columns[i].min_text);
		tp_buf_release(&parquet->columns[i].max_text);
		tp_buf_release(&parquet->columns[i].levels);
	}
	parquet->failed |= parquet->groups.failed;
	free(parquet->columns);
	parquet->columns = NULL;
	parquet->column_count = 0;
	ZSTD_freeCCtx(parquet->compressor);
	parquet->compressor = NULL;
	tp_buf_release(&parquet->groups);
	tp_buf_release(&parquet->packed);
	char name[sizeof(parquet->file.name)];
	memcpy(name, parquet->file.name, sizeof(name));
	const int code = tp_out_file_close(&parquet->file, err);
	if (!code && open && parquet->failed)
		return tp_err_memory(err, name);
	return code;
}
