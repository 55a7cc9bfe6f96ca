/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Posts to a server by libcurl, which is looked for when it is needed: no other command loads it
 * with all that it brings.
 */
#ifndef TP_FLEET_HTTP_H
#define TP_FLEET_HTTP_H

#include "common/buf.h"
#include "common/err.h"

struct tp_http {
	struct tp_http_library *library;
	void *curl;
	void *headers; /* struct curl_slist */
	char *url;
};

/* How to reach it. */
struct tp_http_server {
	const char *url;            /* begins with http: or https:; no user in it */
	const char *ca_file;        /* certificates that are believed; NULL: the system's */
	const char *const *headers; /* "Name: value": sent each time; NULL at the end */
};

/* 0; TP_ERR_NOT_FOUND: no libcurl; TP_ERR_MEMORY. Close it in any case. */
int tp_http_open(struct tp_http *http, const struct tp_http_server *server, struct tp_err *err);
void tp_http_close(struct tp_http *http);
/*
 * Post a BODY; the answer's body is added to ANSWER, its status in *STATUS. TP_ERR_SYSTEM: there
 * was no answer, or not all of it: whether the server has carried out the request is not known.
 * TP_ERR_FORMAT: trying again is in vain.
 */
int tp_http_post(struct tp_http *http, const struct tp_buf *body, struct tp_buf *answer,
    long *status, struct tp_err *err);

/* How often a request is made, and who is notified. */
struct tp_http_tries {
	uint32_t retries; /* after 0.5, 1, 2, 4 ... 30 seconds */
	/* Before each wait; may be NULL. */
	void (*retry)(void *context, const struct tp_err *err, double seconds);
	/* Sets ERR to what an answer with a status other than 200 means, and returns its code. */
	int (*refused)(void *context, long status, const struct tp_buf *answer, struct tp_err *err);
	void *context;
	uint64_t requests;
	uint64_t repeated; /* of those */
};

/*
 * The same until the server has taken it with status 200. No answer, and status 5xx, 408 and 429,
 * are tried again. *ERR says why it was not taken, and what was answered stays in ANSWER.
 */
int tp_http_send(struct tp_http *http, const struct tp_buf *body, struct tp_buf *answer,
    struct tp_http_tries *tries, struct tp_err *err);

/* The first line of an ANSWER, as a terminal can show it: what servers say of an error. */
void tp_http_first_line(char *out, size_t size, const struct tp_buf *answer);
/*
 * The first line of the file PATH, which has WHAT ("the password"), behind what SECRET has. 0 or a
 * negative tp_error. Forget it with tp_http_secret_release.
 */
int tp_http_secret_read(
    struct tp_buf *secret, const char *path, const char *what, struct tp_err *err);
void tp_http_secret_release(struct tp_buf *secret);

#endif
