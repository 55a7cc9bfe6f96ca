// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spelling.h"

#include <string.h>

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Optimal string alignment, of which only the diagonal band that can stay within MOST is computed:
 * cell [d] of a row is column row + d - most.
 */
uint32_t tp_spelling_distance(const char *a, const char *b, uint32_t most)
{
	const size_t a_size = strlen(a);
	const size_t b_size = strlen(b);
	const uint32_t over = most + 1;
	if ((a_size > b_size ? a_size - b_size : b_size - a_size) > most)
		return over;
	const uint32_t band = 2 * most + 1;
	uint32_t rows[3][2 * TP_SPELLING_MOST + 2];
	for (size_t row = 0; row <= a_size; row++) {
		uint32_t *now = rows[row % 3];
		const uint32_t *last = rows[(row + 2) % 3];
		const uint32_t *before = rows[(row + 1) % 3];
		uint32_t best = over;
		for (uint32_t d = 0; d < band; d++) {
			const size_t column = row + d - most; // wraps below 0 to above b_size
			now[d] = over;
			if (row + d < most || column > b_size)
				continue;
			if (row == 0) {
				now[d] = smaller((uint32_t)column, over);
			} else {
				if (column == 0)
					now[d] = smaller((uint32_t)row, over);
				else
					now[d] = last[d] + (a[row - 1] != b[column - 1]);
				if (d + 1 < band)
					now[d] = smaller(now[d], last[d + 1] + 1);
				if (d > 0 && column > 0)
					now[d] = smaller(now[d], now[d - 1] + 1);
				if (row > 1 && column > 1 && a[row - 1] == b[column - 2] &&
				    a[row - 2] == b[column - 1])
					now[d] = smaller(now[d], before[d] + 1);
			}
			best = smaller(best, now[d]);
		}
		if (best >= over)
			return over;
	}
	return smaller(rows[a_size % 3][b_size + most - a_size], over);
}

void tp_spelling_consider(struct tp_spelling *spelling, const char *word)
{
	const size_t size = strlen(spelling->word);
	if (spelling->nearest && !spelling->distance)
		return;
	const uint32_t most = spelling->nearest ? spelling->distance - 1
			      : size < 3        ? 1
			      : size < 6        ? 2
						: 3;
	const uint32_t distance = tp_spelling_distance(spelling->word, word, most);
	// Where no letter is left of it, it is another word.
	if (distance > most || distance >= strlen(word))
		return;
	spelling->distance = distance;
	spelling->nearest = word;
}

const char *tp_spelling_nearest(const char *word, const char *const *words)
{
	struct tp_spelling spelling = {.word = word};
	for (uint32_t i = 0; words[i]; i++)
		tp_spelling_consider(&spelling, words[i]);
	return spelling.nearest;
}
