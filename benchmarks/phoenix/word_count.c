// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// word_count: how often each word occurs in a text, and which is the most frequent. Upper and lower
// case are the same. Each thread counts the words of its part in a hash table of its own; the
// tables are merged and sorted.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "phoenix.h"

enum {
	VOCABULARY = 60000,
	SENTENCE = 12, // words, on average
	LINE = 72,     // letters, and the rest of a word
	FIRST_SLOTS = 1024,
};

// Letters are those of the text, in either case.
struct word {
	const char *letters;
	size_t length;
};

struct entry {
	struct word word; // without letters: a free slot
	uint64_t hash;
	uint64_t count;
};

// Open addressing, at most half full.
struct table {
	struct entry *slots;
	size_t slot_count; // a power of 2
	size_t used;
};

struct job {
	const struct phx_text *text;
	struct table *tables; // one per thread
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static struct phx_text text_generate(const struct phx_options *options)
{
	struct phx_text text = {0};
	struct phx_random random = {options->seed};
	size_t line_start = 0;
	bool capital = true;
	for (size_t i = 0; i < options->size; i++) {
		const size_t start = text.length;
		phx_text_append_word(&text, phx_random_skewed(&random, VOCABULARY));
		if (capital)
			text.bytes[start] = (char)(text.bytes[start] - 'a' + 'A');
		capital = !phx_random_below(&random, SENTENCE);
		if (capital)
			phx_text_append(&text, ".", 1);
		if (text.length - line_start < LINE) {
			phx_text_append(&text, " ", 1);
		} else {
			phx_text_append(&text, "\n", 1);
			line_start = text.length;
		}
	}
	return text;
}

static uint64_t word_hash(const struct word *word)
{
	uint64_t hash = 5381;
	for (size_t i = 0; i < word->length; i++)
		hash = hash * 33 + (unsigned char)to_lower(word->letters[i]);
	return hash ^ hash >> 17;
}

// Below, equal to, above 0 as A is before, the same as, after B.
static int word_compare(const struct word *a, const struct word *b)
{
	for (size_t i = 0; i < a->length && i < b->length; i++) {
		const char left = to_lower(a->letters[i]);
		const char right = to_lower(b->letters[i]);
		if (left != right)
			return left < right ? -1 : 1;
	}
	return (a->length > b->length) - (a->length < b->length);
}

static void table_init(struct table *table, size_t slot_count)
{
	*table = (struct table){
	    .slots = phx_allocate(slot_count, sizeof(*table->slots)),
	    .slot_count = slot_count,
	};
}

// The slot that holds the word, or the free one where it belongs.
static struct entry *table_find(const struct table *table, const struct word *word, uint64_t hash)
{
	const size_t mask = table->slot_count - 1;
	size_t i = hash & mask;
	for (;;) {
		struct entry *entry = &table->slots[i];
		if (!entry->word.letters)
			return entry;
		if (entry->hash == hash && !word_compare(&entry->word, word))
			return entry;
		i = (i + 1) & mask;
	}
}

static void table_grow(struct table *table)
{
	struct table larger;
	table_init(&larger, 2 * table->slot_count);
	for (size_t i = 0; i < table->slot_count; i++) {
		const struct entry *entry = &table->slots[i];
		if (entry->word.letters)
			*table_find(&larger, &entry->word, entry->hash) = *entry;
	}
	larger.used = table->used;
	free(table->slots);
	*table = larger;
}

static void table_add(struct table *table, const struct word *word, uint64_t hash, uint64_t count)
{
	struct entry *entry = table_find(table, word, hash);
	entry->count += count;
	if (entry->word.letters)
		return;
	entry->word = *word;
	entry->hash = hash;
	if (++table->used > table->slot_count / 2)
		table_grow(table);
}

static void table_merge(struct table *to, const struct table *from)
{
	for (size_t i = 0; i < from->slot_count; i++) {
		const struct entry *entry = &from->slots[i];
		if (entry->word.letters)
			table_add(to, &entry->word, entry->hash, entry->count);
	}
}

// Take the next word before END, or nothing: a word without letters.
static struct word next_word(const char **at, const char *end)
{
	while (*at < end && !is_letter(**at))
		++*at;
	struct word word = {.letters = *at};
	while (*at < end && is_letter(**at))
		++*at;
	word.length = (size_t)(*at - word.letters);
	return word;
}

// The first place at or after OFFSET that is not amidst a word.
static const char *place_between_words(const struct phx_text *text, size_t offset)
{
	while (offset && offset < text->length && is_letter(text->bytes[offset - 1]) &&
	       is_letter(text->bytes[offset]))
		offset++;
	return text->bytes + offset;
}

static void count_words(void *context, unsigned thread, size_t first, size_t end)
{
	const struct job *job = context;
	struct table *table = &job->tables[thread];
	table_init(table, FIRST_SLOTS);
	const char *at = place_between_words(job->text, first);
	const char *stop = place_between_words(job->text, end);
	for (;;) {
		const struct word word = next_word(&at, stop);
		if (!word.length)
			break;
		table_add(table, &word, word_hash(&word), 1);
	}
}

// The most frequent first, then by alphabet; free slots last.
static int entry_compare(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return word_compare(&a->word, &b->word);
}

static struct table text_count_words(const struct phx_text *text, unsigned threads)
{
	struct job job = {.text = text, .tables = phx_allocate(threads, sizeof(*job.tables))};
	phx_threads_run(threads, text->length, count_words, &job);
	struct table table = job.tables[0];
	for (unsigned i = 1; i < threads; i++) {
		table_merge(&table, &job.tables[i]);
		free(job.tables[i].slots);
	}
	free(job.tables);
	qsort(table.slots, table.slot_count, sizeof(*table.slots), entry_compare);
	return table;
}

static void checksum_add_word(struct phx_checksum *sum, const struct word *word)
{
	for (size_t i = 0; i < word->length; i++) {
		const char letter = to_lower(word->letters[i]);
		phx_checksum_bytes(sum, &letter, 1);
	}
}

// pre: sorted.
static void table_print(const struct table *table)
{
	struct phx_checksum sum;
	phx_checksum_init(&sum);
	uint64_t words = 0;
	for (size_t i = 0; i < table->used; i++) {
		checksum_add_word(&sum, &table->slots[i].word);
		phx_checksum_number(&sum, table->slots[i].count);
		words += table->slots[i].count;
	}
	printf("word_count words=%" PRIu64 " distinct=%zu top=", words, table->used);
	for (size_t i = 0; i < table->slots[0].word.length; i++)
		putchar(to_lower(table->slots[0].word.letters[i]));
	printf(":%" PRIu64 " checksum=%016" PRIx64 "\n", table->slots[0].count, sum.value);
}

int main(int argc, char **argv)
{
	static const struct phx_program program = {
	    .name = "word_count",
	    .unit = "words",
	    .default_size = 6000000,
	    .min_size = 1,
	    .max_size = 1 << 28,
	};
	const struct phx_options options = phx_options_parse(argc, argv, &program);
	struct phx_text text = text_generate(&options);
	if (options.dump_input) {
		fwrite(text.bytes, 1, text.length, stdout);
	} else {
		const struct phx_timer timer = phx_timer_start();
		struct table table = text_count_words(&text, options.threads);
		phx_timer_stop(&timer, program.name);
		table_print(&table);
		free(table.slots);
	}
	free(text.bytes);
	return phx_finish();
}
