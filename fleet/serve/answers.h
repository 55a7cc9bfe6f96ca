/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What requests are answered with: /api/NAME, each by a function over the store. docs/fleet.md has
 * them.
 */
#ifndef TP_SERVE_ANSWERS_H
#define TP_SERVE_ANSWERS_H

#include "fleet/serve/store.h"
#include "fleet/serve/web.h"
#include "common/json.h"

/* A request, with the sets that it chooses. */
struct tp_serve_question {
	struct tp_serve_store *store;
	const struct tp_web_request *request;
	struct tp_serve_set a;
	struct tp_serve_set b;
	bool has_b; /* the request names one */
};

/* The value of the argument NAME, or NULL. */
const char *tp_serve_argument(const struct tp_web_request *request, const char *name);
/* A whole number of it, at most MOST; DEFAULT_VALUE if it is not given. TP_ERR_SYNTAX. */
int tp_serve_argument_count(const struct tp_web_request *request, const char *name,
    uint64_t default_value, uint64_t most, uint64_t *value, struct tp_err *err);
/* The same of a number from LOW to HIGH. */
int tp_serve_argument_real(const struct tp_web_request *request, const char *name,
    double default_value, double low, double high, double *value, struct tp_err *err);
/* KEY as text: numbers of JavaScript have 53 bits. */
void tp_serve_add_key(struct tp_json *json, const char *name, int64_t key);

/* Each adds a JSON object to OUT. 0 or a negative tp_error. */
int tp_serve_answer_runs(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err);
int tp_serve_answer_functions(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err);
int tp_serve_answer_compare(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err);
int tp_serve_answer_history(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err);
int tp_serve_answer_flame(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err);

#endif
