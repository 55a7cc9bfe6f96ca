// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pca: the first two steps of a principal component analysis: the mean of each row of a matrix, and
// the covariance of each two rows. Kept as whole numbers: the sum of a row instead of its mean, and
// the covariance times n(n-1), n being the number of columns.
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "phoenix.h"

enum { LARGEST = 1000 };

struct pca {
	size_t size; // rows and columns
	int32_t *elements;
	int64_t *row_sums;
	int64_t *covariances; // row I, column J for J <= I
	pthread_mutex_t mutex;
	size_t next_row; // that nobody has taken yet
};

static const int32_t *matrix_row(const struct pca *pca, size_t row)
{
	return &pca->elements[row * pca->size];
}

static void matrix_generate(struct pca *pca, uint64_t seed)
{
	struct phx_random random = {seed};
	for (size_t i = 0; i < pca->size * pca->size; i++)
		pca->elements[i] = (int32_t)phx_random_below(&random, LARGEST);
}

static void matrix_print(const struct pca *pca)
{
	for (size_t i = 0; i < pca->size; i++) {
		for (size_t j = 0; j < pca->size; j++)
			printf("%d%c", matrix_row(pca, i)[j], j + 1 < pca->size ? ' ' : '\n');
	}
}

static int64_t row_sum(const int32_t *row, size_t count)
{
	int64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += row[i];
	return sum;
}

static int64_t row_product(const int32_t *a, const int32_t *b, size_t count)
{
	int64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += (int64_t)a[i] * b[i];
	return sum;
}

static int64_t scaled_covariance(const struct pca *pca, size_t i, size_t j)
{
	const int64_t product = row_product(matrix_row(pca, i), matrix_row(pca, j), pca->size);
	return (int64_t)pca->size * product - pca->row_sums[i] * pca->row_sums[j];
}

static void add_up_rows(void *context, unsigned thread, size_t first, size_t end)
{
	struct pca *pca = context;
	(void)thread;
	for (size_t i = first; i < end; i++)
		pca->row_sums[i] = row_sum(matrix_row(pca, i), pca->size);
}

// False if all rows are taken. Rows are taken one at a time since later ones are more work.
static bool take_row(struct pca *pca, size_t *row)
{
	pthread_mutex_lock(&pca->mutex);
	*row = pca->next_row;
	const bool taken = *row < pca->size;
	if (taken)
		pca->next_row++;
	pthread_mutex_unlock(&pca->mutex);
	return taken;
}

static void compare_rows(void *context, unsigned thread, size_t first, size_t end)
{
	struct pca *pca = context;
	(void)thread;
	(void)first;
	(void)end;
	size_t i;
	while (take_row(pca, &i)) {
		for (size_t j = 0; j <= i; j++)
			pca->covariances[i * pca->size + j] = scaled_covariance(pca, i, j);
	}
}

static void result_print(const struct pca *pca)
{
	struct phx_checksum sum;
	phx_checksum_init(&sum);
	for (size_t i = 0; i < pca->size; i++)
		phx_checksum_number(&sum, (uint64_t)pca->row_sums[i]);
	double variance = 0;
	const double scale = (double)pca->size * (double)(pca->size - 1);
	for (size_t i = 0; i < pca->size; i++) {
		variance += (double)pca->covariances[i * pca->size + i] / scale;
		for (size_t j = 0; j <= i; j++)
			phx_checksum_number(&sum, (uint64_t)pca->covariances[i * pca->size + j]);
	}
	printf("pca variance=%.3f checksum=%016" PRIx64 "\n", variance, sum.value);
}

int main(int argc, char **argv)
{
	static const struct phx_program program = {
	    .name = "pca",
	    .unit = "rows and columns of the matrix",
	    .default_size = 1000,
	    .min_size = 2,
	    .max_size = 30000,
	};
	const struct phx_options options = phx_options_parse(argc, argv, &program);
	struct pca pca = {
	    .size = options.size,
	    .elements = phx_allocate(options.size * options.size, sizeof(*pca.elements)),
	    .row_sums = phx_allocate(options.size, sizeof(*pca.row_sums)),
	    .covariances = phx_allocate(options.size * options.size, sizeof(*pca.covariances)),
	    .mutex = PTHREAD_MUTEX_INITIALIZER,
	};
	matrix_generate(&pca, options.seed);
	if (options.dump_input) {
		matrix_print(&pca);
	} else {
		const struct phx_timer timer = phx_timer_start();
		phx_threads_run(options.threads, pca.size, add_up_rows, &pca);
		phx_threads_run(options.threads, pca.size, compare_rows, &pca);
		phx_timer_stop(&timer, program.name);
		result_print(&pca);
	}
	free(pca.elements);
	free(pca.row_sums);
	free(pca.covariances);
	return phx_finish();
}
