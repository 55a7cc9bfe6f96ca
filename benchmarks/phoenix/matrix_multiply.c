// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matrix_multiply: the product of two square matrices of whole numbers. Each thread computes some
// rows of the product.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "phoenix.h"

enum { LARGEST = 100 }; // element, so that max_size products of two fit 32 bits

struct matrix {
	size_t size;
	int32_t *elements;
};

struct product {
	struct matrix left;
	struct matrix right;
	struct matrix result;
};

static struct matrix matrix_create(size_t size)
{
	return (struct matrix){
	    .size = size,
	    .elements = phx_allocate(size * size, sizeof(int32_t)),
	};
}

static int32_t *matrix_row(const struct matrix *matrix, size_t row)
{
	return &matrix->elements[row * matrix->size];
}

static void matrix_fill(struct matrix *matrix, struct phx_random *random)
{
	for (size_t i = 0; i < matrix->size * matrix->size; i++)
		matrix->elements[i] = (int32_t)phx_random_below(random, 2 * LARGEST + 1) - LARGEST;
}

static void matrix_print(const struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->size; i++) {
		for (size_t j = 0; j < matrix->size; j++)
			printf("%d%c", matrix_row(matrix, i)[j], j + 1 < matrix->size ? ' ' : '\n');
	}
}

// Row by row of the right matrix, in the order of memory.
static void multiply_row(const int32_t *left, const struct matrix *right, int32_t *result)
{
	for (size_t k = 0; k < right->size; k++) {
		const int32_t factor = left[k];
		const int32_t *row = matrix_row(right, k);
		for (size_t j = 0; j < right->size; j++)
			result[j] += factor * row[j];
	}
}

static void multiply_rows(void *context, unsigned thread, size_t first, size_t end)
{
	const struct product *product = context;
	(void)thread;
	for (size_t i = first; i < end; i++) {
		multiply_row(matrix_row(&product->left, i), &product->right,
		    matrix_row(&product->result, i));
	}
}

static void result_print(const struct matrix *matrix)
{
	struct phx_checksum sum;
	phx_checksum_init(&sum);
	int64_t trace = 0;
	for (size_t i = 0; i < matrix->size; i++) {
		const int32_t *row = matrix_row(matrix, i);
		trace += row[i];
		for (size_t j = 0; j < matrix->size; j++)
			phx_checksum_number(&sum, (uint64_t)row[j]);
	}
	printf("matrix_multiply trace=%" PRId64 " checksum=%016" PRIx64 "\n", trace, sum.value);
}

int main(int argc, char **argv)
{
	static const struct phx_program program = {
	    .name = "matrix_multiply",
	    .unit = "rows and columns of each matrix",
	    .default_size = 1000,
	    .min_size = 1,
	    .max_size = 30000,
	};
	const struct phx_options options = phx_options_parse(argc, argv, &program);
	struct product product = {
	    .left = matrix_create(options.size),
	    .right = matrix_create(options.size),
	    .result = matrix_create(options.size),
	};
	struct phx_random random = {options.seed};
	matrix_fill(&product.left, &random);
	matrix_fill(&product.right, &random);
	if (options.dump_input) {
		matrix_print(&product.left);
		matrix_print(&product.right);
	} else {
		const struct phx_timer timer = phx_timer_start();
		phx_threads_run(options.threads, options.size, multiply_rows, &product);
		phx_timer_stop(&timer, program.name);
		result_print(&product.result);
	}
	free(product.left.elements);
	free(product.right.elements);
	free(product.result.elements);
	return phx_finish();
}
