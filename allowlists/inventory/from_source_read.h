/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads one source file with libclang: what the process of a file does. */
#ifndef TP_FROM_SOURCE_READ_H
#define TP_FROM_SOURCE_READ_H

#include "common/buf.h"
#include "from_source.h"
#include "from_source_clang.h"

/* What is said of a file before its functions. */
struct tp_from_source_report {
	struct tp_from_source_counts counts; /* of this file; lost if it could not be read */
	char error[512];                     /* the first, or "" */
	uint64_t text_size;                  /* of the inventory's text */
};

/*
 * Read what COMMAND of libclang's database compiles, in its folder, and append the inventory's text.
 * Changes the folder of the process.
 */
void tp_from_source_read(const struct tp_clang *clang, void *command, bool system,
    struct tp_from_source_report *report, struct tp_buf *text);

#endif
