// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text as the trace of a TEE, joined to that of a host, which it must not change: the host's
// calls come out as they were, at their times, and the joined trace has no fault. Behind a line
// "host", the text is the host's trace, too.
// Runs: 1 of 2.
#define _GNU_SOURCE
#include "analyzer/profile/calls.h"
#include "analyzer/trace/text/dump_text.h"
#include "analyzer/join/join.h"

#include <stdlib.h>
#include <string.h>

// Calls in, out and in again, with numbers and without, jumps; two threads. (An exit without a time
// would take that of a record of the TEE behind it.)
static const char standard[] =
    "clock kind=tsc hz=1000000000\nmodules\n"
    "\tmodule bias=0x400000 start=0x400000 end=0x410000 path=\"/host\"\n"
    "chunk thread=0\n\t0 enter 0x401000 @a\n\t10 enter 0x401010\n\t20 call-out\n\tcrossing 7\n"
    "\t40 call-in\n\tcrossing 9\n\t41 enter 0x401020 @b\n\t42 call-out\n\tcrossing 8\n"
    "\t44 return-in\n"
    "\t45 enter 0x401030\n\t46 resync 0x401020 @b\n\t49 exit 0x401020\n\t50 return-out\n"
    "\t60 enter 0x401040\n\t61 exit 0x401040\n\t100 return-in\n\t110 exit 0x401010\n"
    "\t120 call-out\n\t130 return-in\n\t140 enter 0x401050\n\t150 resync 0x401000 @a\n"
    "\t4294967300 call-out\n\t4294967400 exit 0x401000\n"
    "chunk thread=1\n\t5 enter 0x401000\n\t15 call-out\n\tcrossing 6\n\t35 return-in\n"
    "\t115 call-out\n"
    "\t135 return-in\n\t160 exit 0x401000\nend\n";

static bool open_text(
    struct tp_tracefile *trace, struct tp_buf *data, const char *text, size_t size)
{
	struct tp_err err;
	tp_buf_init(data);
	return tp_dump_assemble(text, size, "text", data, &err) == 0 &&
	       tp_tracefile_from_memory(trace, "fuzz", data->data, data->size, &err) == 0;
}

// The analysis, and its calls: a sum that depends on the order.
struct seen {
	const struct tp_analysis *analysis;
	uint32_t thread;
	uint64_t sum;
	uint64_t calls;
};

static void on_call(void *context, const struct tp_call *call)
{
	struct seen *seen = context;
	const struct tp_thread_result *thread = &seen->analysis->threads[seen->thread];
	const struct tp_function *function =
	    &seen->analysis
		 ->functions[thread->functions[thread->profile.nodes[call->node].function]];
	const struct tp_module_map *map = &seen->analysis->trace->map;
	const uint32_t place = function->symbol.place;
	if (call->start > call->end)
		abort();
	if (place < map->count && map->modules[place].flags & TEEPERF_MODULE_TEE)
		return;
	const uint64_t facts[] = {function->key.address, call->start, call->end, call->how};
	for (int i = 0; i < 4; i++)
		seen->sum = (seen->sum ^ facts[i]) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i;
	seen->calls++;
}

// The calls of the first THREADS threads that are not of a TEE's module.
static uint64_t sum_of(const struct tp_tracefile *trace, uint32_t threads)
{
	const struct tp_analysis_options options = {.workers = 1};
	struct tp_analysis analysis;
	struct tp_err err;
	if (tp_analysis_init(&analysis, trace, &options, &err))
		abort();
	struct seen seen = {.analysis = &analysis};
	struct tp_call_sink sink = {.context = &seen, .leave = on_call};
	for (seen.thread = 0; seen.thread < threads; seen.thread++)
		if (tp_calls_each(&analysis, seen.thread, &sink, &err))
			abort();
	tp_analysis_release(&analysis);
	return seen.sum + seen.calls;
}

// Whether it is known what the trace lacks, so that a joined one has nothing to say about that.
static bool is_known(const struct tp_tracefile *trace)
{
	return trace->has_end && !trace->lacks.open && !trace->lacks.more;
}

static void check(
    const struct tp_tracefile *host, const struct tp_tracefile *tee, const struct tp_buf *out)
{
	static struct tp_tracefile joined;
	struct tp_err err;
	if (tp_tracefile_from_memory(&joined, "joined", out->data, out->size, &err))
		abort();
	const uint64_t problems =
	    !is_known(host) || !is_known(tee); // chunks that nobody has counted
	if (joined.problems.count != problems || joined.thread_count < host->thread_count)
		abort();
	if (sum_of(host, host->thread_count) != sum_of(&joined, host->thread_count))
		abort();
	tp_tracefile_close(&joined);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static struct tp_tracefile host;
	static struct tp_tracefile tee;
	struct tp_join_counts counts;
	struct tp_buf data[2];
	struct tp_buf out;
	struct tp_err err;
	const char *text = (const char *)input;
	static const char mark[] = "\nhost\n";
	const char *behind = memmem(text, size, mark, strlen(mark));
	const size_t tee_size = behind ? (size_t)(behind + 1 - text) : size;
	const char *host_text = behind ? behind + strlen(mark) : standard;
	const size_t host_size = behind ? size - (size_t)(host_text - text) : strlen(standard);
	tp_buf_init(&out);
	const bool has_host = open_text(&host, &data[0], host_text, host_size);
	const bool has_tee = open_text(&tee, &data[1], text, tee_size);
	if (has_host && has_tee && tp_join(&host, &tee, true, &out, &counts, &err) == 0 &&
	    !out.failed && !behind)
		check(&host, &tee, &out);
	tp_buf_release(&out);
	if (has_host)
		tp_tracefile_close(&host);
	if (has_tee)
		tp_tracefile_close(&tee);
	tp_buf_release(&data[0]);
	tp_buf_release(&data[1]);
	return 0;
}
