// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linear_regression: the line that fits a cloud of points best. Each thread adds up x, y, xx, yy
// and xy of its points; the line follows from the sums by least squares.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "phoenix.h"

struct point {
	uint8_t x;
	uint8_t y;
};

struct cloud {
	size_t count;
	struct point *points;
};

// Aligned: neighbouring threads' sums must not share a cache line.
struct sums {
	_Alignas(64) uint64_t x;
	uint64_t y;
	uint64_t xx;
	uint64_t yy;
	uint64_t xy;
};

struct line {
	double slope;
	double intercept;
	double fit; // square of the correlation
};

struct job {
	const struct cloud *cloud;
	struct sums *sums; // one per thread
};

// y is the mean of x and of a random number.
static struct cloud cloud_generate(const struct phx_options *options)
{
	struct cloud cloud = {
	    .count = options->size,
	    .points = phx_allocate(options->size, sizeof(*cloud.points)),
	};
	struct phx_random random = {options->seed};
	phx_random_fill(&random, cloud.points, cloud.count * sizeof(*cloud.points));
	for (size_t i = 0; i < cloud.count; i++)
		cloud.points[i].y = (uint8_t)((cloud.points[i].x + cloud.points[i].y) / 2);
	return cloud;
}

static void cloud_print(const struct cloud *cloud)
{
	for (size_t i = 0; i < cloud->count; i++)
		printf("%d %d\n", cloud->points[i].x, cloud->points[i].y);
}

static void sums_add_point(struct sums *sums, const struct point *point)
{
	const unsigned x = point->x;
	const unsigned y = point->y;
	sums->x += x;
	sums->y += y;
	sums->xx += x * x;
	sums->yy += y * y;
	sums->xy += x * y;
}

static void sums_merge(struct sums *to, const struct sums *from)
{
	to->x += from->x;
	to->y += from->y;
	to->xx += from->xx;
	to->yy += from->yy;
	to->xy += from->xy;
}

static void add_points(void *context, unsigned thread, size_t first, size_t end)
{
	const struct job *job = context;
	struct sums sums = {0};
	for (size_t i = first; i < end; i++)
		sums_add_point(&sums, &job->cloud->points[i]);
	job->sums[thread] = sums;
}

static struct sums cloud_add_up(const struct cloud *cloud, unsigned threads)
{
	struct job job = {.cloud = cloud};
	job.sums = aligned_alloc(_Alignof(struct sums), threads * sizeof(*job.sums));
	if (!job.sums) {
		perror("linear_regression: no memory for the sums");
		exit(1);
	}
	phx_threads_run(threads, cloud->count, add_points, &job);
	struct sums sum = job.sums[0];
	for (unsigned i = 1; i < threads; i++)
		sums_merge(&sum, &job.sums[i]);
	free(job.sums);
	return sum;
}

// A cloud without extent in x or y gives "nan", which is right: no line is the best.
static struct line line_fit(const struct sums *sums, size_t count)
{
	const double n = (double)count;
	const double x = (double)sums->x;
	const double y = (double)sums->y;
	const double xx = n * (double)sums->xx - x * x;
	const double yy = n * (double)sums->yy - y * y;
	const double xy = n * (double)sums->xy - x * y;
	const double slope = xy / xx;
	return (struct line){
	    .slope = slope,
	    .intercept = (y - slope * x) / n,
	    .fit = xy * xy / (xx * yy),
	};
}

static void result_print(const struct sums *sums, const struct line *line)
{
	struct phx_checksum sum;
	phx_checksum_init(&sum);
	phx_checksum_number(&sum, sums->x);
	phx_checksum_number(&sum, sums->y);
	phx_checksum_number(&sum, sums->xx);
	phx_checksum_number(&sum, sums->yy);
	phx_checksum_number(&sum, sums->xy);
	printf("linear_regression slope=%.6f intercept=%.6f fit=%.6f checksum=%016" PRIx64 "\n",
	    line->slope, line->intercept, line->fit, sum.value);
}

int main(int argc, char **argv)
{
	static const struct phx_program program = {
	    .name = "linear_regression",
	    .unit = "points",
	    .default_size = 96 << 20,
	    .min_size = 1,
	    .max_size = 1 << 30,
	};
	const struct phx_options options = phx_options_parse(argc, argv, &program);
	struct cloud cloud = cloud_generate(&options);
	if (options.dump_input) {
		cloud_print(&cloud);
	} else {
		const struct phx_timer timer = phx_timer_start();
		const struct sums sums = cloud_add_up(&cloud, options.threads);
		const struct line line = line_fit(&sums, cloud.count);
		phx_timer_stop(&timer, program.name);
		result_print(&sums, &line);
	}
	free(cloud.points);
	return phx_finish();
}
