// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// histogram: how often each level of each colour occurs in a bitmap. Each thread counts its pixels
// for itself; the counts are added up at the end.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "phoenix.h"

enum { LEVELS = 256 };

// As in a 24-bit bitmap file.
struct pixel {
	uint8_t blue;
	uint8_t green;
	uint8_t red;
};

struct bitmap {
	size_t count;
	struct pixel *pixels;
};

struct histogram {
	uint64_t red[LEVELS];
	uint64_t green[LEVELS];
	uint64_t blue[LEVELS];
};

struct job {
	const struct bitmap *bitmap;
	struct histogram *histograms; // one per thread
};

static struct bitmap bitmap_generate(const struct phx_options *options)
{
	struct bitmap bitmap = {
	    .count = options->size,
	    .pixels = phx_allocate(options->size, sizeof(*bitmap.pixels)),
	};
	struct phx_random random = {options->seed};
	phx_random_fill(&random, bitmap.pixels, bitmap.count * sizeof(*bitmap.pixels));
	return bitmap;
}

static void bitmap_print(const struct bitmap *bitmap)
{
	for (size_t i = 0; i < bitmap->count; i++) {
		const struct pixel *pixel = &bitmap->pixels[i];
		printf("%d %d %d\n", pixel->red, pixel->green, pixel->blue);
	}
}

static void histogram_add_pixel(struct histogram *histogram, const struct pixel *pixel)
{
	histogram->red[pixel->red]++;
	histogram->green[pixel->green]++;
	histogram->blue[pixel->blue]++;
}

static void add_levels(uint64_t *to, const uint64_t *from)
{
	for (unsigned i = 0; i < LEVELS; i++)
		to[i] += from[i];
}

static void histogram_merge(struct histogram *to, const struct histogram *from)
{
	add_levels(to->red, from->red);
	add_levels(to->green, from->green);
	add_levels(to->blue, from->blue);
}

static void count_pixels(void *context, unsigned thread, size_t first, size_t end)
{
	const struct job *job = context;
	struct histogram *histogram = &job->histograms[thread];
	for (size_t i = first; i < end; i++)
		histogram_add_pixel(histogram, &job->bitmap->pixels[i]);
}

static struct histogram histogram_compute(const struct bitmap *bitmap, unsigned threads)
{
	struct job job = {
	    .bitmap = bitmap,
	    .histograms = phx_allocate(threads, sizeof(*job.histograms)),
	};
	phx_threads_run(threads, bitmap->count, count_pixels, &job);
	struct histogram sum = job.histograms[0];
	for (unsigned i = 1; i < threads; i++)
		histogram_merge(&sum, &job.histograms[i]);
	free(job.histograms);
	return sum;
}

static unsigned most_frequent(const uint64_t *levels)
{
	unsigned best = 0;
	for (unsigned i = 1; i < LEVELS; i++) {
		if (levels[i] > levels[best])
			best = i;
	}
	return best;
}

static void histogram_print(const struct histogram *histogram)
{
	struct phx_checksum sum;
	phx_checksum_init(&sum);
	for (unsigned i = 0; i < LEVELS; i++)
		phx_checksum_number(&sum, histogram->red[i]);
	for (unsigned i = 0; i < LEVELS; i++)
		phx_checksum_number(&sum, histogram->green[i]);
	for (unsigned i = 0; i < LEVELS; i++)
		phx_checksum_number(&sum, histogram->blue[i]);
	printf("histogram red=%u green=%u blue=%u checksum=%016" PRIx64 "\n",
	    most_frequent(histogram->red), most_frequent(histogram->green),
	    most_frequent(histogram->blue), sum.value);
}

int main(int argc, char **argv)
{
	static const struct phx_program program = {
	    .name = "histogram",
	    .unit = "pixels",
	    .default_size = 48 << 20,
	    .min_size = 1,
	    .max_size = 1 << 30,
	};
	const struct phx_options options = phx_options_parse(argc, argv, &program);
	struct bitmap bitmap = bitmap_generate(&options);
	if (options.dump_input) {
		bitmap_print(&bitmap);
	} else {
		const struct phx_timer timer = phx_timer_start();
		const struct histogram histogram = histogram_compute(&bitmap, options.threads);
		phx_timer_stop(&timer, program.name);
		histogram_print(&histogram);
	}
	free(bitmap.pixels);
	return phx_finish();
}
