// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as the entries of a log of the original TEE-Perf, behind a header that is most often
// mended: the trace that it is read as is whole, and all views and exports of it are sound and add
// up.
// Runs: 1 of 20.
#include "analyzer/import/original_log.h"
#include "analyzer/import/open.h"
#include "test/fuzz/check_trace.h"

// What makes it a log, or hardly an input would be one. The number of entries stays, and the
// layout.
static void mend(uint8_t *data, size_t size)
{
	uint64_t words[7];
	memcpy(words, data, sizeof(words));
	words[1] = 1 | (words[1] & 0x10000);
	words[2] = 0x7f0000000000;
	words[3] = 1;
	if (words[4] % 3)
		words[4] = size - 1;
	if (words[5] % 5)
		words[5] =
		    (size - sizeof(words)) / (words[1] & 0x10000 ? 24 : 16) - words[5] % 5 + 1;
	words[6] = 0x400000;
	memcpy(data, words, sizeof(words));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	const struct tp_original_options none = {0};
	static struct tp_problems problems;
	static struct tp_problems notes;
	struct tp_source source;
	struct tp_buf out;
	struct tp_err err;
	uint8_t *data = malloc(size ? size : 1);
	if (!data)
		return 0;
	memcpy(data, input, size);
	if (size > TP_ORIGINAL_HEADER_SIZE && size % 8)
		mend(data, size);
	tp_buf_init(&out);
	tp_source_from_memory(&source, "fuzz", data, size);
	memset(&problems, 0, sizeof(problems));
	const int code = tp_original_translate(&source, &none, &out, &problems, &notes, &err);
	if (code == 1) {
		struct tp_tracefile trace;
		// It is ours: whatever was in the log, there is nothing wrong with it.
		if (tp_tracefile_from_memory(&trace, "fuzz", out.data, out.size, &err) ||
		    trace.problems.count || !trace.has_end)
			abort();
		// No event appears that was not there, and none goes that is not counted.
		uint64_t words = 0;
		for (uint64_t i = 0; i < trace.chunk_count; i++)
			words += trace.chunks[i].word_count;
		if (words > 3 * (size / 16))
			abort();
		tp_tracefile_close(&trace);
		check_trace((const uint8_t *)out.data, out.size, size);
	} else if (out.size) {
		abort();
	}
	tp_buf_release(&out);
	free(data);
	return 0;
}
