// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reverse_index: for each link in a set of HTML pages, the pages that contain it. Each thread emits
// the (link, page) pairs of its pages and sorts them; the sorted lists are merged into the index.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phoenix.h"

enum {
	TARGETS = 20000,    // of links, the more frequent ones first
	PARAGRAPHS = 24,    // of a page, at most
	SENTENCE_WORDS = 8, // before a link
	VOCABULARY = 4000,
	OLD_STYLE = 16, // one link in OLD_STYLE is written in upper case
};

struct pages {
	size_t count;
	size_t *ends; // of each page in the text
	struct phx_text text;
};

struct link {
	const char *target;
	size_t length;
};

struct pair {
	struct link link;
	size_t page;
};

struct pair_list {
	struct pair *pairs;
	size_t count;
	size_t capacity;
};

struct posting {
	struct link link;
	size_t first; // of its pages in the index
	size_t count;
};

struct index {
	struct posting *postings;
	size_t posting_count;
	size_t *pages;
	size_t page_count;
};

struct job {
	const struct pages *pages;
	struct pair_list *lists; // one per thread
};

static void generate_link(struct phx_text *text, struct phx_random *random)
{
	const bool old = !phx_random_below(random, OLD_STYLE);
	phx_text_append_string(text, old ? "<A HREF=\"" : "<a href=\"");
	const uint64_t target = phx_random_skewed(random, TARGETS);
	phx_text_append(text, "/", 1);
	phx_text_append_word(text, target % 64);
	phx_text_append(text, "/", 1);
	phx_text_append_word(text, target);
	phx_text_append_string(text, ".html\">");
	phx_text_append_word(text, target);
	phx_text_append_string(text, old ? "</A>" : "</a>");
}

static void generate_paragraph(struct phx_text *text, struct phx_random *random)
{
	phx_text_append_string(text, "<p class=\"text\">");
	for (unsigned i = 0; i < SENTENCE_WORDS; i++) {
		phx_text_append_word(text, phx_random_skewed(random, VOCABULARY));
		phx_text_append(text, " ", 1);
	}
	generate_link(text, random);
	phx_text_append_string(text, ".<br></p>\n");
}

static struct pages pages_generate(const struct phx_options *options)
{
	struct pages pages = {
	    .count = options->size,
	    .ends = phx_allocate(options->size, sizeof(*pages.ends)),
	};
	struct phx_random random = {options->seed};
	for (size_t i = 0; i < pages.count; i++) {
		phx_text_append_string(&pages.text, "<html><body>\n");
		const uint64_t paragraphs = phx_random_below(&random, PARAGRAPHS + 1);
		for (uint64_t p = 0; p < paragraphs; p++)
			generate_paragraph(&pages.text, &random);
		phx_text_append_string(&pages.text, "</body></html>\n");
		pages.ends[i] = pages.text.length;
	}
	return pages;
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Whether the text at AT begins with PREFIX, which is lower case, in either case.
static bool starts_with(const char *at, const char *end, const char *prefix)
{
	for (; *prefix; at++, prefix++) {
		if (at == end || to_lower(*at) != *prefix)
			return false;
	}
	return true;
}

// Find the next link from *AT on, and leave *AT behind it.
static bool next_link(const char **at, const char *end, struct link *link)
{
	static const char opening[] = "<a href=\"";
	while ((*at = memchr(*at, '<', (size_t)(end - *at)))) {
		if (!starts_with(*at, end, opening)) {
			++*at;
			continue;
		}
		link->target = *at + strlen(opening);
		const char *quote = memchr(link->target, '"', (size_t)(end - link->target));
		if (!quote)
			return false;
		link->length = (size_t)(quote - link->target);
		*at = quote;
		return true;
	}
	return false;
}

static int link_compare(const struct link *a, const struct link *b)
{
	const size_t shorter = a->length < b->length ? a->length : b->length;
	const int order = memcmp(a->target, b->target, shorter);
	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int pair_compare(const void *left, const void *right)
{
	const struct pair *a = left;
	const struct pair *b = right;
	const int order = link_compare(&a->link, &b->link);
	return order ? order : (a->page > b->page) - (a->page < b->page);
}

static void pair_list_emit(struct pair_list *list, const struct link *link, size_t page)
{
	if (list->count == list->capacity) {
		list->capacity = 2 * list->capacity + 1024;
		list->pairs = realloc(list->pairs, list->capacity * sizeof(*list->pairs));
		if (!list->pairs) {
			fprintf(stderr, "reverse_index: no memory for %zu links\n", list->capacity);
			exit(1);
		}
	}
	list->pairs[list->count++] = (struct pair){.link = *link, .page = page};
}

static void scan_page(const struct pages *pages, size_t page, struct pair_list *list)
{
	const char *at = pages->text.bytes + (page ? pages->ends[page - 1] : 0);
	const char *end = pages->text.bytes + pages->ends[page];
	struct link link;
	while (next_link(&at, end, &link))
		pair_list_emit(list, &link, page);
}

static void scan_pages(void *context, unsigned thread, size_t first, size_t end)
{
	const struct job *job = context;
	struct pair_list *list = &job->lists[thread];
	for (size_t i = first; i < end; i++)
		scan_page(job->pages, i, list);
	if (list->count)
		qsort(list->pairs, list->count, sizeof(*list->pairs), pair_compare);
}

// Add a pair that does not come before those that are in the index already.
static void index_add(struct index *index, const struct pair *pair)
{
	struct posting *last =
	    index->posting_count ? &index->postings[index->posting_count - 1] : NULL;
	if (!last || link_compare(&last->link, &pair->link)) {
		last = &index->postings[index->posting_count++];
		*last = (struct posting){.link = pair->link, .first = index->page_count};
	} else if (index->pages[index->page_count - 1] == pair->page) {
		return; // the same link twice on a page
	}
	index->pages[index->page_count++] = pair->page;
	last->count++;
}

// The list whose next pair comes first; NULL if all are at their ends.
static struct pair_list *first_list(struct pair_list *lists, unsigned count)
{
	struct pair_list *first = NULL;
	for (unsigned i = 0; i < count; i++) {
		if (!lists[i].count)
			continue;
		if (!first || pair_compare(lists[i].pairs, first->pairs) < 0)
			first = &lists[i];
	}
	return first;
}

// pre: each list is sorted.
static void index_merge(struct index *index, const struct pair_list *lists, unsigned count)
{
	struct pair_list *left = phx_allocate(count, sizeof(*left));
	memcpy(left, lists, count * sizeof(*left));
	struct pair_list *list;
	while ((list = first_list(left, count))) {
		index_add(index, list->pairs);
		list->pairs++;
		list->count--;
	}
	free(left);
}

static struct index index_compute(const struct pages *pages, unsigned threads)
{
	struct job job = {.pages = pages, .lists = phx_allocate(threads, sizeof(*job.lists))};
	phx_threads_run(threads, pages->count, scan_pages, &job);
	size_t pairs = 0;
	for (unsigned i = 0; i < threads; i++)
		pairs += job.lists[i].count;
	struct index index = {
	    .postings = phx_allocate(pairs, sizeof(*index.postings)),
	    .pages = phx_allocate(pairs, sizeof(*index.pages)),
	};
	index_merge(&index, job.lists, threads);
	for (unsigned i = 0; i < threads; i++)
		free(job.lists[i].pairs);
	free(job.lists);
	return index;
}

static void index_print(const struct index *index)
{
	struct phx_checksum sum;
	phx_checksum_init(&sum);
	size_t most = 0;
	for (size_t i = 0; i < index->posting_count; i++) {
		const struct posting *posting = &index->postings[i];
		phx_checksum_bytes(&sum, posting->link.target, posting->link.length);
		for (size_t p = 0; p < posting->count; p++)
			phx_checksum_number(&sum, index->pages[posting->first + p]);
		most = posting->count > most ? posting->count : most;
	}
	printf("reverse_index links=%zu pages=%zu most=%zu checksum=%016" PRIx64 "\n",
	    index->posting_count, index->page_count, most, sum.value);
}

int main(int argc, char **argv)
{
	static const struct phx_program program = {
	    .name = "reverse_index",
	    .unit = "pages",
	    .default_size = 60000,
	    .min_size = 1,
	    .max_size = 1 << 24,
	};
	const struct phx_options options = phx_options_parse(argc, argv, &program);
	struct pages pages = pages_generate(&options);
	if (options.dump_input) {
		fwrite(pages.text.bytes, 1, pages.text.length, stdout);
	} else {
		const struct phx_timer timer = phx_timer_start();
		struct index index = index_compute(&pages, options.threads);
		phx_timer_stop(&timer, program.name);
		index_print(&index);
		free(index.postings);
		free(index.pages);
	}
	free(pages.ends);
	free(pages.text.bytes);
	return phx_finish();
}
