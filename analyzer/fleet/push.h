/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Puts the runs of a folder into ClickHouse, over HTTP, once each.
 *
 * The complete runs of a day and program whose ids are not in the server's table `runs` go
 * together: all their rows in the other tables, then those in `runs`. A push that ends before that
 * is done again as a whole, and its rows replace those that came before.
 */
#ifndef TP_FLEET_PUSH_H
#define TP_FLEET_PUSH_H

#include "analyzer/fleet/folder.h"

struct tp_fleet_pushed {
	uint64_t runs;
	uint64_t already; /* runs that were there */
	uint64_t rows;
	uint64_t bytes; /* as they were sent */
	uint64_t requests;
	uint64_t repeated; /* of those */
};

struct tp_fleet_push {
	const char *directory;
	const char *url;           /* it begins with http: or https: */
	const char *database;      /* tp_clickhouse_is_name */
	const char *user;          /* NULL: the server's own */
	const char *password_file; /* the password is its first line; NULL: none */
	const char *ca_file;
	uint64_t batch_bytes; /* rows are sent when they are more than that */
	uint32_t retries;     /* of each request, after 0.5, 1, 2, 4 ... 30 seconds */
	/* After each day and program; may be NULL. */
	void (*each)(void *context, const char *day, const char *program, uint64_t runs,
	    uint64_t rows, uint64_t rest);
	/* Before each wait; may be NULL. */
	void (*retry)(void *context, const struct tp_err *err, double seconds);
	void *context;
};

/* 0 or a negative tp_error: the runs that were counted are there. */
int tp_fleet_push_runs(
    const struct tp_fleet_push *push, struct tp_fleet_pushed *pushed, struct tp_err *err);

#endif
