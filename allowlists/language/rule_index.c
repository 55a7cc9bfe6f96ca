// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding the globs that match a text by pieces that the text contains.
#include "rule_index.h"

#include "common/array.h"
#include "common/err.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

// A piece has one of these sizes, so that a text is looked up five times per byte at most.
static const uint8_t piece_sizes[] = {1, 2, 3, 5, 8};
// How much likelier than an eight-byte piece a text is to contain one of each size, by rough
// measure.
static const uint8_t piece_costs[] = {64, 16, 4, 1, 1};
enum { PIECE_SIZE_COUNT = sizeof(piece_sizes) };

static uint64_t mix(uint64_t key, uint64_t size)
{
	key = (key ^ size * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
	key ^= key >> 32;
	return key * UINT64_C(0xc4ceb9fe1a85ec53);
}

// The first `size` bytes of `window`, whose lowest byte is the first.
static uint64_t cut(uint64_t window, uint32_t size)
{
	return size == 8 ? window : window & ((UINT64_C(1) << size * 8) - 1);
}

int tp_rule_index_add(struct tp_rule_index *index, const struct tp_glob *glob, uint64_t rank)
{
	if (!TP_GROW(index->rules, index->capacity, index->count + UINT64_C(1)))
		return TP_ERR_MEMORY;
	index->rules[index->count++] = (struct tp_rule){.glob = glob, .rank = rank};
	return 0;
}

/* ---- building ------------------------------------------------------------------------------- */

// How many globs have a piece, by its hash; collisions only make a choice a little worse.
struct tally {
	uint32_t *counts;
	uint32_t bits;
};

static uint32_t *tally_at(const struct tally *tally, uint64_t key, uint8_t size)
{
	return &tally->counts[mix(key, size) >> (64 - tally->bits)];
}

// The largest size of a piece in `length` bytes, its grade: an index in piece_sizes. pre: length >
// 0.
static uint32_t grade_of(size_t length)
{
	uint32_t grade = PIECE_SIZE_COUNT - 1;
	while (piece_sizes[grade] > length)
		grade--;
	return grade;
}

// Call `visit` for each piece of each run of literal bytes of a glob.
static void each_piece(const struct tp_glob *glob,
    void (*visit)(void *context, uint64_t key, uint32_t grade), void *context)
{
	for (size_t start = 0, end; start < glob->token_count; start = end + 1) {
		end = start;
		while (end < glob->token_count && glob->tokens[end] < TP_GLOB_ANY)
			end++;
		if (end == start)
			continue;
		const uint32_t grade = grade_of(end - start);
		uint64_t window = 0;
		for (size_t at = end; at-- > start;) {
			window = window << 8 | glob->tokens[at];
			if (end - at >= piece_sizes[grade])
				visit(context, cut(window, piece_sizes[grade]), grade);
		}
	}
}

static void count_piece(void *context, uint64_t key, uint32_t grade)
{
	++*tally_at(context, key, piece_sizes[grade]);
}

struct choice {
	const struct tally *tally;
	uint64_t cost; // of the best piece so far; 0: none
	uint64_t key;
	uint8_t size;
};

static void choose_piece(void *context, uint64_t key, uint32_t grade)
{
	struct choice *choice = context;
	const uint8_t size = piece_sizes[grade];
	const uint64_t cost = (uint64_t)*tally_at(choice->tally, key, size) * piece_costs[grade];
	if (choice->cost && cost >= choice->cost)
		return;
	choice->cost = cost;
	choice->key = key;
	choice->size = size;
}

static int by_falling_rank(const void *a, const void *b)
{
	const uint64_t left = ((const struct tp_rule *)a)->rank;
	const uint64_t right = ((const struct tp_rule *)b)->rank;
	return (left < right) - (left > right);
}

static uint32_t bucket_of(const struct tp_rule_table *table, uint64_t hash)
{
	return (uint32_t)(hash >> (64 - table->bits));
}

static uint32_t bit_of(const struct tp_rule_table *table, uint64_t hash)
{
	return (uint32_t)(hash & ((UINT64_C(8) << table->bits) - 1));
}

// Take those of `rules`, which are sorted, that belong into the table of whole texts or of pieces.
static int build_table(
    struct tp_rule_table *table, const struct tp_rule *rules, uint32_t count, bool whole)
{
	for (uint32_t i = 0; i < count; i++)
		table->count += rules[i].glob->literal == whole && (whole || rules[i].size);
	if (!table->count)
		return 0;
	table->bits = 4;
	while (table->bits < 30 && UINT32_C(1) << table->bits < table->count * UINT64_C(2))
		table->bits++;
	const uint32_t buckets = UINT32_C(1) << table->bits;
	table->rules = calloc(table->count, sizeof(*table->rules));
	table->starts = calloc((size_t)buckets + 2, sizeof(*table->starts));
	table->present = calloc(buckets / 8, sizeof(*table->present));
	if (!table->rules || !table->starts || !table->present)
		return TP_ERR_MEMORY;
	// Sizes two places ahead, then their sums; filling moves each sum to where its bucket ends,
	// which is where the next one starts.
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < count; i++) {
			const struct tp_rule *rule = &rules[i];
			if (rule->glob->literal != whole || (!whole && !rule->size))
				continue;
			const uint64_t hash = mix(rule->key, rule->size);
			const uint32_t bucket = bucket_of(table, hash);
			if (pass) {
				table->rules[table->starts[bucket + 1]++] = *rule;
				continue;
			}
			table->starts[bucket + 2]++;
			const uint32_t bit = bit_of(table, hash);
			table->present[bit / 64] |= UINT64_C(1) << bit % 64;
		}
		for (uint32_t b = 2; !pass && b < buckets + 2; b++)
			table->starts[b] += table->starts[b - 1];
	}
	return 0;
}

// Give each rule its key.
static int choose_keys(struct tp_rule_index *index)
{
	struct tally tally = {.bits = 10};
	while (tally.bits < 22 && UINT32_C(1) << tally.bits < index->count * UINT64_C(16))
		tally.bits++;
	tally.counts = calloc(UINT32_C(1) << tally.bits, sizeof(*tally.counts));
	if (!tally.counts)
		return TP_ERR_MEMORY;
	for (uint32_t i = 0; i < index->count; i++)
		if (!index->rules[i].glob->literal)
			each_piece(index->rules[i].glob, count_piece, &tally);
	for (uint32_t i = 0; i < index->count; i++) {
		struct tp_rule *rule = &index->rules[i];
		if (rule->glob->literal) {
			rule->key = tp_hash_bytes(TEEPERF_HASH_START,
			    (const char *)rule->glob->prefix, rule->glob->prefix_size);
			continue;
		}
		struct choice choice = {.tally = &tally};
		each_piece(rule->glob, choose_piece, &choice);
		rule->key = choice.key;
		rule->size = choice.size;
		index->rest_count += !choice.size;
	}
	free(tally.counts);
	return 0;
}

static void note_sizes(struct tp_rule_index *index)
{
	bool occurs[9] = {false};
	for (uint32_t i = 0; i < index->pieces.count; i++)
		occurs[index->pieces.rules[i].size] = true;
	for (uint8_t size = 1; size <= 8; size++)
		if (occurs[size])
			index->sizes[index->size_count++] = size;
}

int tp_rule_index_build(struct tp_rule_index *index)
{
	if (!index->count)
		return 0;
	int status = choose_keys(index);
	if (status)
		return status;
	qsort(index->rules, index->count, sizeof(*index->rules), by_falling_rank);
	status = build_table(&index->whole, index->rules, index->count, true);
	if (!status)
		status = build_table(&index->pieces, index->rules, index->count, false);
	if (!status && index->rest_count) {
		index->rest = calloc(index->rest_count, sizeof(*index->rest));
		if (!index->rest)
			return TP_ERR_MEMORY;
		uint32_t count = 0;
		for (uint32_t i = 0; i < index->count; i++)
			if (!index->rules[i].glob->literal && !index->rules[i].size)
				index->rest[count++] = index->rules[i];
	}
	if (status)
		return status;
	note_sizes(index);
	free(index->rules);
	index->rules = NULL;
	index->capacity = 0;
	return 0;
}

static void release_table(struct tp_rule_table *table)
{
	free(table->rules);
	free(table->starts);
	free(table->present);
}

void tp_rule_index_release(struct tp_rule_index *index)
{
	free(index->rules);
	free(index->rest);
	release_table(&index->whole);
	release_table(&index->pieces);
	*index = (struct tp_rule_index){0};
}

/* ---- searching ------------------------------------------------------------------------------ */

struct search {
	const struct tp_reading *readings;
	uint32_t count;
	uint64_t floor;
	uint64_t (*found)(void *context, uint64_t rank, uint64_t floor);
	void *context;
};

// Try a rule that may match.
static void try_rule(struct search *search, const struct tp_rule *rule)
{
	for (uint32_t i = 0; i < search->count; i++) {
		if (tp_glob_match(rule->glob, search->readings[i].text, search->readings[i].size)) {
			search->floor = search->found(search->context, rule->rank, search->floor);
			return;
		}
	}
}

static void look_up(
    struct search *search, const struct tp_rule_table *table, uint64_t key, uint8_t size)
{
	const uint64_t hash = mix(key, size);
	const uint32_t bit = bit_of(table, hash);
	if (!(table->present[bit / 64] >> bit % 64 & 1))
		return;
	const uint32_t bucket = bucket_of(table, hash);
	for (uint32_t i = table->starts[bucket]; i < table->starts[bucket + 1]; i++) {
		const struct tp_rule *rule = &table->rules[i];
		if (rule->rank <= search->floor)
			return;
		if (rule->key == key && rule->size == size)
			try_rule(search, rule);
	}
}

static void search_pieces(struct search *search, const struct tp_rule_index *index)
{
	const struct tp_reading *all = &search->readings[0];
	uint64_t window = 0;
	for (size_t at = all->size; at-- > 0;) {
		window = window << 8 | (unsigned char)all->text[at];
		for (uint32_t i = 0; i < index->size_count; i++) {
			const uint8_t size = index->sizes[i];
			if (size > all->size - at)
				break;
			look_up(search, &index->pieces, cut(window, size), size);
		}
	}
}

uint64_t tp_rule_index_search(const struct tp_rule_index *index, const struct tp_reading *readings,
    uint32_t count, uint64_t floor, uint64_t (*found)(void *context, uint64_t rank, uint64_t floor),
    void *context)
{
	struct search search = {readings, count, floor, found, context};
	if (!index->count || !count)
		return floor;
	for (uint32_t i = 0; index->whole.count && i < count; i++)
		look_up(&search, &index->whole,
		    tp_hash_bytes(TEEPERF_HASH_START, readings[i].text, readings[i].size), 0);
	if (index->pieces.count)
		search_pieces(&search, index);
	for (uint32_t i = 0; i < index->rest_count && index->rest[i].rank > search.floor; i++)
		try_rule(&search, &index->rest[i]);
	return search.floor;
}
