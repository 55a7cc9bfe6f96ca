/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Posts to a server by libcurl, which is looked for when it is needed: no other command loads it with all that it brings.
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
 * Post a BODY; the answer's body is added to ANSWER, its status in *STATUS. TP_ERR_SYSTEM: there was no answer, or not
 * all of it: whether the server has done what it was told is not known. TP_ERR_FORMAT: trying again is in vain.
 */
int tp_http_post(struct tp_http *http, const struct tp_buf *body, struct tp_buf *answer,
    long *status, struct tp_err *err);

#endif
