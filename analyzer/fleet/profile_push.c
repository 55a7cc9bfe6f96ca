// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sends an exported profile to a server of profiles.
//
// Rejected: Pyroscope's POST /ingest, whose labels are in the URL as name{a=b,c=d}, where no value
// can have a ',' or '}'; and gRPC, for which a program would need HTTP/2 and a library more.
#define _GNU_SOURCE
#include "profile_push.h"

#include "analyzer/fleet/http.h"
#include "common/array.h"
#include "common/base64.h"
#include "common/bytes.h"
#include "common/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct protocol {
	const char *name;
	const char *path;
	const char *content_type;
	const char *header; // one more; NULL: none
};

static const struct protocol protocols[] = {
    [TP_PROFILE_PYROSCOPE] = {"Pyroscope", "/push.v1.PusherService/Push",
	"Content-Type: application/json", "Connect-Protocol-Version: 1"},
    [TP_PROFILE_PARCA] =
	{
	    "Parca",
	    "/profiles/writeraw",
	    "Content-Type: application/json",
	    NULL,
	},
};

// ---- labels

static size_t name_length(const char *label)
{
	return strcspn(label, "=");
}

bool tp_profile_label_check(const char *label)
{
	const size_t length = name_length(label);
	const size_t plain =
	    strspn(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return length && plain == length && (*label < '0' || *label > '9') &&
	       label[length] == '=' && label[length + 1];
}

static bool add_label(struct tp_profile_labels *labels, const char *name, const char *value)
{
	const size_t size = strlen(name);
	for (uint32_t i = 0; i < labels->count; i++)
		if (name_length(labels->items[i]) == size &&
		    strncmp(labels->items[i], name, size) == 0)
			return true;
	if (!*value)
		return true;
	if (!TP_GROW(labels->items, labels->room, labels->count + UINT64_C(1)))
		return false;
	char *item;
	if (asprintf(&item, "%s=%s", name, value) < 0)
		return false;
	labels->items[labels->count++] = item;
	return true;
}

static int compare_labels(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int tp_profile_labels_init(struct tp_profile_labels *labels, const struct tp_analysis *analysis,
    const char *const *given, uint32_t given_count, struct tp_err *err)
{
	char host[256];
	bool ok = true;
	*labels = (struct tp_profile_labels){0};
	for (uint32_t i = 0; ok && i < given_count; i++) {
		char name[256];
		const size_t length = name_length(given[i]);
		snprintf(name, sizeof(name), "%.*s", (int)length, given[i]);
		ok = add_label(labels, name, given[i] + length + 1);
	}
	if (!tp_tracefile_host(analysis->trace, "host", host, sizeof(host)))
		*host = '\0';
	ok = ok && add_label(labels, "service_name", tp_tracefile_program(analysis->trace));
	ok = ok && add_label(labels, "host", host);
	if (labels->count)
		qsort(labels->items, labels->count, sizeof(*labels->items), compare_labels);
	return ok ? 0 : tp_err_memory(err, NULL);
}

void tp_profile_labels_release(struct tp_profile_labels *labels)
{
	for (uint32_t i = 0; i < labels->count; i++)
		free(labels->items[i]);
	free(labels->items);
	*labels = (struct tp_profile_labels){0};
}

static void put_label(struct tp_json *json, const char *name, size_t size, const char *value)
{
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_add(&text, name, size);
	tp_json_object(json, NULL);
	tp_json_text(json, "name", text.data);
	tp_json_text(json, "value", value);
	tp_json_end(json);
	json->out->failed |= text.failed;
	tp_buf_release(&text);
}

static void put_labels(struct tp_json *json, const struct tp_profile_push *push)
{
	bool named = false;
	for (uint32_t i = 0; i < push->label_count; i++)
		named |= strncmp(push->labels[i], "__name__=", 9) == 0;
	tp_json_array(json, "labels");
	// Both servers demand this one: what kind of profile it is.
	if (!named)
		put_label(json, "__name__", 8, "teeperf");
	for (uint32_t i = 0; i < push->label_count; i++) {
		const size_t length = name_length(push->labels[i]);
		put_label(json, push->labels[i], length, push->labels[i] + length + 1);
	}
	tp_json_end(json);
}

// ---- requests

// A UUID (RFC 9562, version 8) of the profile's bytes, so that a profile that is sent again has the
// same one.
static void put_id(struct tp_json *json, const struct tp_buf *profile)
{
	char text[40];
	const XXH128_hash_t hash = XXH3_128bits(profile->data, profile->size);
	const uint64_t high = (hash.high64 & ~UINT64_C(0xf000)) | 0x8000;
	const uint64_t low = (hash.low64 & ~(UINT64_C(3) << 62)) | UINT64_C(1) << 63;
	snprintf(text, sizeof(text),
	    "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64, high >> 32,
	    high >> 16 & 0xffff, high & 0xffff, low >> 48, low & UINT64_C(0xffffffffffff));
	tp_json_text(json, "ID", text);
}

static void add_request(
    const struct tp_profile_push *push, const struct tp_buf *profile, struct tp_buf *body)
{
	const bool parca = push->server == TP_PROFILE_PARCA;
	struct tp_json json;
	tp_json_init(&json, body, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_array(&json, "series");
	tp_json_object(&json, NULL);
	if (parca)
		tp_json_object(&json, "labels");
	put_labels(&json, push);
	if (parca)
		tp_json_end(&json);
	tp_json_array(&json, "samples");
	tp_json_object(&json, NULL);
	if (!parca)
		put_id(&json, profile);
	tp_json_value(&json, "rawProfile");
	tp_buf_add_char(body, '"');
	tp_base64_add(body, profile->data, profile->size);
	tp_buf_add_char(body, '"');
	for (int i = 0; i < 5; i++)
		tp_json_end(&json);
}

static void add_url(
    const struct tp_profile_push *push, const struct protocol *protocol, struct tp_buf *url)
{
	size_t size = strlen(push->url);
	const size_t tail = strlen(protocol->path);
	while (size && push->url[size - 1] == '/')
		size--;
	tp_buf_add(url, push->url, size);
	// Some documents have the whole address, some the server's alone.
	if (size < tail || strncmp(push->url + size - tail, protocol->path, tail) != 0)
		tp_buf_add_string(url, protocol->path);
}

static int add_authorization(
    struct tp_buf *header, const struct tp_profile_push *push, struct tp_err *err)
{
	struct tp_buf secret;
	int code = 0;
	tp_buf_init(&secret);
	if (push->token_file) {
		tp_buf_add_string(header, "Authorization: Bearer ");
		code = tp_http_secret_read(header, push->token_file, "the token", err);
	} else if (push->user) {
		tp_buf_addf(&secret, "%s:", push->user);
		if (push->password_file)
			code =
			    tp_http_secret_read(&secret, push->password_file, "the password", err);
		tp_buf_add_string(header, "Authorization: Basic ");
		tp_base64_add(header, secret.data, secret.size);
		header->failed |= secret.failed;
	}
	tp_http_secret_release(&secret);
	return code;
}

static int open_server(struct tp_http *http, const struct tp_profile_push *push,
    const struct protocol *protocol, const char *url, struct tp_err *err)
{
	struct tp_buf authorization;
	struct tp_buf tenant;
	const char *headers[6] = {protocol->content_type};
	uint32_t count = 1;
	tp_buf_init(&authorization);
	tp_buf_init(&tenant);
	if (protocol->header)
		headers[count++] = protocol->header;
	int code = add_authorization(&authorization, push, err);
	if (authorization.size)
		headers[count++] = authorization.data;
	if (push->tenant) {
		tp_buf_addf(&tenant, "X-Scope-OrgID: %s", push->tenant);
		headers[count++] = tenant.data;
	}
	const struct tp_http_server server = {
	    .url = url, .ca_file = push->ca_file, .headers = headers};
	if (!code && (authorization.failed || tenant.failed))
		code = tp_err_memory(err, url);
	if (!code)
		code = tp_http_open(http, &server, err);
	tp_http_secret_release(&authorization);
	tp_buf_release(&tenant);
	return code;
}

// ---- answers

struct work {
	const struct tp_profile_push *push;
	const struct protocol *protocol;
	const char *url;
};

// What to do about it.
static const char *remedy(const struct work *work, long status, const char *message)
{
	if (strstr(message, "ingestion window"))
		return ": the server does not accept profiles of recordings this old: push them "
		       "sooner, or raise its limit (Pyroscope: reject_older_than)";
	if (status == 401 || status == 403)
		return ": authenticate with --user and --password-file, or --token-file";
	if (status == 404 || status == 405 || status == 415)
		return work->push->server == TP_PROFILE_PYROSCOPE
			   ? ": is this a Pyroscope server? For Parca, give --server parca"
			   : ": is this a Parca server? For Pyroscope, give --server pyroscope";
	if (status == 413 || strstr(message, "limit") || strstr(message, "too large"))
		return ": raise the server's limit, or make the profile smaller with --depth, "
		       "--min-time or --focus";
	if (status >= 300 && status < 400)
		return ": give the server's current address";
	return "";
}

static int refused(void *context, long status, const struct tp_buf *answer, struct tp_err *err)
{
	const struct work *work = context;
	char message[200];
	tp_http_first_line(message, sizeof(message), answer);
	return tp_err_set(err, TP_ERR_NOT_FOUND, work->url, "HTTP status %ld%s%s%s", status,
	    *message ? ": " : "", message, remedy(work, status, message));
}

static void tell_retry(void *context, const struct tp_err *err, double seconds)
{
	const struct work *work = context;
	if (work->push->retry)
		work->push->retry(work->push->context, err, seconds);
}

int tp_profile_push(const struct tp_profile_push *push, const struct tp_buf *profile,
    struct tp_profile_pushed *pushed, struct tp_err *err)
{
	const struct protocol *protocol = &protocols[push->server];
	struct tp_http http = {0};
	struct tp_buf answer;
	struct tp_buf body;
	*pushed = (struct tp_profile_pushed){0};
	tp_buf_init(&pushed->url);
	tp_buf_init(&answer);
	tp_buf_init(&body);
	add_url(push, protocol, &pushed->url);
	add_request(push, profile, &body);
	struct work work = {push, protocol, pushed->url.data};
	struct tp_http_tries tries = {
	    .retries = push->retries,
	    .retry = tell_retry,
	    .refused = refused,
	    .context = &work,
	};
	int code = 0;
	if (pushed->url.failed || body.failed)
		code = tp_err_memory(err, push->url);
	if (!code)
		code = open_server(&http, push, protocol, pushed->url.data, err);
	if (!code)
		code = tp_http_send(&http, &body, &answer, &tries, err);
	pushed->requests = tries.requests;
	pushed->bytes = body.size;
	tp_http_close(&http);
	tp_buf_release(&answer);
	tp_buf_release(&body);
	return code;
}

void tp_profile_pushed_release(struct tp_profile_pushed *pushed)
{
	tp_buf_release(&pushed->url);
}
