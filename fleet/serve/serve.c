// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fleet served: pages, and answers by name.
#include "serve.h"

#include "answers.h"

#include "fleet/serve/pages.h"
#include "analyzer/output/report/report.h"
#include "analyzer/output/text.h"
#include "common/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERS_KEPT = 32, ANSWERS_KEPT_BYTES = 64 << 20, SET_NAME = 16, LABELS_MAX = 64 };

// An answer that was made, by what was asked.
struct kept {
	uint64_t hash[2];
	uint64_t used; // when
	char *text;
	size_t size;
};

struct tp_serve {
	struct tp_serve_options options;
	struct tp_web *web;
	pthread_mutex_t lock; // of the fields below: one answer is made at a time
	struct tp_serve_store store;
	struct kept kept[ANSWERS_KEPT];
	uint64_t clock;
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

static const struct {
	const char *path;
	int (*answer)(struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err);
	bool stays; // what it says of runs does not change
} answers[] = {
    {"/api/runs", tp_serve_answer_runs, false},
    {"/api/functions", tp_serve_answer_functions, true},
    {"/api/compare", tp_serve_answer_compare, true},
    {"/api/history", tp_serve_answer_history, true},
    {"/api/flame", tp_serve_answer_flame, true},
};

// The criterion that an argument such as "a.program" names; TP_SERVE_CRITERIA: none.
static enum tp_serve_criterion criterion_of(const char *name)
{
	int it = 0;
	while (it < TP_SERVE_CRITERIA && strcmp(name, tp_serve_criteria[it]) != 0)
		it++;
	return (enum tp_serve_criterion)it;
}

// What sets the arguments choose, and, of all else that they say, the hash.
static int choose(struct tp_serve_question *question, uint64_t hash[2], struct tp_err *err)
{
	const struct tp_web_request *request = question->request;
	struct tp_serve_wish *wishes[2];
	uint32_t counts[2] = {0, 0};
	uint32_t labels = 0;
	int code = 0;
	for (int i = 0; i < 2; i++)
		wishes[i] = malloc((request->argument_count + (size_t)1) * sizeof(*wishes[i]));
	if (!wishes[0] || !wishes[1])
		code = tp_err_memory(err, NULL);
	for (uint32_t i = 0; !code && i < request->argument_count; i++) {
		const struct tp_web_argument *it = &request->arguments[i];
		const int side = strncmp(it->name, "a.", 2) == 0   ? 0
				 : strncmp(it->name, "b.", 2) == 0 ? 1
								   : -1;
		if (side < 0) {
			for (int j = 0; j < 2; j++)
				hash[j] =
				    tp_hash_string(tp_hash_string(hash[j], it->name), it->value);
			continue;
		}
		question->has_b |= side == 1;
		// "b.all=1" is a set of all.
		if (strcmp(it->name + 2, "all") == 0)
			continue;
		const enum tp_serve_criterion criterion = criterion_of(it->name + 2);
		if (criterion == TP_SERVE_CRITERIA)
			code = tp_err_set(err, TP_ERR_SYNTAX, NULL,
			    "'%s' does not select a set; expected all, program, build, day, "
			    "host, label, run or not",
			    it->name);
		else if (criterion == TP_SERVE_LABEL && ++labels > LABELS_MAX)
			code =
			    tp_err_set(err, TP_ERR_SYNTAX, NULL, "more than %d labels", LABELS_MAX);
		else
			wishes[side][counts[side]++] = (struct tp_serve_wish){criterion, it->value};
	}
	const struct tp_serve_runs *runs = &question->store->runs;
	if (!code)
		code = tp_serve_set_choose(&question->a, runs, wishes[0], counts[0], err);
	if (!code && question->has_b)
		code = tp_serve_set_choose(&question->b, runs, wishes[1], counts[1], err);
	for (int i = 0; i < 2; i++) {
		free(wishes[i]);
		hash[i] = tp_hash_string(hash[i], request->path);
		hash[i] = tp_hash_bytes(hash[i], question->a.hash, sizeof(question->a.hash));
		hash[i] = tp_hash_bytes(hash[i], question->b.hash, sizeof(question->b.hash));
	}
	return code;
}

static bool find_kept(struct tp_serve *serve, const uint64_t hash[2], struct tp_buf *out)
{
	for (int i = 0; i < ANSWERS_KEPT; i++) {
		struct kept *it = &serve->kept[i];
		if (!it->text || memcmp(it->hash, hash, sizeof(it->hash)) != 0)
			continue;
		it->used = ++serve->clock;
		tp_buf_add(out, it->text, it->size);
		return true;
	}
	return false;
}

// In place of the one that was used longest ago.
static void keep(struct tp_serve *serve, const uint64_t hash[2], const struct tp_buf *answer)
{
	struct kept *oldest = &serve->kept[0];
	if (answer->failed || answer->size > ANSWERS_KEPT_BYTES / ANSWERS_KEPT)
		return;
	for (int i = 1; i < ANSWERS_KEPT; i++)
		if (serve->kept[i].used < oldest->used)
			oldest = &serve->kept[i];
	free(oldest->text);
	*oldest = (struct kept){.used = ++serve->clock, .text = malloc(answer->size + 1)};
	if (!oldest->text)
		return;
	memcpy(oldest->hash, hash, sizeof(oldest->hash));
	memcpy(oldest->text, answer->data, answer->size);
	oldest->size = answer->size;
}

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

static void answer_api(struct tp_serve *serve, uint32_t which, const struct tp_web_request *request,
    struct tp_web_answer *answer)
{
	struct tp_serve_question question = {.store = &serve->store, .request = request};
	uint64_t hash[2] = {TEEPERF_HASH_START, ~TEEPERF_HASH_START};
	struct tp_err err = {0};
	pthread_mutex_lock(&serve->lock);
	// Those that waited for their turn when the server is ended do not read a fleet any more.
	int code = atomic_load(&serve->store.stop)
		       ? tp_err_set(&err, TP_ERR_LIMIT, NULL, "the server is shutting down")
		       : tp_serve_store_refresh(&serve->store, &err);
	if (!code)
		code = choose(&question, hash, &err);
	if (!code && !(answers[which].stays && find_kept(serve, hash, &answer->body))) {
		code = answers[which].answer(&question, &answer->body, &err);
		if (!code && answers[which].stays)
			keep(serve, hash, &answer->body);
	}
	tp_serve_store_done(&serve->store);
	pthread_mutex_unlock(&serve->lock);
	tp_serve_set_release(&question.a);
	tp_serve_set_release(&question.b);
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
	for (uint32_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (strcmp(request->path, answers[i].path) == 0) {
			answer_api(serve, i, request, answer);
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
	tp_serve_store_init(&serve->store, options->directory, options->memory_limit);
	const struct tp_web_options web = {
	    .host = options->host,
	    .port = options->port,
	    .names = options->names,
	    .name_count = options->name_count,
	    .answer = answer_it,
	    .context = serve,
	};
	int code = tp_fleet_check(options->directory, err);
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
	atomic_store(&serve->store.stop, true);
	tp_web_stop(serve->web);
	tp_serve_store_release(&serve->store);
	for (int i = 0; i < ANSWERS_KEPT; i++)
		free(serve->kept[i].text);
	pthread_mutex_destroy(&serve->lock);
	free(serve);
}
