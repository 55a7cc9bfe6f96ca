/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A small web server by libmicrohttpd, which is looked for when it is needed. It answers GET alone,
 * to those who name it by a host that it was given (a page of somebody else's, whose name was made
 * to lead here, does not), one request a connection. A connection has a thread of its own and a
 * time in which its request must be there, and another in which it must take the answer: a slow
 * client holds up nobody else.
 */
#ifndef TP_SERVE_WEB_H
#define TP_SERVE_WEB_H

#include "common/buf.h"
#include "common/err.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
	TP_WEB_CONNECTIONS = 64,        /* at once */
	TP_WEB_REQUEST_MAX = 512 << 10, /* bytes of a request, more or less */
	TP_WEB_ARGUMENTS_MAX = 4096,
};

struct tp_web_argument {
	const char *name;
	const char *value; /* not NULL */
};

struct tp_web_request {
	const char *path; /* begins with '/'; as it was sent, but for %XX */
	const struct tp_web_argument *arguments;
	uint32_t argument_count;
};

struct tp_web_answer {
	uint32_t status;   /* 200 at first */
	const char *type;  /* a constant */
	const char *fixed; /* a constant; NULL: `body` has the answer */
	struct tp_buf body;
};

struct tp_web_options {
	const char *host; /* name or address to listen at */
	uint16_t port;    /* 0: one that is free */
	/* Further hosts that it is called by; NULL: none. */
	const char *const *names;
	uint32_t name_count;
	/* Called by several threads at once. */
	void (*answer)(
	    void *context, const struct tp_web_request *request, struct tp_web_answer *answer);
	void *context;
	/* The time for a request, and for an answer to be taken; 0: 20 and 300 s. For tests. */
	uint32_t request_s;
	uint32_t answer_s;
};

struct tp_web;

/*
 * 0; TP_ERR_NOT_FOUND: no libmicrohttpd; TP_ERR_SYSTEM, TP_ERR_MEMORY. The options' texts must
 * outlive it.
 */
int tp_web_start(struct tp_web **web, const struct tp_web_options *options, struct tp_err *err);
/* Its address. It lives as long as the server. */
const char *tp_web_url(const struct tp_web *web);
/* Whether others than this machine can reach it. */
bool tp_web_is_open(const struct tp_web *web);
/* End connections that have had their time: to be called once a second or so. */
void tp_web_tend(struct tp_web *web);
/* Waits for answers that are being made. WEB may be NULL. */
void tp_web_stop(struct tp_web *web);

#endif
