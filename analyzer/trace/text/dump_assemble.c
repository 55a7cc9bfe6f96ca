// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text as a trace: one line at a time, a section being written when the next one begins.
#include "dump_text.h"

#include "analyzer/trace/reader.h"
#include "analyzer/trace/text/line.h"
#include "common/arena.h"
#include "common/chunks/chunk_codec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/trace.h>

struct named {
	struct named *next;
	const char *name;
	uint64_t value;
};

struct assembler {
	struct tp_buf *out;
	struct tp_line line;
	struct tp_arena arena;
	bool begun;           // the file header has been written
	uint32_t type;        // of the section that is open, 0: none
	struct tp_buf body;   // its payload
	struct named *names;  // functions, by symbol lines
	struct named *labels; // positions, by @label behind a record
	uint32_t chunk_shift;
	uint64_t chunk_count;
	struct teeperf_chunk chunk; // header of the open chunk
	uint64_t high;              // upper half of the time in it
	int level;                  // to pack it with, 0: not at all
};

// Put the packed chunk in place of the chunk in the body, if it is smaller.
static void pack_body(struct assembler *as)
{
	struct tp_packer packer;
	if (tp_packer_init(&packer, as->body.size, as->level, NULL)) {
		as->out->failed = true;
		return;
	}
	const uint64_t size = tp_packer_pack(&packer, (const void *)as->body.data);
	if (size) {
		tp_buf_reset(&as->body);
		tp_buf_add(&as->body, packer.packed, size);
		as->type = TEEPERF_SECTION_PACKED;
	}
	tp_packer_release(&packer);
}

static void close_section(struct assembler *as)
{
	if (!as->type)
		return;
	// The body is shorter than its header if memory ran out.
	if (as->type == TEEPERF_SECTION_CHUNK && as->body.size >= sizeof(as->chunk)) {
		as->chunk.used = as->body.size;
		memcpy(as->body.data, &as->chunk, sizeof(as->chunk));
		if (as->level && !as->body.failed)
			pack_body(as);
	}
	tp_trace_section_put(as->out, as->type, &as->body);
	as->type = 0;
}

// The file header, with the options of a line "trace" if that is there.
static void add_file_header(struct assembler *as, bool told)
{
	struct teeperf_trace_header header = {
	    .magic = TEEPERF_TRACE_MAGIC,
	    .header_size = sizeof(header),
	};
	if (told && as->begun)
		tp_line_fail(&as->line, "the first line must be 'trace'");
	struct tp_line none = {0};
	tp_text_read(told ? &as->line : &none, TP_TEXT_HEADER, &header);
	tp_buf_add(as->out, &header, sizeof(header));
	as->chunk_shift = header.chunk_shift;
	as->begun = true;
}

static void open_section(struct assembler *as, uint32_t type)
{
	close_section(as);
	if (!as->begun)
		add_file_header(as, false);
	as->type = type;
}

static const struct named *find(const struct named *list, const char *name)
{
	while (list && strcmp(list->name, name) != 0)
		list = list->next;
	return list;
}

static void define(struct assembler *as, struct named **list, const char *name, uint64_t value)
{
	struct named *entry = tp_arena_alloc(&as->arena, sizeof(*entry));
	const char *copy = tp_arena_copy(&as->arena, name, strlen(name));
	if (!entry || !copy) {
		as->out->failed = true;
		return;
	}
	*entry = (struct named){.next = *list, .name = copy, .value = value};
	*list = entry;
}

static void do_chunk(struct assembler *as)
{
	struct tp_line *line = &as->line;
	open_section(as, TEEPERF_SECTION_CHUNK);
	as->chunk = (struct teeperf_chunk){0};
	tp_text_read(line, TP_TEXT_CHUNK_THREAD, &as->chunk);
	as->chunk.os_tid = as->chunk.thread + UINT64_C(1);
	tp_text_read(line, TP_TEXT_CHUNK, &as->chunk);
	as->level = (int)tp_line_option(line, "packed", 0, TP_PACKER_LEVEL_MAX);
	as->high = as->chunk.first_time >> 32;
	as->chunk_count++;
	tp_buf_add(&as->body, &as->chunk, sizeof(as->chunk));
}

// A title, and the head of its section.
static void do_section(struct assembler *as, const struct tp_section_kind *section)
{
	union {
		struct teeperf_trace_end end;
		uint8_t bytes[TP_TEXT_SIZE_MAX];
	} head = {.bytes = {0}};
	open_section(as, section->type);
	if (section->type == TEEPERF_SECTION_END)
		head.end.chunk_count = head.end.chunk_draws = as->chunk_count;
	tp_text_read(&as->line, section->head, &head);
	tp_buf_add(&as->body, &head, tp_text_size(section->head));
}

// An item that is a structure. COUNT_AT: of their number in the head, or 0.
static void do_entry(struct assembler *as, enum tp_text_struct of, uint32_t count_at)
{
	uint64_t entry[TP_TEXT_SIZE_MAX / sizeof(uint64_t)] = {0};
	tp_text_read(&as->line, of, entry);
	tp_buf_add(&as->body, entry, tp_text_size(of));
	if (count_at && !as->body.failed)
		++*(uint32_t *)(void *)(as->body.data + count_at);
}

// symbol ADDRESS NAME [file="FILE"] [line=N] [size=N]: a line of the section, and a name for
// records
static void do_symbol(struct assembler *as)
{
	struct tp_line *line = &as->line;
	char name[1024] = "";
	char file[1024] = "";
	const uint64_t address = tp_line_number(line, UINT64_MAX);
	tp_line_word_or_string(line, name, sizeof(name));
	tp_line_option_string(line, "file", file, sizeof(file));
	const uint64_t number = tp_line_option(line, "line", 0, UINT64_MAX);
	const uint64_t size = tp_line_option(line, "size", 16, UINT64_MAX);
	tp_buf_addf(&as->body, "%" PRIx64 "\t%" PRIx64 "\t%s\t%s\t%" PRIu64 "\n", address, size,
	    name, file, number);
	define(as, &as->names, name, address);
}

// The word of a function: an address up to MAX, or the name of a symbol.
static uint64_t function_address(struct assembler *as, uint64_t max)
{
	const char *word = tp_line_word(&as->line);
	const struct named *named = find(as->names, word);
	uint64_t value = 0;
	if (named)
		value = named->value;
	else if (!tp_line_parse(word, max, &value))
		tp_line_fail(&as->line, "'%s' is neither an address nor a symbol's name", word);
	return value;
}

static uint32_t function_name(struct assembler *as)
{
	const uint64_t value = function_address(as, UINT32_MAX);
	if (value & TEEPERF_KIND_MASK || (uint32_t)value < TEEPERF_NAME_FIRST)
		tp_line_fail(
		    &as->line, "a function's address must be a multiple of 4, and at least 4096");
	return (uint32_t)value;
}

static void add_word(struct assembler *as, uint64_t low, uint64_t high)
{
	const uint64_t word = (low & UINT32_MAX) | high << 32;
	tp_buf_add(&as->body, &word, sizeof(word));
}

static void set_time(struct assembler *as, uint64_t time)
{
	if (time >> 32 == as->high)
		return;
	as->high = time >> 32;
	add_word(as, as->high, TEEPERF_CONTROL_SYNC);
}

// The name of a mark, if the line has one.
static void add_name(struct assembler *as)
{
	const char *word = tp_line_peek(&as->line);
	struct tp_buf name;
	if (!word || word[0] != '"')
		return;
	tp_buf_init(&name);
	tp_line_string(&as->line, &name);
	for (size_t at = 0; at < name.size; at += 4) {
		const size_t left = name.size - at;
		uint32_t piece = 0;
		memcpy(&piece, name.data + at, left < 4 ? left : 4);
		add_word(as, piece, TEEPERF_CONTROL_TEXT);
	}
	as->out->failed |= name.failed;
	tp_buf_release(&name);
}

// TIME enter|exit|resync|leave FUNCTION [POSITION] [@label], or a border, or a mark and its name
static void do_timed(struct assembler *as, uint64_t time)
{
	static const struct {
		const char *word;
		uint32_t kind;
		uint64_t flag; // of the position
	} kinds[] = {
	    {"enter", TEEPERF_KIND_ENTER, 0},
	    {"exit", TEEPERF_KIND_EXIT, 0},
	    {"resync", TEEPERF_KIND_RESYNC, 0},
	    {"leave", TEEPERF_KIND_RESYNC, TEEPERF_POSITION_LEAVES},
	};
	const size_t count = sizeof(kinds) / sizeof(kinds[0]);
	struct tp_line *line = &as->line;
	const char *word = tp_line_word(line);
	size_t i = 0;
	while (i < count && strcmp(kinds[i].word, word) != 0)
		i++;
	if (i == count) {
		const struct tp_text_control *control = tp_text_control(0, word);
		const bool is_timed = control && tp_record_form_is_timed(control->form);
		if (!is_timed)
			tp_line_fail(line, "'%s' is not one of enter, exit, resync, leave", word);
		set_time(as, time);
		add_word(as, time, is_timed ? control->code : 0);
		if (is_timed && control->form == TP_RECORD_NAMED)
			add_name(as);
		return;
	}
	const uint32_t kind = kinds[i].kind;
	const uint32_t name = function_name(as);
	set_time(as, time);
	const uint64_t position = (as->chunk.sequence << (as->chunk_shift & 63)) + as->body.size;
	add_word(as, time, name | kind);
	if (kind == TEEPERF_KIND_RESYNC) {
		const char *to = tp_line_word(line);
		const struct named *label = find(as->labels, to);
		uint64_t value = label ? label->value : 0;
		if (!label && !tp_line_parse(to, UINT64_MAX, &value))
			tp_line_fail(line, "'%s' is neither a position nor a label", to);
		value |= kinds[i].flag;
		tp_buf_add(&as->body, &value, sizeof(value));
	}
	const char *label = tp_line_peek(line);
	if (label && label[0] == '@')
		define(as, &as->labels, tp_line_word(line), position);
}

// A record that has a word for it, and its number.
static void do_control(struct assembler *as, const char *word)
{
	const struct tp_text_control *control = tp_text_control(0, word);
	if (!control || tp_record_form_is_timed(control->form)) {
		tp_line_fail(&as->line, "'%s' is not a record", word);
		return;
	}
	const uint64_t low =
	    control->form == TP_RECORD_NOTHING ? 0 : tp_line_number(&as->line, UINT32_MAX);
	add_word(as, low, control->code);
	if (control->form == TP_RECORD_HIGH)
		as->high = low;
}

static void do_record(struct assembler *as, const char *word)
{
	struct tp_line *line = &as->line;
	uint64_t value;
	if (tp_line_parse(word, UINT64_MAX, &value)) {
		do_timed(as, value);
	} else if (strcmp(word, "exit") == 0) {
		add_word(as, 0, function_name(as) | TEEPERF_KIND_UNTIMED);
	} else if (strcmp(word, "count") == 0 || strcmp(word, "sampled") == 0) {
		const uint64_t mark = *word == 's' ? TEEPERF_COUNTS_SAMPLED : 0;
		const uint64_t address = function_address(as, UINT64_MAX) | mark;
		value = tp_line_number(line, UINT64_MAX);
		tp_buf_add(&as->body, &address, sizeof(address));
		tp_buf_add(&as->body, &value, sizeof(value));
	} else if (strcmp(word, "word") == 0) {
		value = tp_line_number(line, UINT64_MAX);
		tp_buf_add(&as->body, &value, sizeof(value));
		if (value >> 32 == TEEPERF_CONTROL_SYNC)
			as->high = value & UINT32_MAX;
	} else {
		do_control(as, word);
	}
}

// on TICKS, off TICKS
static void do_switch(struct assembler *as, bool on)
{
	const uint64_t word = tp_line_number(&as->line, UINT64_MAX >> 1) << 1 | on;
	tp_buf_add(&as->body, &word, sizeof(word));
}

// string "..." and line "...": the bytes, and what ends them.
static void do_string(struct assembler *as, char end)
{
	tp_line_string(&as->line, &as->body);
	tp_buf_add_char(&as->body, end);
}

static void do_bytes(struct assembler *as)
{
	close_section(as);
	as->begun = true;
	uint8_t data[256];
	const char *hex = tp_line_peek(&as->line) ? tp_line_word(&as->line) : "";
	tp_buf_add(as->out, data, tp_line_hex(&as->line, hex, data, sizeof(data)));
}

// An item of the section that is open. False: this is none.
static bool do_item(struct assembler *as, const char *word)
{
	const struct tp_section_kind *section = tp_section_kind(as->type);
	const bool is_more = section && section->more && strcmp(word, section->more) == 0;
	const bool is_item = section && section->item && strcmp(word, section->item) == 0;
	if (as->type == TEEPERF_SECTION_CHUNK)
		do_record(as, word);
	else if (is_item && section->entry)
		do_entry(as, section->entry, section->count_at);
	else if (is_more)
		do_entry(as, section->more_entry, section->more_count_at);
	else if (is_item)
		do_string(as, section->end);
	else if (as->type == TEEPERF_SECTION_SYMBOLS && strcmp(word, "symbol") == 0)
		do_symbol(as);
	else if (as->type == TEEPERF_SECTION_SWITCHES &&
		 (strcmp(word, "on") == 0 || strcmp(word, "off") == 0))
		do_switch(as, word[1] == 'n');
	else
		return false;
	return true;
}

static void do_line(struct assembler *as)
{
	if (!tp_line_peek(&as->line))
		return;
	const char *word = tp_line_word(&as->line);
	const struct tp_section_kind *section = tp_section_titled(word);
	if (section)
		do_section(as, section);
	else if (strcmp(word, "trace") == 0)
		add_file_header(as, true);
	else if (strcmp(word, "chunk") == 0)
		do_chunk(as);
	else if (strcmp(word, "bytes") == 0)
		do_bytes(as);
	else if (!do_item(as, word))
		tp_line_fail(&as->line, "'%s' does not belong here", word);
}

int tp_dump_assemble(
    const char *text, size_t size, const char *file, struct tp_buf *out, struct tp_err *err)
{
	struct assembler as = {.out = out, .chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT};
	tp_buf_init(&as.body);
	tp_arena_init(&as.arena);
	tp_line_init(&as.line, file, err);
	while (as.line.code == 0 && !out->failed && !as.body.failed &&
	       tp_line_next(&as.line, &text, &size)) {
		do_line(&as);
		tp_line_finish(&as.line);
	}
	if (as.line.code == 0 && !as.begun && !as.body.failed)
		open_section(&as, 0);
	close_section(&as);
	int code = as.line.code;
	if (!code && (out->failed || as.line.failed))
		code = tp_err_memory(err, file);
	tp_line_release(&as.line);
	tp_arena_release(&as.arena);
	tp_buf_release(&as.body);
	return code;
}
