// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kmeans: group points around means by Lloyd's iteration: give each point to its nearest mean, move
// each mean to the middle of its points, until no point changes its group. Whole numbers
// throughout, so that the result does not depend on the order of additions.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phoenix.h"

enum {
	DIMENSIONS = 4,
	GROUPS = 24,
	SPREAD = 300, // of the points around the place that they are drawn from
	GRID = 1000,  // coordinates of these places
	MAX_ROUNDS = 40,
	NO_GROUP = GROUPS,
};

struct point {
	int32_t at[DIMENSIONS];
};

struct group_sum {
	uint64_t count;
	int64_t at[DIMENSIONS];
};

// What a thread finds out in one round.
struct partial {
	struct group_sum groups[GROUPS];
	uint64_t changes;
};

struct kmeans {
	size_t count;
	struct point *points;
	uint8_t *group_of; // of each point
	struct point means[GROUPS];
	struct partial *partials; // one per thread
	unsigned rounds;
};

static void points_generate(struct kmeans *kmeans, const struct phx_options *options)
{
	kmeans->count = options->size;
	kmeans->points = phx_allocate(kmeans->count, sizeof(*kmeans->points));
	kmeans->group_of = phx_allocate(kmeans->count, sizeof(*kmeans->group_of));
	struct phx_random random = {options->seed};
	struct point places[GROUPS];
	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned d = 0; d < DIMENSIONS; d++)
			places[g].at[d] = (int32_t)phx_random_below(&random, GRID);
	}
	for (size_t i = 0; i < kmeans->count; i++) {
		const struct point *place = &places[phx_random_below(&random, GROUPS)];
		for (unsigned d = 0; d < DIMENSIONS; d++)
			kmeans->points[i].at[d] =
			    place->at[d] + (int32_t)phx_random_below(&random, SPREAD);
	}
}

static void points_print(const struct kmeans *kmeans)
{
	for (size_t i = 0; i < kmeans->count; i++) {
		for (unsigned d = 0; d < DIMENSIONS; d++)
			printf("%d%c", kmeans->points[i].at[d], d + 1 < DIMENSIONS ? ' ' : '\n');
	}
}

static uint64_t squared_distance(const struct point *a, const struct point *b)
{
	uint64_t sum = 0;
	for (unsigned d = 0; d < DIMENSIONS; d++) {
		const int64_t difference = a->at[d] - b->at[d];
		sum += (uint64_t)(difference * difference);
	}
	return sum;
}

// Of several equally near the first.
static unsigned nearest_group(const struct point *point, const struct point *means)
{
	unsigned nearest = 0;
	uint64_t least = squared_distance(point, &means[0]);
	for (unsigned g = 1; g < GROUPS; g++) {
		const uint64_t distance = squared_distance(point, &means[g]);
		if (distance < least) {
			least = distance;
			nearest = g;
		}
	}
	return nearest;
}

static void group_sum_add(struct group_sum *sum, const struct point *point)
{
	sum->count++;
	for (unsigned d = 0; d < DIMENSIONS; d++)
		sum->at[d] += point->at[d];
}

static void group_sum_merge(struct group_sum *to, const struct group_sum *from)
{
	to->count += from->count;
	for (unsigned d = 0; d < DIMENSIONS; d++)
		to->at[d] += from->at[d];
}

static void assign_points(void *context, unsigned thread, size_t first, size_t end)
{
	struct kmeans *kmeans = context;
	struct partial *partial = &kmeans->partials[thread];
	memset(partial, 0, sizeof(*partial));
	for (size_t i = first; i < end; i++) {
		const struct point *point = &kmeans->points[i];
		const unsigned group = nearest_group(point, kmeans->means);
		if (group != kmeans->group_of[i]) {
			kmeans->group_of[i] = (uint8_t)group;
			partial->changes++;
		}
		group_sum_add(&partial->groups[group], point);
	}
}

// A group without points keeps its mean.
static void mean_move(struct point *mean, const struct group_sum *sum)
{
	if (!sum->count)
		return;
	for (unsigned d = 0; d < DIMENSIONS; d++)
		mean->at[d] = (int32_t)(sum->at[d] / (int64_t)sum->count);
}

static uint64_t move_means(struct kmeans *kmeans, unsigned threads)
{
	uint64_t changes = 0;
	for (unsigned t = 0; t < threads; t++)
		changes += kmeans->partials[t].changes;
	for (unsigned g = 0; g < GROUPS; g++) {
		struct group_sum sum = {0};
		for (unsigned t = 0; t < threads; t++)
			group_sum_merge(&sum, &kmeans->partials[t].groups[g]);
		mean_move(&kmeans->means[g], &sum);
	}
	return changes;
}

static void kmeans_compute(struct kmeans *kmeans, unsigned threads)
{
	kmeans->partials = phx_allocate(threads, sizeof(*kmeans->partials));
	memset(kmeans->group_of, NO_GROUP, kmeans->count);
	for (unsigned g = 0; g < GROUPS; g++)
		kmeans->means[g] = kmeans->points[kmeans->count * g / GROUPS];
	uint64_t changes;
	do {
		phx_threads_run(threads, kmeans->count, assign_points, kmeans);
		changes = move_means(kmeans, threads);
	} while (++kmeans->rounds < MAX_ROUNDS && changes);
	free(kmeans->partials);
}

static void result_print(const struct kmeans *kmeans)
{
	struct phx_checksum sum;
	phx_checksum_init(&sum);
	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned d = 0; d < DIMENSIONS; d++)
			phx_checksum_number(&sum, (uint64_t)kmeans->means[g].at[d]);
	}
	phx_checksum_bytes(&sum, kmeans->group_of, kmeans->count);
	printf("kmeans rounds=%u checksum=%016" PRIx64 "\n", kmeans->rounds, sum.value);
}

int main(int argc, char **argv)
{
	static const struct phx_program program = {
	    .name = "kmeans",
	    .unit = "points",
	    .default_size = 400000,
	    .min_size = GROUPS,
	    .max_size = 1 << 30,
	};
	const struct phx_options options = phx_options_parse(argc, argv, &program);
	struct kmeans kmeans = {0};
	points_generate(&kmeans, &options);
	if (options.dump_input) {
		points_print(&kmeans);
	} else {
		const struct phx_timer timer = phx_timer_start();
		kmeans_compute(&kmeans, options.threads);
		phx_timer_stop(&timer, program.name);
		result_print(&kmeans);
	}
	free(kmeans.points);
	free(kmeans.group_of);
	return phx_finish();
}
