// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_match: which words of a long list are one of four that are known only encrypted. Each word
// is encrypted and compared with the four. Much of it is calls of tiny functions.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phoenix.h"

enum {
	KEYS = 4,
	VOCABULARY = 50000,
	OFFSET = 5, // by which the cipher moves a letter through the alphabet
};

// Encrypted.
struct key {
	size_t length;
	char letters[PHX_WORD_MAX];
};

// One word per line.
struct list {
	struct key keys[KEYS];
	struct phx_text text;
	size_t word_count;
};

struct word {
	const char *letters;
	size_t length;
};

// Aligned: neighbouring threads' counts must not share a cache line.
struct matches {
	_Alignas(64) uint64_t count[KEYS];
	uint64_t words;
};

struct job {
	const struct list *list;
	struct matches *matches; // one per thread
};

static char encrypt_letter(char letter)
{
	return (char)('a' + (letter - 'a' + OFFSET) % 26);
}

static void encrypt_word(const struct word *word, struct key *result)
{
	result->length = word->length;
	for (size_t i = 0; i < word->length; i++)
		result->letters[i] = encrypt_letter(word->letters[i]);
}

static struct list list_generate(const struct phx_options *options)
{
	struct list list = {.word_count = options->size};
	struct phx_random random = {options->seed};
	for (unsigned i = 0; i < KEYS; i++) {
		char letters[PHX_WORD_MAX];
		const struct word word = {
		    .letters = letters,
		    .length = phx_word_spell(phx_random_skewed(&random, VOCABULARY), letters),
		};
		encrypt_word(&word, &list.keys[i]);
	}
	for (size_t i = 0; i < list.word_count; i++) {
		phx_text_append_word(&list.text, phx_random_skewed(&random, VOCABULARY));
		phx_text_append(&list.text, "\n", 1);
	}
	return list;
}

// The encrypted keys, then the words.
static void list_print(const struct list *list)
{
	for (unsigned i = 0; i < KEYS; i++)
		printf("%.*s\n", (int)list->keys[i].length, list->keys[i].letters);
	fwrite(list->text.bytes, 1, list->text.length, stdout);
}

static bool keys_equal(const struct key *a, const struct key *b)
{
	return a->length == b->length && !memcmp(a->letters, b->letters, a->length);
}

// Take the word in front of *AT, and its end of line.
static struct word next_word(const char **at)
{
	struct word word = {.letters = *at};
	while ((*at)[word.length] != '\n')
		word.length++;
	*at += word.length + 1;
	return word;
}

static void match_word(const struct key *keys, const struct word *word, struct matches *matches)
{
	struct key encrypted;
	encrypt_word(word, &encrypted);
	for (unsigned i = 0; i < KEYS; i++) {
		if (keys_equal(&encrypted, &keys[i]))
			matches->count[i]++;
	}
	matches->words++;
}

// Where the first line begins that begins at or after byte OFFSET.
static const char *line_from(const struct phx_text *text, size_t offset)
{
	while (offset && offset < text->length && text->bytes[offset - 1] != '\n')
		offset++;
	return text->bytes + offset;
}

static void match_lines(void *context, unsigned thread, size_t first, size_t end)
{
	const struct job *job = context;
	const struct list *list = job->list;
	struct matches matches = {0};
	const char *at = line_from(&list->text, first);
	const char *stop = line_from(&list->text, end);
	while (at < stop) {
		const struct word word = next_word(&at);
		match_word(list->keys, &word, &matches);
	}
	job->matches[thread] = matches;
}

static void matches_merge(struct matches *to, const struct matches *from)
{
	for (unsigned i = 0; i < KEYS; i++)
		to->count[i] += from->count[i];
	to->words += from->words;
}

static struct matches list_match(const struct list *list, unsigned threads)
{
	struct job job = {.list = list};
	job.matches = aligned_alloc(_Alignof(struct matches), threads * sizeof(*job.matches));
	if (!job.matches) {
		perror("string_match: no memory for the counts");
		exit(1);
	}
	phx_threads_run(threads, list->text.length, match_lines, &job);
	struct matches sum = job.matches[0];
	for (unsigned i = 1; i < threads; i++)
		matches_merge(&sum, &job.matches[i]);
	free(job.matches);
	return sum;
}

static void matches_print(const struct matches *matches)
{
	struct phx_checksum sum;
	phx_checksum_init(&sum);
	uint64_t found = 0;
	for (unsigned i = 0; i < KEYS; i++) {
		found += matches->count[i];
		phx_checksum_number(&sum, matches->count[i]);
	}
	printf("string_match words=%" PRIu64 " found=%" PRIu64 " checksum=%016" PRIx64 "\n",
	    matches->words, found, sum.value);
}

int main(int argc, char **argv)
{
	static const struct phx_program program = {
	    .name = "string_match",
	    .unit = "words",
	    .default_size = 8000000,
	    .min_size = 1,
	    .max_size = 1 << 28,
	};
	const struct phx_options options = phx_options_parse(argc, argv, &program);
	struct list list = list_generate(&options);
	if (options.dump_input) {
		list_print(&list);
	} else {
		const struct phx_timer timer = phx_timer_start();
		const struct matches matches = list_match(&list, options.threads);
		phx_timer_stop(&timer, program.name);
		matches_print(&matches);
	}
	free(list.text.bytes);
	return phx_finish();
}
