// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling and matching globs.
#include "glob.h"

#include "common/buf.h"
#include "common/err.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	GROUPS_MAX = 11, // each doubles the expansions at least: the eleventh exceeds their limit
	TERMS_MAX = TP_GLOB_EXPANSIONS_MAX, // with two or more in a group, their sum is no larger
};

#define TOO_MANY "the braces expand to more than 1024 globs; use several lines"

// A brace group of the text; its globs start and end at the offsets in `terms` of the scan.
struct group {
	size_t start; // of '{'
	size_t end;   // behind '}'
	uint32_t first_term;
	uint32_t term_count;
};

struct scan {
	const char *text;
	size_t size;
	struct group groups[GROUPS_MAX];
	uint32_t group_count;
	size_t terms[TERMS_MAX][2]; // start and end of each
	uint32_t term_count;
	uint64_t expansions;
	struct tp_glob_error *error;
};

static int fail(struct scan *scan, size_t offset, const char *what)
{
	*scan->error = (struct tp_glob_error){.offset = offset, .what = what};
	return TP_ERR_SYNTAX;
}

static bool is_negated(const char *set, size_t size)
{
	return size && (set[0] == '^' || set[0] == '!');
}

// The offset of the ']' that closes the set opened at text[open], or 0. The first byte of a set is
// never the closing one; the '^' of a negated set counts as the first byte, as in LLVM.
static size_t set_end(const char *text, size_t size, size_t open)
{
	if (size - open <= 2)
		return 0;
	const char *close = memchr(text + open + 2, ']', size - open - 2);
	return close ? (size_t)(close - text) : 0;
}

static void set_add(uint8_t bits[32], unsigned char byte)
{
	bits[byte >> 3] |= (uint8_t)(1 << (byte & 7));
}

// Fill `bits` from what stands between the brackets; false if a range is empty.
static bool set_fill(uint8_t bits[32], const char *set, size_t size)
{
	memset(bits, 0, 32);
	const bool negated = is_negated(set, size);
	if (negated) {
		set++;
		size--;
	}
	for (size_t i = 0; i < size; i++) {
		const unsigned char first = (unsigned char)set[i];
		unsigned char last = first;
		if (i + 2 < size && set[i + 1] == '-') {
			last = (unsigned char)set[i + 2];
			i += 2;
		}
		if (first > last)
			return false;
		for (unsigned int byte = first; byte <= last; byte++)
			set_add(bits, (unsigned char)byte);
	}
	for (int i = 0; negated && i < 32; i++)
		bits[i] = (uint8_t)~bits[i];
	return true;
}

// Whether a set, which ends at its first ']', was meant to contain a class: "[[:alpha:]]".
static bool has_class(const char *set, size_t size)
{
	if (size < 4 || set[size - 1] != ':')
		return false;
	size_t at = size - 1;
	while (at && set[at - 1] >= 'a' && set[at - 1] <= 'z')
		at--;
	return at >= 2 && at < size - 1 && set[at - 1] == ':' && set[at - 2] == '[';
}

static int scan_set(struct scan *scan, size_t *at)
{
	const size_t end = set_end(scan->text, scan->size, *at);
	if (!end)
		return fail(scan, *at, "'[' without ']'; write '\\[' for the character itself");
	if (has_class(scan->text + *at + 1, end - *at - 1))
		return fail(scan, *at,
		    "classes such as [:alpha:] are not supported; write a set such as [a-zA-Z]");
	uint8_t bits[32];
	if (!set_fill(bits, scan->text + *at + 1, end - *at - 1))
		return fail(scan, *at, "a range in this set ends before it starts");
	*at = end;
	return 0;
}

static int add_term(struct scan *scan, size_t start, size_t end)
{
	if (scan->term_count == TERMS_MAX)
		return fail(scan, end, TOO_MANY);
	scan->terms[scan->term_count][0] = start;
	scan->terms[scan->term_count][1] = end;
	scan->term_count++;
	scan->groups[scan->group_count].term_count++;
	return 0;
}

static int close_group(struct scan *scan, size_t at)
{
	struct group *group = &scan->groups[scan->group_count];
	if (group->term_count < 2)
		return fail(scan, group->start,
		    "braces around fewer than two globs; expected '{a,b}', or '\\{' for the "
		    "character itself");
	group->end = at + 1;
	scan->expansions *= group->term_count;
	if (scan->expansions > TP_GLOB_EXPANSIONS_MAX)
		return fail(scan, group->start, TOO_MANY);
	scan->group_count++;
	return 0;
}

// Check the syntax and find the brace groups.
static int scan_text(struct scan *scan)
{
	bool inside = false;
	size_t term = 0;
	for (size_t i = 0; i < scan->size; i++) {
		const char c = scan->text[i];
		int status = 0;
		if (c == '[') {
			status = scan_set(scan, &i);
		} else if (c == '\\') {
			if (++i == scan->size)
				return fail(scan, i - 1,
				    "nothing after '\\'; write '\\\\' for the character itself");
		} else if (c == '{') {
			if (inside)
				return fail(scan, i, "braces within braces are not supported");
			assert(scan->group_count < GROUPS_MAX);
			scan->groups[scan->group_count] =
			    (struct group){.start = i, .first_term = scan->term_count};
			inside = true;
			term = i + 1;
		} else if (inside && (c == ',' || c == '}')) {
			status = add_term(scan, term, i);
			term = i + 1;
			if (!status && c == '}') {
				status = close_group(scan, i);
				inside = false;
			}
		}
		if (status)
			return status;
	}
	return inside ? fail(scan, scan->groups[scan->group_count].start,
			    "'{' without '}'; write '\\{' for the character itself")
		      : 0;
}

static void count_sizes(struct tp_glob *glob)
{
	while (glob->prefix_size < glob->token_count &&
	       glob->tokens[glob->prefix_size] < TP_GLOB_ANY) {
		glob->prefix[glob->prefix_size] = (unsigned char)glob->tokens[glob->prefix_size];
		glob->prefix_size++;
	}
	glob->literal = glob->prefix_size == glob->token_count;
	for (size_t i = 0; i < glob->token_count; i++) {
		if (glob->tokens[i] == TP_GLOB_STAR)
			glob->tail = i + 1;
		else
			glob->min_size++;
	}
}

// Compile text that has been scanned, without braces of its own; NULL if memory ran out.
static struct tp_glob *glob_create(const char *text, size_t size)
{
	size_t set_count = 0;
	for (size_t i = 0; i < size; i++)
		set_count += text[i] == '[';
	// One block: sets, then tokens, then prefix and a NUL; none needs more than the text has
	// bytes.
	struct tp_glob *glob = calloc(1, sizeof(*glob) + set_count * 32 + size * 3 + 1);
	if (!glob)
		return NULL;
	glob->sets = (uint8_t(*)[32])(glob + 1);
	glob->tokens = (uint16_t *)(void *)(glob->sets + set_count);
	glob->prefix = (unsigned char *)(glob->tokens + size);

	size_t sets = 0;
	for (size_t i = 0; i < size; i++) {
		uint16_t token = (unsigned char)text[i];
		if (text[i] == '*') {
			if (glob->token_count &&
			    glob->tokens[glob->token_count - 1] == TP_GLOB_STAR)
				continue;
			token = TP_GLOB_STAR;
		} else if (text[i] == '?') {
			token = TP_GLOB_ANY;
		} else if (text[i] == '\\') {
			token = (unsigned char)text[++i];
		} else if (text[i] == '[') {
			const size_t end = set_end(text, size, i);
			set_fill(glob->sets[sets], text + i + 1, end - i - 1);
			token = (uint16_t)(TP_GLOB_SET + sets++);
			i = end;
		}
		glob->tokens[glob->token_count++] = token;
	}
	count_sizes(glob);
	return glob;
}

// Write the text that expansion number `number` stands for; the last group's globs change fastest.
static void expand(const struct scan *scan, uint64_t number, struct tp_buf *buf)
{
	uint64_t divisor = scan->expansions;
	size_t at = 0;
	for (uint32_t g = 0; g < scan->group_count; g++) {
		const struct group *group = &scan->groups[g];
		divisor /= group->term_count;
		const uint64_t chosen = group->first_term + number / divisor % group->term_count;
		const size_t *term = scan->terms[chosen];
		tp_buf_add(buf, scan->text + at, group->start - at);
		tp_buf_add(buf, scan->text + term[0], term[1] - term[0]);
		at = group->end;
	}
	tp_buf_add(buf, scan->text + at, scan->size - at);
}

static int compile(struct tp_globs *globs, const struct scan *scan)
{
	globs->items = calloc(scan->expansions, sizeof(struct tp_glob *));
	if (!globs->items)
		return TP_ERR_MEMORY;
	struct tp_buf buf;
	tp_buf_init(&buf);
	bool failed = false;
	for (uint64_t i = 0; !failed && i < scan->expansions; i++) {
		tp_buf_reset(&buf);
		expand(scan, i, &buf);
		struct tp_glob *glob = buf.failed ? NULL : glob_create(buf.data, buf.size);
		failed = !glob;
		if (glob)
			globs->items[globs->count++] = glob;
	}
	tp_buf_release(&buf);
	return failed ? TP_ERR_MEMORY : 0;
}

int tp_globs_compile(
    struct tp_globs *globs, const char *text, size_t size, struct tp_glob_error *error)
{
	*globs = (struct tp_globs){0};
	struct scan *scan = calloc(1, sizeof(*scan));
	if (!scan)
		return TP_ERR_MEMORY;
	scan->text = text;
	scan->size = size;
	scan->expansions = 1;
	scan->error = error;
	// A token has 16 bits, which cannot distinguish more sets than this.
	int status = size > UINT16_MAX - TP_GLOB_SET
			 ? fail(scan, UINT16_MAX - TP_GLOB_SET, "the glob is too long")
			 : scan_text(scan);
	if (!status)
		status = compile(globs, scan);
	free(scan);
	return status;
}

void tp_globs_release(struct tp_globs *globs)
{
	for (uint32_t i = 0; i < globs->count; i++)
		free(globs->items[i]);
	free(globs->items);
	*globs = (struct tp_globs){0};
}

bool tp_globs_match(const struct tp_globs *globs, const char *text, size_t size)
{
	for (uint32_t i = 0; i < globs->count; i++)
		if (tp_glob_match(globs->items[i], text, size))
			return true;
	return false;
}

bool tp_glob_token_has(const struct tp_glob *glob, uint16_t token, unsigned char byte)
{
	if (token < TP_GLOB_ANY)
		return token == byte;
	return token == TP_GLOB_ANY ||
	       (glob->sets[token - TP_GLOB_SET][byte >> 3] >> (byte & 7) & 1);
}

// The first place in bytes[at, end) where the tokens behind a star may match, or end.
static size_t next_start(
    const struct tp_glob *glob, size_t token, const unsigned char *bytes, size_t at, size_t end)
{
	if (glob->tokens[token] >= TP_GLOB_ANY)
		return at;
	const unsigned char *found = memchr(bytes + at, glob->tokens[token], end - at);
	return found ? (size_t)(found - bytes) : end;
}

/*
 * Prefix and tail first, since they reject most texts. Between them the classic walk: when a token
 * fails, the last star takes one byte more. Earlier stars need no second look, because what stood
 * between them and the last star was matched as early as it can be.
 */
bool tp_glob_match(const struct tp_glob *glob, const char *text, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)text;
	if (size < glob->min_size || memcmp(bytes, glob->prefix, glob->prefix_size) != 0)
		return false;
	if (glob->literal)
		return size == glob->prefix_size;

	const size_t tail_size = glob->token_count - glob->tail;
	if (!glob->tail && size != glob->token_count)
		return false;
	for (size_t i = 0; i < tail_size; i++) {
		if (!tp_glob_token_has(
			glob, glob->tokens[glob->tail + i], bytes[size - tail_size + i]))
			return false;
	}
	if (!glob->tail)
		return true;

	// tokens[tail - 1] is the last star: whatever is left when it is reached belongs to it.
	const size_t end = size - tail_size;
	size_t token = glob->prefix_size;
	size_t at = glob->prefix_size;
	size_t retry_token = 0;
	size_t retry_at = 0;
	while (token != glob->tail - 1) {
		if (glob->tokens[token] == TP_GLOB_STAR) {
			retry_token = ++token;
			retry_at = at = next_start(glob, token, bytes, at, end);
		} else if (at < end && tp_glob_token_has(glob, glob->tokens[token], bytes[at])) {
			token++;
			at++;
		} else if (retry_token && retry_at < end) {
			token = retry_token;
			retry_at = at = next_start(glob, token, bytes, retry_at + 1, end);
		} else {
			return false;
		}
	}
	return true;
}
