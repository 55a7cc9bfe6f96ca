// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parser of logs of the original TEE-Perf.
#include "original_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/trace.h>

#define VERSION 1
#define FLAG_VERSION UINT64_C(0xffff)
#define FLAG_THREADS (UINT64_C(1) << 16)
// Recording is on. It was meant to be bit 63, but is set by a 32-bit instruction.
#define FLAG_ACTIVE (UINT64_C(1) << 31 | UINT64_C(1) << 63)

// Bit 63 of an entry's first word.
#define RETURNS (UINT64_C(1) << 63)
// No address of a user's process is above these, nor is a log larger.
#define ADDRESSES (UINT64_C(1) << 56)
#define SIZE_MAX_BELIEVED (UINT64_C(1) << 48)
#define PAGE 4096

#define BLOCK (UINT64_C(256) << 10)

static bool is_address(uint64_t value)
{
	return value >= PAGE && value < ADDRESSES;
}

static uint64_t entry_size(const struct tp_original_header *header)
{
	return header->flags & FLAG_THREADS ? 24 : 16;
}

enum tp_original_kind tp_original_look(
    const struct tp_source *source, struct tp_original_header *header)
{
	_Static_assert(sizeof(*header) == TP_ORIGINAL_HEADER_SIZE, "as in the file");
	if (source->size < sizeof(*header) ||
	    tp_source_read(source, 0, header, sizeof(*header), NULL))
		return TP_ORIGINAL_NOT;
	if (header->counter == TEEPERF_TRACE_MAGIC || header->counter == TEEPERF_LOG_MAGIC)
		return TP_ORIGINAL_NOT;
	if (!header->flags && !header->self && !header->pid && !header->next && !header->map_info)
		return header->size >= PAGE && header->size + 1 == source->size ? TP_ORIGINAL_UNUSED
										: TP_ORIGINAL_NOT;
	const bool possible = (header->flags & FLAG_VERSION) == VERSION &&
			      !(header->flags & ~(FLAG_VERSION | FLAG_THREADS | FLAG_ACTIVE)) &&
			      is_address(header->self) && header->self % PAGE == 0 && header->pid &&
			      header->pid <= INT32_MAX && is_address(header->map_info) &&
			      header->size >= sizeof(*header) + entry_size(header) &&
			      header->size <= SIZE_MAX_BELIEVED;
	return possible ? TP_ORIGINAL_LOG : TP_ORIGINAL_NOT;
}

// SIZE bytes at OFFSET, until the next call. NULL, and *err: they cannot be read.
static const uint8_t *bytes_at(
    struct tp_original_log *log, uint64_t offset, uint64_t size, struct tp_err *err)
{
	if (offset < log->block_from || offset + size > log->block_from + log->block_size) {
		const uint64_t left = log->source->size - offset;
		log->block_from = offset;
		log->block_size = left < BLOCK ? left : BLOCK;
		if (log->block_size < size) {
			tp_err_set_at(err, TP_ERR_TRUNCATED, log->source->name, offset,
			    "the log ends within an entry");
			return NULL;
		}
		if (tp_source_read(log->source, offset, log->block, log->block_size, err)) {
			log->block_size = 0;
			return NULL;
		}
	}
	return log->block + (offset - log->block_from);
}

static uint64_t word(const uint8_t *at, uint32_t index)
{
	uint64_t value;
	memcpy(&value, at + 8 * (size_t)index, sizeof(value));
	return value;
}

// Entries of an earlier recording, or of an earlier round, behind the last one.
static void look_behind(struct tp_original_log *log, struct tp_problems *notes)
{
	uint64_t first;
	const uint64_t offset = TP_ORIGINAL_HEADER_SIZE + log->count * entry_size(&log->header);
	if (log->lost || tp_source_read(log->source, offset, &first, sizeof(first), NULL) || !first)
		return;
	tp_problems_add_at(notes, TP_ERR_LIMIT, log->source->name, offset,
	    "entries after the last one are not used: they are from an earlier recording into "
	    "the same file, or the log wrapped around (PROFILER_LOOP_AROUND) and its beginning "
	    "is lost");
}

int tp_original_log_init(struct tp_original_log *log, const struct tp_source *source,
    const struct tp_original_header *header, struct tp_problems *problems,
    struct tp_problems *notes, struct tp_err *err)
{
	const uint64_t size = entry_size(header);
	*log = (struct tp_original_log){
	    .source = source,
	    .header = *header,
	    .threads = size == 24,
	    .block = malloc(BLOCK),
	};
	if (!log->block)
		return tp_err_memory(err, source->name);
	const uint64_t room = (header->size - TP_ORIGINAL_HEADER_SIZE) / size;
	const uint64_t there = (source->size - TP_ORIGINAL_HEADER_SIZE) / size;
	uint64_t count = header->next;
	if (count > room) {
		// Who finds the log full takes one number more and dies; without assertions, soon
		// after.
		if (count - room <= room + PAGE)
			log->lost = count - room;
		else {
			tp_problems_add_at(problems, TP_ERR_FORMAT, source->name, 40,
			    "the log claims %" PRIu64 " entries, but has room for %" PRIu64
			    ": all of it is read",
			    count, room);
			log->guessed = true;
		}
		count = room;
	}
	if (count > there) {
		tp_problems_add_at(problems, TP_ERR_TRUNCATED, source->name, source->size,
		    "the log was cut off: %" PRIu64 " of %" PRIu64 " entries are there", there,
		    count);
		log->lost += count - there;
		count = there;
	}
	log->count = count;
	if (header->next <= room)
		look_behind(log, notes);
	return 0;
}

void tp_original_log_release(struct tp_original_log *log)
{
	free(log->block);
	log->block = NULL;
}

static void set_switch(struct tp_original_event *event, uint64_t first)
{
	*event = (struct tp_original_event){
	    .type = first & RETURNS ? TP_ORIGINAL_ON : TP_ORIGINAL_OFF,
	    .ticks = first & ~RETURNS,
	};
}

// What an entry of these words says: an address that is none, or no time, was not written, or not
// wholly.
static void set_event(
    struct tp_original_event *event, uint64_t first, uint64_t function, uint64_t thread)
{
	*event = (struct tp_original_event){.type = TP_ORIGINAL_LOST, .thread = thread};
	if (!is_address(function) || !(first & ~RETURNS))
		return;
	event->type = first & RETURNS ? TP_ORIGINAL_EXIT : TP_ORIGINAL_ENTER;
	event->ticks = first & ~RETURNS;
	event->function = function;
}

/*
 * The recorder writes records of 16 bytes when it switches, whatever the layout is: number I lies
 * at 16 * I, over entries that are there already, and entry I remains empty, but for what another
 * such record puts over it, of which it can hold no more than one word. An entry that was a call
 * still has two of its three words, or is hit twice.
 */
static bool is_vacant(const uint64_t words[3])
{
	return !words[0] + !words[1] + !words[2] >= 2;
}

// Whether the recorder's record I, whose words would be FIRST and FUNCTION, is in the place of
// entries.
static int is_stray(struct tp_original_log *log, uint64_t i, uint64_t first, uint64_t function,
    bool *stray, struct tp_err *err)
{
	uint64_t words[3];
	*stray = false;
	if (function || !(first & ~RETURNS) || i >= log->count || i <= log->at)
		return 0;
	const int code = tp_source_read(
	    log->source, TP_ORIGINAL_HEADER_SIZE + i * 24, words, sizeof(words), err);
	*stray = !code && is_vacant(words);
	return code;
}

// Whether the entry N is the recorder's, which has written elsewhere.
static int is_gap(
    struct tp_original_log *log, uint64_t n, const uint64_t entry[3], bool *gap, struct tp_err *err)
{
	uint64_t words[2];
	// Number 0 is where it belongs.
	*gap = n == 0 && entry[0] & ~RETURNS && !entry[1];
	if (n == 0 || !is_vacant(entry))
		return 0;
	const int code = tp_source_read(
	    log->source, TP_ORIGINAL_HEADER_SIZE + n * 16, words, sizeof(words), err);
	*gap = !code && words[0] & ~RETURNS && !words[1];
	return code;
}

/*
 * The entry of 24 bytes behind the word at RAW, over which parts of one or two records of 16 may
 * lie. 1 and *event; 0: it is none.
 */
static int next_of_threads(struct tp_original_log *log, struct tp_original_event *event,
    const uint8_t *raw, struct tp_err *err)
{
	const uint64_t n = log->at;
	const bool odd = n % 2 != 0;
	const uint64_t before_it = word(raw, 0);
	const uint64_t words[3] = {word(raw, 1), word(raw, 2), word(raw, 3)};
	bool before = false; // a record begins before this entry, or with it
	bool behind = false; // one begins within it
	bool gap = false;
	int code = odd ? is_stray(log, (3 * n - 1) / 2, before_it, words[0], &before, err)
		       : is_stray(log, n / 2 * 3, words[0], words[1], &before, err);
	if (!code && odd)
		code = is_stray(log, (3 * n + 1) / 2, words[1], words[2], &behind, err);
	else if (!code && n + 1 < log->count)
		code = is_stray(log, n / 2 * 3 + 1, words[2], word(raw, 4), &behind, err);
	if (!code)
		code = is_gap(log, n, words, &gap, err);
	if (code)
		return code;
	log->at++;
	const bool empty = !words[0] && !words[1] && !words[2];
	// A record is reported at its beginning.
	if (behind)
		set_switch(&log->pending[log->pending_count++], words[odd ? 1 : 2]);
	if ((before && !odd) || (gap && n == 0))
		set_switch(&log->pending[log->pending_count++], words[0]);
	if (gap)
		return 0;
	// The entry is lost; its thread is known if that word is whole.
	if (before || behind)
		*event = (struct tp_original_event){
		    .type = TP_ORIGINAL_LOST, .thread = behind ? 0 : words[2]};
	else if (words[0] & ~RETURNS && !words[1] && !words[2])
		set_switch(event, words[0]);
	else if (words[2])
		set_event(event, words[0], words[1], words[2]);
	else
		*event = (struct tp_original_event){.type = TP_ORIGINAL_LOST};
	// Of how many entries there are nothing is known: an empty one is none.
	return !(empty && log->guessed);
}

// The next entry: 1 and *event; 0: there is none in it; or a negative tp_error.
static int next_entry(
    struct tp_original_log *log, struct tp_original_event *event, struct tp_err *err)
{
	const uint64_t size = entry_size(&log->header);
	// One word more on both sides: before the first entry, that is the header's last one.
	const uint64_t more = log->threads ? 8 : 0;
	const uint64_t offset = TP_ORIGINAL_HEADER_SIZE + log->at * size - more;
	const uint8_t *raw =
	    bytes_at(log, offset, more + size + (log->at + 1 < log->count ? more : 0), err);
	if (!raw)
		return err->code;
	if (log->threads)
		return next_of_threads(log, event, raw, err);
	log->at++;
	const uint64_t first = word(raw, 0);
	const uint64_t function = word(raw, 1);
	if (!function && first & ~RETURNS)
		set_switch(event, first);
	else
		set_event(event, first, function, 0);
	return first || function || !log->guessed;
}

int tp_original_log_next(
    struct tp_original_log *log, struct tp_original_event *event, struct tp_err *err)
{
	int code = 0;
	while (!code && !log->pending_count && log->at < log->count)
		code = next_entry(log, event, err);
	if (code || !log->pending_count)
		return code;
	*event = log->pending[--log->pending_count];
	return 1;
}
