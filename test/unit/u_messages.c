// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What comes over the recorder's two sockets: only whole messages are taken, and their numbers stay
// within bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <teeperf/log.h>

#include "recorder/control/control.h"
#include "recorder/follow/process.h"

static void control_requests(void **state)
{
	(void)state;
	const struct tp_control_request sent = {.version = TP_CONTROL_VERSION + 1, .verb = 77};
	struct tp_control_request request;
	assert_int_equal(tp_control_request_read(&request, &sent, sizeof(sent)), 0);
	assert_int_equal(request.version, TP_CONTROL_VERSION + 1);
	assert_int_equal(request.verb, 77);
	assert_int_equal(tp_control_request_read(&request, &sent, sizeof(sent) - 1), TP_ERR_FORMAT);
	assert_int_equal(tp_control_request_read(&request, &sent, sizeof(sent) + 1), TP_ERR_FORMAT);
	assert_int_equal(tp_control_request_read(&request, &sent, 0), TP_ERR_FORMAT);
}

static void control_replies(void **state)
{
	(void)state;
	struct tp_control_reply sent = {.version = TP_CONTROL_VERSION, .records = 3};
	struct tp_control_reply reply;
	struct tp_err err;
	memset(sent.output, '\n', sizeof(sent.output));
	assert_int_equal(tp_control_reply_read(&reply, &sent, sizeof(sent), "x", &err), 0);
	assert_int_equal(reply.records, 3);
	assert_int_equal(strlen(reply.output), sizeof(reply.output) - 1);
	assert_null(strchr(reply.output, '\n'));
	assert_int_equal(
	    tp_control_reply_read(&reply, &sent, sizeof(sent) + 8, "x", &err), TP_ERR_VERSION);
	assert_int_equal(tp_control_reply_read(&reply, &sent, 4, "x", &err), TP_ERR_VERSION);
	assert_int_equal(reply.records, 0);
	sent.version++;
	assert_int_equal(
	    tp_control_reply_read(&reply, &sent, sizeof(sent), "x", &err), TP_ERR_VERSION);
	assert_string_equal(err.file, "x");
}

enum { TOKEN = 5, CHUNKS = 16, WORDS = (TP_REGION_CHUNK_SIZE - 64) / 8 };

static int read_request(struct tp_follow_request *request, const struct teeperf_fork_request *sent)
{
	return tp_follow_request_read(request, sent, sizeof(*sent), TOKEN, CHUNKS);
}

static void follow_requests(void **state)
{
	(void)state;
	struct teeperf_fork_request sent = {TEEPERF_FORK_MAGIC, TOKEN, 12, CHUNKS, WORDS};
	struct tp_follow_request request;
	assert_int_equal(read_request(&request, &sent), 0);
	assert_int_equal(request.parent, 12);
	assert_int_equal(request.owned, CHUNKS);
	assert_int_equal(request.padding, WORDS);
	sent.padding = UINT32_MAX;
	sent.parent = UINT64_MAX;
	assert_int_equal(read_request(&request, &sent), 0);
	assert_int_equal(request.parent, 0);
	assert_int_equal(request.padding, WORDS);
	sent.chunk = CHUNKS + 1;
	assert_int_equal(read_request(&request, &sent), 0);
	assert_int_equal(request.owned, 0);
	assert_int_equal(request.padding, 0);
	for (uint64_t size = 0; size < sizeof(sent); size++)
		assert_int_equal(
		    tp_follow_request_read(&request, &sent, size, TOKEN, CHUNKS), TP_ERR_FORMAT);
	assert_int_equal(tp_follow_request_read(&request, &sent, sizeof(sent) + 1, TOKEN, CHUNKS),
	    TP_ERR_FORMAT);
	sent.token++;
	assert_int_equal(read_request(&request, &sent), TP_ERR_FORMAT);
	sent.token--;
	sent.magic++;
	assert_int_equal(read_request(&request, &sent), TP_ERR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(control_requests),
	    cmocka_unit_test(control_replies), cmocka_unit_test(follow_requests)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
