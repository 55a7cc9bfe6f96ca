// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding a command in a table, and what to say if it is not there.
#include "table.h"

#include <string.h>

// The last word of a command's name, by which it is called.
static const char *word_of(const struct tp_command *command)
{
	const char *blank = strrchr(command->name, ' ');
	return blank ? blank + 1 : command->name;
}

const struct tp_command *tp_command_find(
    const struct tp_command *const *table, unsigned count, const char *word)
{
	for (unsigned i = 0; i < count; i++) {
		if (!strcmp(word_of(table[i]), word))
			return table[i];
	}
	return NULL;
}

// Levenshtein distance, of names cut to the table's width.
static unsigned edit_distance(const char *a, const char *b)
{
	enum { WIDTH = 32 };
	unsigned row[WIDTH + 1];
	const size_t columns = strnlen(b, WIDTH);
	for (unsigned j = 0; j <= columns; j++)
		row[j] = j;
	for (unsigned i = 0; a[i] && i < WIDTH; i++) {
		unsigned diagonal = row[0];
		row[0] = i + 1;
		for (unsigned j = 0; j < columns; j++) {
			unsigned best = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			if (best > diagonal + 1)
				best = diagonal + 1;
			if (best > row[j] + 1)
				best = row[j] + 1;
			row[j + 1] = best;
		}
	}
	return row[columns];
}

int tp_command_unknown(
    const char *parent, const struct tp_command *const *table, unsigned count, const char *word)
{
	const char *nearest = NULL;
	unsigned least = 3; // further away is no likely slip
	for (unsigned i = 0; i < count; i++) {
		const char *name = word_of(table[i]);
		const unsigned distance = edit_distance(word, name);
		if (distance < least && distance < strlen(name)) {
			least = distance;
			nearest = name;
		}
	}
	fprintf(stderr, "%s: unknown command '%s'", parent, word);
	if (nearest)
		fprintf(stderr, "; did you mean '%s'?", nearest);
	fprintf(stderr, "\nTry '%s --help'.\n", parent);
	return TP_EXIT_USAGE;
}

void tp_command_list(const struct tp_command *const *table, unsigned count, FILE *to)
{
	for (unsigned i = 0; i < count; i++)
		fprintf(to, "  %-12s %s\n", word_of(table[i]), table[i]->summary);
}
