/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sends an exported profile to a server of profiles over HTTP, with labels that say whose it is.
 *
 *	server     format  request
 *	Pyroscope  pprof   POST /push.v1.PusherService/Push, JSON (grafana/pyroscope,
 *                         api/push/v1/push.proto)
 *	Parca      pprof   POST /profiles/writeraw, JSON (parca-dev/parca,
 *                         proto/parca/profilestore/v1alpha1/profilestore.proto)
 *
 * Such servers cannot be asked what they have, and add up what they are sent. So a profile is sent
 * once, and again only if the server did not say that it has it.
 */
#ifndef TP_FLEET_PROFILE_PUSH_H
#define TP_FLEET_PROFILE_PUSH_H

#include "analyzer/profile/analysis.h"
#include "common/buf.h"

enum tp_profile_server {
	TP_PROFILE_PYROSCOPE = 0,
	TP_PROFILE_PARCA,
};

struct tp_profile_push {
	enum tp_profile_server server;
	const char *url; /* begins with http: or https:; the server's path is put behind it */
	/* "NAME=VALUE", tp_profile_label_check. They come before those of the trace. */
	const char *const *labels;
	uint32_t label_count;
	const char *user; /* NULL: nobody. With a password in a file, or without one */
	const char *password_file;
	const char *token_file; /* of a bearer; NULL: none */
	const char *tenant;     /* X-Scope-OrgID; NULL: none */
	const char *ca_file;
	uint32_t retries;
	/* Before each wait; may be NULL. */
	void (*retry)(void *context, const struct tp_err *err, double seconds);
	void *context;
};

struct tp_profile_pushed {
	uint64_t requests;
	uint64_t bytes; /* of the body */
	struct tp_buf url;
};

/*
 * Whether LABEL is "NAME=VALUE" with a name of letters, digits and '_' that does not begin with a
 * digit, as all of these servers take it, and a value.
 */
bool tp_profile_label_check(const char *label);
/*
 * The labels of a profile: those GIVEN, and from the trace those not given: service_name (the
 * program) and host. Sorted by name. 0 or TP_ERR_MEMORY; release it in any case.
 */
struct tp_profile_labels {
	char **items; /* "NAME=VALUE" */
	uint32_t count;
	uint32_t room;
};
int tp_profile_labels_init(struct tp_profile_labels *labels, const struct tp_analysis *analysis,
    const char *const *given, uint32_t given_count, struct tp_err *err);
void tp_profile_labels_release(struct tp_profile_labels *labels);

/* 0: the server has it. Else a negative tp_error. Release PUSHED in any case. */
int tp_profile_push(const struct tp_profile_push *push, const struct tp_buf *profile,
    struct tp_profile_pushed *pushed, struct tp_err *err);
void tp_profile_pushed_release(struct tp_profile_pushed *pushed);

#endif
