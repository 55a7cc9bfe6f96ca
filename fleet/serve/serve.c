// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fleet served: pages, and answers by name.
#include "serve.h"

#include "store.h"

#include "fleet/serve/pages.h"
#include "analyzer/output/report/report.h"
#include "analyzer/output/text.h"
#include "common/json.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tp_serve {
	struct tp_serve_options options;
	struct tp_web *web;
	pthread_mutex_t lock; // of the store: one answer is made at a time
	struct tp_serve_store store;
};

// ---- pages

static void add_start(struct tp_buf *out, const char *title)
{
	tp_buf_add_string(out,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/report.css\">\n"
	    "<link rel=\"stylesheet\" href=\"/fleet.css\">\n<title>");
	tp_buf_add_string(out, title);
	tp_buf_add_string(out, " \xe2\x80\x93 TeePerf</title>\n</head>\n");
}

static void add_fleet_page(struct tp_buf *out)
{
	add_start(out, "Fleet");
	tp_buf_addf(out,
	    "<body class=\"fleet\">\n%s%s<script src=\"/fleet.js\"></script>\n</body>\n</html>\n",
	    tp_fleet_before, tp_fleet_behind);
}

// The page of the report, which gets its data from here.
static void add_set_page(struct tp_buf *out)
{
	add_start(out, "Set of runs");
	tp_buf_addf(out,
	    "<body class=\"set\">\n%s%s<script src=\"/set.js\"></script>\n</body>\n</html>\n",
	    tp_report_before, tp_report_behind);
}

static const struct {
	const char *path;
	const char *type;
	const char *text;
	void (*add)(struct tp_buf *out);
} pages[] = {
    {"/", "text/html; charset=utf-8", NULL, add_fleet_page},
    {"/set", "text/html; charset=utf-8", NULL, add_set_page},
    {"/fleet.js", "text/javascript; charset=utf-8", tp_fleet_script, NULL},
    {"/set.js", "text/javascript; charset=utf-8", tp_set_script, NULL},
    {"/report.css", "text/css; charset=utf-8", tp_report_style, NULL},
    {"/fleet.css", "text/css; charset=utf-8", tp_fleet_style, NULL},
};

// ---- answers

static void add_error(struct tp_web_answer *answer, const struct tp_err *err)
{
	struct tp_json json;
	tp_buf_reset(&answer->body);
	answer->status = err->code == TP_ERR_SYNTAX      ? 400
			 : err->code == TP_ERR_NOT_FOUND ? 404
			 : err->code == TP_ERR_LIMIT     ? 413
							 : 500;
	tp_json_init(&json, &answer->body, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_text(&json, "error", err->what);
	tp_json_text(&json, "file", err->file);
	tp_json_end(&json);
}

static void answer_api(
    struct tp_serve *serve, const struct tp_web_request *request, struct tp_web_answer *answer)
{
	struct tp_err err = {0};
	pthread_mutex_lock(&serve->lock);
	const int code = tp_serve_answer(&serve->store, request, &answer->body, &err);
	pthread_mutex_unlock(&serve->lock);
	if (code)
		add_error(answer, &err);
}

static void answer_it(
    void *context, const struct tp_web_request *request, struct tp_web_answer *answer)
{
	struct tp_serve *serve = context;
	for (uint32_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (strcmp(request->path, pages[i].path) != 0)
			continue;
		answer->type = pages[i].type;
		answer->fixed = pages[i].text;
		if (pages[i].add)
			pages[i].add(&answer->body);
		return;
	}
	if (tp_serve_is_path(request->path)) {
		answer_api(serve, request, answer);
		return;
	}
	answer->status = 404;
	answer->type = "text/plain; charset=utf-8";
	answer->fixed = "no such page\n";
}

// ---- start and stop

int tp_serve_start(
    struct tp_serve **out, const struct tp_serve_options *options, struct tp_err *err)
{
	struct tp_serve *serve = calloc(1, sizeof(*serve));
	*out = serve;
	if (!serve)
		return tp_err_memory(err, NULL);
	serve->options = *options;
	pthread_mutex_init(&serve->lock, NULL);
	const struct tp_web_options web = {
	    .host = options->host,
	    .port = options->port,
	    .names = options->names,
	    .name_count = options->name_count,
	    .answer = answer_it,
	    .context = serve,
	};
	int code =
	    tp_serve_store_init(&serve->store, options->directory, options->memory_limit, err);
	if (!code)
		code = tp_serve_store_refresh(&serve->store, err);
	return code ? code : tp_web_start(&serve->web, &web, err);
}

const char *tp_serve_url(const struct tp_serve *serve)
{
	return tp_web_url(serve->web);
}

bool tp_serve_is_open(const struct tp_serve *serve)
{
	return tp_web_is_open(serve->web);
}

void tp_serve_tend(struct tp_serve *serve)
{
	tp_web_tend(serve->web);
}

void tp_serve_stop(struct tp_serve *serve)
{
	if (!serve)
		return;
	tp_serve_store_stop(&serve->store);
	tp_web_stop(serve->web);
	tp_serve_store_release(&serve->store);
	pthread_mutex_destroy(&serve->lock);
	free(serve);
}
