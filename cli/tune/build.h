/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The builds of teeperf autotune: made by the user's command, checked, and kept beside the original
 * so that each can be put in its place for a run. A product is an ELF file that the command makes.
 */
#ifndef TP_AUTOTUNE_BUILD_H
#define TP_AUTOTUNE_BUILD_H

#include "common/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define TP_AUTOTUNE_PRODUCTS_MAX 16

enum tp_autotune_variant {
	TP_AUTOTUNE_NATIVE = 0,
	TP_AUTOTUNE_COUNT,
	TP_AUTOTUNE_EVENT,
	TP_AUTOTUNE_LIST, /* instrumented by the list that is being tried */
	TP_AUTOTUNE_BEST, /* ... by the best one so far */
	TP_AUTOTUNE_FROM, /* what was there before: a profile that is given is of it */
	TP_AUTOTUNE_VARIANTS,
};

struct tp_autotune_product {
	char path[PATH_MAX];
	struct stat before; /* the build; all zero if it was not there */
};

struct tp_autotune_builder {
	char *const *argv;
	const char *clock; /* TEEPERF_CLOCK for the compiler, NULL: as it is */
	const char *log;   /* file for what the build command prints */
	bool idle;         /* builds take only what others leave of the machine */
	struct tp_autotune_product products[TP_AUTOTUNE_PRODUCTS_MAX];
	uint32_t product_count;
	bool kept[TP_AUTOTUNE_VARIANTS];
	bool any_built;
	enum tp_autotune_variant built;  /* by the last command that succeeded */
	enum tp_autotune_variant placed; /* what the products are now */
	char lists[64]; /* hash of the allowlists of the last build, as its inventory tells */
};

/* The products: files, or with a plain name programs along PATH; they need not be there yet. */
int tp_autotune_builder_init(struct tp_autotune_builder *builder, const char *const *products,
    uint32_t product_count, struct tp_err *err);

/*
 * Run the build command for this variant, with the allowlist LIST (absolute path; NULL: none), see
 * that all has been built anew, and keep a copy. The error says what to do.
 */
int tp_autotune_builder_build(struct tp_autotune_builder *builder, enum tp_autotune_variant variant,
    const char *list, struct tp_err *err);

/* Keep the products as they are, before anything is built, as TP_AUTOTUNE_FROM. */
int tp_autotune_builder_keep_from(struct tp_autotune_builder *builder, struct tp_err *err);

/* Make the products those of a variant that is kept. */
int tp_autotune_builder_place(
    struct tp_autotune_builder *builder, enum tp_autotune_variant variant, struct tp_err *err);

/* The variant LIST is the best one now. */
int tp_autotune_builder_accept(struct tp_autotune_builder *builder, struct tp_err *err);

/* Leave the products as the last build made them, and nothing beside them. */
void tp_autotune_builder_release(struct tp_autotune_builder *builder);

#endif
