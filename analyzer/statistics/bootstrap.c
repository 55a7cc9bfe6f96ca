// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bootstrap.h"

#include "common/array.h"

#include <stdlib.h>

// Random numbers that are the same everywhere (SplitMix64, Steele, Lea and Flood 2014), as of
// python/teeperf/experiment/grid.py.
static uint64_t next_number(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

// From 0 to BELOW - 1, each alike.
static uint64_t draw(uint64_t *state, uint64_t below)
{
	// The remainder at the end of the range would favour small numbers.
	const uint64_t usable = UINT64_MAX - UINT64_MAX % below;
	uint64_t number;
	do
		number = next_number(state);
	while (number >= usable);
	return number % below;
}

// The value at position AT of what was drawn TIMES times each.
static double at_position(const double *sorted, const uint32_t *times, uint32_t at)
{
	uint32_t i = 0;
	for (uint32_t passed = times[0]; passed <= at; passed += times[i])
		i++;
	return sorted[i];
}

bool tp_bootstrap_median(
    const double *sorted, uint32_t count, uint64_t seed, double *low, double *high)
{
	// Positions of 2.5 % and 97.5 % among the sorted medians.
	enum { LOW = (TP_BOOTSTRAP_SAMPLES + 1) / 40 - 1, HIGH = TP_BOOTSTRAP_SAMPLES - 1 - LOW };
	if (count < TP_BOOTSTRAP_LEAST)
		return false;
	double *medians = malloc(TP_BOOTSTRAP_SAMPLES * sizeof(*medians));
	uint32_t *times = malloc(count * sizeof(*times));
	for (uint32_t i = 0; medians && times && i < TP_BOOTSTRAP_SAMPLES; i++) {
		for (uint32_t j = 0; j < count; j++)
			times[j] = 0;
		// The sample has the order of the values, so nothing has to be sorted.
		for (uint32_t j = 0; j < count; j++)
			times[draw(&seed, count)]++;
		const double upper = at_position(sorted, times, count / 2);
		medians[i] =
		    count % 2 ? upper : at_position(sorted, times, count / 2 - 1) / 2 + upper / 2;
	}
	const bool ok = medians && times;
	if (ok) {
		qsort(medians, TP_BOOTSTRAP_SAMPLES, sizeof(*medians), tp_compare_double);
		*low = medians[LOW];
		*high = medians[HIGH];
	}
	free(times);
	free(medians);
	return ok;
}
