// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text as SQL over two small traces: it ends, it takes no more memory than it may, it changes
// nothing, and an error names a place that is there.
// Runs: 1 of 2.
#include "analyzer/trace/text/dump_text.h"
#include "common/buf.h"
#include "analyzer/query/query.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 200000
#define HEAP_BYTES (256 << 20)
#define ROWS 2000

static const char *const texts[] = {
    "clock kind=tsc hz=2500000000\ncommand\n\tstring \"/\"\n\tstring \"prog\"\nsymbols\n"
    "\tsymbol 0x401000 main file=\"main.c\" line=3\n\tsymbol 0x401010 a\n\tsymbol 0x401020 b\n"
    "threads\n\tthread tid=11 name=\"one\"\n\tthread tid=12 name=\"two\"\n"
    "chunk thread=0 tid=11\n\t0 enter main\n\t10 enter a\n\t20 enter a\n\t30 enter b\n\t40 exit b\n"
    "\t50 exit a\n\t70 exit a\n\t100 enter b\n\t5000000000 exit b\n\t5000000100 exit main\n"
    "chunk thread=1 tid=12 time=5\n\t5 enter main\n\t25 enter b\n\t35 exit b\n\t45 enter a\nend\n",
    "clock kind=none\ncommand\n\tstring \"/\"\n\tstring \"prog\"\nsymbols\n"
    "\tsymbol 0x401000 main\n\tsymbol 0x401010 a\n"
    "chunk\n\t0 enter main\n\t0 enter a\n\t0 exit a\n\t0 exit main\nend\n",
};

static struct tp_tracefile traces[2];
static struct tp_analysis analyses[2];
static struct tp_query *query;

static void must(int code)
{
	if (code)
		abort();
}

static void start(void)
{
	static struct tp_buf data[2];
	const struct tp_query_options options = {.step_limit = STEPS};
	const struct tp_analysis_options analysis_options = {.workers = 1};
	struct tp_err err;
	sqlite3_hard_heap_limit64(HEAP_BYTES);
	must(tp_query_open(&query, &options, &err));
	for (int i = 0; i < 2; i++) {
		tp_buf_init(&data[i]);
		must(tp_dump_assemble(texts[i], strlen(texts[i]), "text", &data[i], &err));
		must(
		    tp_tracefile_from_memory(&traces[i], "fuzz", data[i].data, data[i].size, &err));
		must(tp_analysis_init(&analyses[i], &traces[i], &analysis_options, &err));
		must(tp_query_add(query, i ? "b" : NULL, &analyses[i], &err));
	}
}

struct seen {
	uint64_t rows;
	uint32_t columns;
	int64_t last;
};

static bool columns(void *context, const char *const *names, uint32_t count)
{
	struct seen *seen = context;
	for (uint32_t i = 0; i < count; i++)
		if (!names[i])
			abort();
	seen->columns = count;
	return true;
}

static bool row(void *context, const struct tp_value *values, uint32_t count)
{
	struct seen *seen = context;
	if (count != seen->columns)
		abort();
	for (uint32_t i = 0; i < count; i++)
		if (values[i].type == TP_VALUE_TEXT && values[i].text[values[i].size])
			abort();
	seen->last = count ? values[0].integer : 0;
	return ++seen->rows < ROWS;
}

// What the traces say has not changed.
static void check(void)
{
	struct seen seen = {0};
	const struct tp_query_sink sink = {&seen, columns, row};
	struct tp_err err;
	must(tp_query_run(query,
	    "SELECT sum(id) * 1000 + sum(fn) * 100 + (SELECT count(*) FROM b.calls) + "
	    "(SELECT count(*) FROM sqlite_schema) * 1000000 FROM calls",
	    NULL, 0, &sink, &err));
	static int64_t first;
	if (!first)
		first = seen.last;
	if (seen.rows != 1 || !seen.last || seen.last != first)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static uint32_t runs;
	if (!query)
		start();
	if (runs++ % 64 == 0)
		check();
	char *sql = malloc(size + 1);
	if (!sql)
		return 0;
	memcpy(sql, input, size);
	sql[size] = '\0';
	const struct tp_query_parameter parameters[] = {
	    {"function", "a"}, {"bucket", "100"}, {"depth", NULL}};
	struct seen seen = {0};
	const struct tp_query_sink sink = {&seen, columns, row};
	struct tp_err err;
	memset(&err, 0, sizeof(err));
	const int code = tp_query_run(query, sql, parameters, 3, &sink, &err);
	if (code) {
		if (!err.what[0] || err.code != code)
			abort();
		// The caret is in the line that is shown.
		if (err.line && err.caret > strlen(err.excerpt))
			abort();
	}
	free(sql);
	return 0;
}
