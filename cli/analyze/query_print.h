/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of a query on standard output, in one of four forms. */
#ifndef TP_QUERY_PRINT_H
#define TP_QUERY_PRINT_H

#include "common/buf.h"
#include "analyzer/query/query.h"

enum tp_query_format {
	TP_QUERY_TABLE = 0,
	TP_QUERY_CSV,
	TP_QUERY_JSON,
	TP_QUERY_TSV,
};

struct tp_query_printer {
	enum tp_query_format format;
	bool open; /* a result is being written */
	uint64_t results;
	uint64_t rows; /* of the last result */
	uint32_t columns;
	struct tp_buf names; /* NUL-ended */
	struct tp_buf out;
	/* A table: the first rows wait until it is known how wide its columns are. */
	struct tp_buf cells; /* NUL-ended */
	uint32_t *widths;    /* 0 until then */
	bool *right;         /* numbers only */
	uint64_t waiting;    /* rows in cells */
	bool printed_titles;
	bool failed; /* standard output takes no more, or no memory */
	int error;   /* if it has failed: errno of the write, 0 for memory */
};

void tp_query_printer_init(struct tp_query_printer *printer, enum tp_query_format format);
void tp_query_printer_release(struct tp_query_printer *printer);
/* To give to tp_query_run; the printer must stay where it is. */
struct tp_query_sink tp_query_printer_sink(struct tp_query_printer *printer);
/* Write what is left; after each tp_query_run. False: it could not be written: see error. */
bool tp_query_printer_finish(struct tp_query_printer *printer);

#endif
