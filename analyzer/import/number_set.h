/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers out of an untrusted file, each of which gets an index from 0 on when it is first seen. Nobody can
 * choose numbers that make it slow: where they go depends on a secret.
 */
#ifndef TP_NUMBER_SET_H
#define TP_NUMBER_SET_H

#include "common/index.h"

#include <stdint.h>

/* No index: see tp_number_set_add. */
#define TP_NUMBER_NONE UINT32_MAX

struct tp_number_set {
	uint64_t *items; /* by index */
	uint32_t count;
	uint32_t most; /* never more than these */
	uint32_t room; /* for items */
	struct tp_index index;
	uint64_t secret; /* odd */
	int failed;      /* TP_ERR_MEMORY if there was no memory for one, else 0; sticky */
};

/* For at most MOST numbers. Release it in the end. */
void tp_number_set_init(struct tp_number_set *set, uint32_t most);
void tp_number_set_release(struct tp_number_set *set);
/* The index of NUMBER; TP_NUMBER_NONE if it is new and there is no room for it. */
uint32_t tp_number_set_add(struct tp_number_set *set, uint64_t number);

#endif
