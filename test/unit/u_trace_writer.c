// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The recorder's writer, read by the analyzer's reader; and the rest of a file when the disk is
// full or nothing was recorded.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/trace/reader.h"
#include "common/chunks/checksum.h"
#include "recorder/drain/trace_writer.h"

#define TRACE "u_trace_writer.trace"

static struct tp_trace_writer writer;
static struct tp_source source;
static struct tp_problems problems;
static struct tp_reader reader;
static struct tp_section section;
static struct tp_err err;

static void start_packing(int level)
{
	unlink(TRACE);
	unlink(TRACE ".old");
	assert_int_equal(tp_trace_writer_open(&writer, TRACE, false, level, &err), 0);
}

static void start(void)
{
	start_packing(0);
}

static void read_back(void)
{
	memset(&problems, 0, sizeof(problems));
	assert_int_equal(tp_source_open(&source, TRACE, &err), 0);
	assert_int_equal(tp_reader_init(&reader, &source, &problems, &err), 0);
}

static void read_section(uint32_t type, const void *payload, uint64_t size)
{
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_int_equal(section.header.type, type);
	assert_int_equal(section.header.size, size);
	assert_false(section.damaged);
	if (size)
		assert_memory_equal(section.payload, payload, size);
}

static void read_end(void)
{
	assert_int_equal(tp_reader_next(&reader, &section, &err), 0);
	assert_false(reader.stopped);
	assert_int_equal(problems.count, 0);
	tp_reader_release(&reader);
	tp_source_close(&source);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	static uint8_t payload[65536];
	static const uint64_t sizes[] = {0, 1, 7, 8, 9, 64, 65535, 65536};
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 31 + i / 256);
	start();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		tp_trace_writer_add(&writer, i % 2 ? TEEPERF_SECTION_CHUNK : TEEPERF_SECTION_HOST,
		    payload, sizes[i]);
	tp_trace_writer_set_machine(&writer, 183);
	assert_int_equal(writer.chunks, 4);
	assert_int_equal(writer.missing.chunks, 0);
	const uint64_t offset = writer.offset;
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);

	read_back();
	assert_int_equal(source.size, offset);
	assert_int_equal(reader.header.machine, 183);
	assert_int_equal(reader.header.chunk_shift, TEEPERF_CHUNK_SHIFT_DEFAULT);
	assert_int_equal(reader.header.minor, TEEPERF_TRACE_MINOR);
	assert_int_not_equal(reader.header.created_unix_ns, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		read_section(
		    i % 2 ? TEEPERF_SECTION_CHUNK : TEEPERF_SECTION_HOST, payload, sizes[i]);
	read_end();
}

// A chunk whose checksum somebody else has computed; one that finds no room is missing like any
// other.
static void summed_chunks(void **state)
{
	(void)state;
	static uint64_t words[512];
	struct teeperf_chunk *chunk = (void *)words;
	for (size_t i = sizeof(*chunk) / 8; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = UINT64_C(0x401000) << 32 | i;
	chunk->used = sizeof(words);
	start();
	tp_trace_writer_add_chunk(&writer, chunk, tp_checksum(chunk, chunk->used));
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, chunk, chunk->used);
	assert_int_equal(writer.chunks, 2);
	writer.failed = true;
	tp_trace_writer_add_chunk(&writer, chunk, 0);
	writer.failed = false;
	assert_int_equal(writer.chunks, 2);
	assert_int_equal(writer.missing.chunks, 1);
	assert_int_equal(writer.missing.events, (sizeof(words) - sizeof(*chunk)) / 8);
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);
	read_back();
	read_section(TEEPERF_SECTION_CHUNK, chunk, chunk->used);
	read_section(TEEPERF_SECTION_CHUNK, chunk, chunk->used);
	read_end();
}

// The file is whole after each section, so that SIGKILL of the recorder costs nothing before it.
static void the_file_is_whole_at_any_time(void **state)
{
	(void)state;
	start();
	for (uint32_t i = 0; i < 4; i++) {
		tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "12345", i);
		read_back();
		for (uint32_t j = 0; j <= i; j++)
			read_section(TEEPERF_SECTION_HOST, "12345", j);
		read_end();
	}
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);
}

// A limit stands for the full disk, until there is room again.
static struct rlimit roomy;
static void (*on_full)(int);

static void fill_disk(uint64_t bytes_left)
{
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &roomy), 0);
	const struct rlimit limit = {writer.offset + bytes_left, roomy.rlim_max};
	on_full = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void make_room(void)
{
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &roomy), 0);
	signal(SIGXFSZ, on_full);
}

static void a_full_disk_leaves_whole_sections(void **state)
{
	(void)state;
	static uint8_t chunk[4096];
	start();
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, chunk, sizeof(chunk));
	fill_disk(1000);
	const uint64_t before = writer.offset;
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, chunk, sizeof(chunk));
	const uint64_t after = writer.offset;
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, chunk, 8);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "still fits", 10);
	make_room();
	assert_true(writer.failed);
	assert_int_equal(after, before);
	assert_int_equal(writer.chunks, 1);
	// No chunk after a lost one, however small: a gap would look like a whole trace.
	assert_int_equal(writer.missing.chunks, 2);
	assert_int_equal(tp_trace_writer_close(&writer, &err), TP_ERR_SYSTEM);
	assert_string_equal(
	    err.what, "cannot write the trace: File too large (raise the limit, 'ulimit -f')");
	assert_string_equal(err.file, TRACE);

	read_back();
	read_section(TEEPERF_SECTION_CHUNK, chunk, sizeof(chunk));
	read_section(TEEPERF_SECTION_HOST, "still fits", 10);
	read_end();
}

// A section that does not fit is unwritten until one of its kind has been written.
static void unwritten_until_it_is_written(void **state)
{
	(void)state;
	static const uint8_t large[1000];
	const uint32_t host = UINT32_C(1) << TEEPERF_SECTION_HOST;
	start();
	fill_disk(500);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, large, sizeof(large));
	assert_int_equal(writer.unwritten, host);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_COMMAND, "fits", 4);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_THREADS, large, 640);
	assert_int_equal(writer.unwritten, host | UINT32_C(1) << TEEPERF_SECTION_THREADS);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "fits", 4);
	assert_int_equal(writer.unwritten, UINT32_C(1) << TEEPERF_SECTION_THREADS);
	make_room();
	tp_trace_writer_add(&writer, TEEPERF_SECTION_THREADS, large, 640);
	assert_int_equal(writer.unwritten, 0);
	assert_int_equal(tp_trace_writer_close(&writer, &err), TP_ERR_SYSTEM);
	read_back();
	read_section(TEEPERF_SECTION_COMMAND, "fits", 4);
	read_section(TEEPERF_SECTION_HOST, "fits", 4);
	read_section(TEEPERF_SECTION_THREADS, large, 640);
	read_end();
}

// The word behind a resync may look like any record; of counts, calls of nothing are none.
static void missing_events_are_counted(void **state)
{
	(void)state;
	static struct {
		struct teeperf_chunk header;
		uint64_t words[10];
	} chunk = {.header = {.thread = 3}};
	const uint64_t event = UINT64_C(0x401000) << 32;
	uint64_t *word = chunk.words;
	*word++ = event | 1;
	*word++ = event | (uint64_t)TEEPERF_KIND_RESYNC << 32;
	*word++ = event | 2;
	*word++ = (uint64_t)TEEPERF_CONTROL_SYNC << 32;
	*word++ = (uint64_t)TEEPERF_CONTROL_COUNTS << 32 | 2;
	*word++ = event;
	*word++ = 70;
	*word++ = 0;
	*word++ = 500;
	*word++ = event | (uint64_t)TEEPERF_KIND_EXIT << 32;
	struct tp_missing missing = {0};
	tp_missing_add(&missing, &chunk.header, sizeof(chunk));
	assert_int_equal(missing.chunks, 1);
	assert_int_equal(missing.events, 2);
	assert_int_equal(missing.calls, 70);
	// Another one of this thread, and one of another thread, cut within the counts.
	tp_missing_add(&missing, &chunk.header, sizeof(chunk));
	chunk.header.thread = 1;
	tp_missing_add(&missing, &chunk.header, sizeof(chunk) - 4 * 8);
	assert_int_equal(missing.chunks, 3);
	assert_int_equal(missing.events, 5);
	assert_int_equal(missing.count, 2);
	assert_int_equal(missing.threads[0].thread, 1);
	assert_int_equal(missing.threads[0].events, 1);
	assert_int_equal(missing.threads[1].thread, 3);
	assert_int_equal(missing.threads[1].chunks, 2);
	assert_int_equal(missing.threads[1].events, 4);
	assert_int_equal(missing.threads[1].calls, 140);
	tp_missing_release(&missing);
}

// What lies behind the chunk that makes room, and is in no other section, is counted.
static void what_is_cut_is_counted(void **state)
{
	(void)state;
	static struct {
		struct teeperf_chunk header;
		uint64_t words[500];
	} chunk;
	static struct {
		struct teeperf_trace_sched head;
		struct teeperf_trace_sched_switch switches[5];
	} sched;
	static struct {
		struct teeperf_trace_system head;
		struct teeperf_system_event events[4];
	} system;
	chunk.header.used = sizeof(chunk);
	for (size_t i = 0; i < 500; i++)
		chunk.words[i] = UINT64_C(0x401000) << 32 | i;
	start();
	tp_trace_writer_add(&writer, TEEPERF_SECTION_SCHED, &sched, sizeof(sched));
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk));
	const uint64_t kept = writer.offset;
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk));
	tp_trace_writer_add(&writer, TEEPERF_SECTION_SCHED, &sched, sizeof(sched));
	tp_trace_writer_add(&writer, TEEPERF_SECTION_SYSTEM, &system, sizeof(system));
	tp_trace_writer_add(&writer, TEEPERF_SECTION_SCHED, &sched, sizeof(sched.head) + 2 * 16);
	fill_disk(0);
	// Without a failure nothing goes.
	tp_trace_writer_make_room(&writer, 1000);
	assert_int_equal(writer.chunks, 2);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "x", 1);
	assert_true(writer.failed);
	tp_trace_writer_make_room(&writer, 1000);
	assert_int_equal(writer.chunks, 1);
	assert_int_equal(writer.offset, kept);
	assert_int_equal(writer.missing.chunks, 1);
	assert_int_equal(writer.missing.events, 500);
	assert_int_equal(writer.cut_switches, 7);
	assert_int_equal(writer.cut_events, 4);
	// There is room now: nothing more goes.
	tp_trace_writer_make_room(&writer, 1000);
	assert_int_equal(writer.chunks, 1);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "x", 1);
	make_room();
	assert_int_equal(tp_trace_writer_close(&writer, &err), TP_ERR_SYSTEM);
	read_back();
	read_section(TEEPERF_SECTION_SCHED, &sched, sizeof(sched));
	read_section(TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk));
	read_section(TEEPERF_SECTION_HOST, "x", 1);
	read_end();
}

// As many chunks go as make room, the last ones first.
static void as_many_as_make_room(void **state)
{
	(void)state;
	static struct {
		struct teeperf_chunk header;
		uint64_t words[492];
	} chunk;
	const uint64_t each = sizeof(struct teeperf_section) + sizeof(chunk);
	chunk.header.used = sizeof(chunk);
	start();
	for (uint64_t i = 0; i < 5; i++) {
		chunk.header.sequence = i;
		tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk));
	}
	const uint64_t whole = writer.offset;
	fill_disk(0);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "x", 1);
	tp_trace_writer_make_room(&writer, each);
	assert_int_equal(writer.offset, whole - each);
	// There is room for one more now: this needs two more to go.
	tp_trace_writer_make_room(&writer, 2 * each + 1);
	assert_int_equal(writer.offset, whole - 4 * each);
	assert_int_equal(writer.chunks, 1);
	assert_int_equal(writer.missing.chunks, 4);
	make_room();
	assert_int_equal(tp_trace_writer_close(&writer, &err), TP_ERR_SYSTEM);
	chunk.header.sequence = 0;
	read_back();
	read_section(TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk));
	read_end();
}

static void chunks_are_packed(void **state)
{
	(void)state;
	static struct {
		struct teeperf_chunk header;
		uint64_t records[2000];
	} chunk;
	chunk.header.used = sizeof(chunk);
	for (uint64_t i = 0; i < 2000; i++)
		chunk.records[i] = (0x401000 + i % 4) << 32 | i * 20;
	start_packing(3);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, &chunk, sizeof(chunk));
	// A chunk that would not become smaller stays as it is, and so do other sections.
	chunk.header.used = sizeof(chunk.header) + 8;
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, &chunk, chunk.header.used);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, &chunk, 500);
	assert_int_equal(writer.chunks, 2);
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);

	read_back();
	assert_int_equal(tp_reader_next(&reader, &section, &err), 1);
	assert_int_equal(section.header.type, TEEPERF_SECTION_PACKED);
	assert_in_range(section.header.size, 80, 2000);
	struct tp_unpacker unpacker;
	static uint64_t records[2000];
	uint32_t count;
	assert_int_equal(tp_unpacker_init(&unpacker, sizeof(chunk), &err), 0);
	assert_int_equal(tp_unpacker_unpack(&unpacker, section.payload, section.header.size,
			     records, &count, TRACE, 0, &err),
	    0);
	assert_int_equal(count, 2000);
	assert_memory_equal(records, chunk.records, sizeof(records));
	tp_unpacker_release(&unpacker);
	read_section(TEEPERF_SECTION_CHUNK, &chunk, chunk.header.used);
	read_section(TEEPERF_SECTION_HOST, &chunk, 500);
	read_end();
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void assert_contents(const char *path, const char *text)
{
	char found[32] = "";
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(found, 1, sizeof(found) - 1, file), strlen(text));
	fclose(file);
	assert_string_equal(found, text);
}

static void an_older_trace_is_kept(void **state)
{
	(void)state;
	start();
	tp_trace_writer_discard(&writer);
	assert_int_not_equal(access(TRACE, F_OK), 0);

	put(TRACE, "older");
	assert_int_equal(tp_trace_writer_open(&writer, TRACE, false, 0, &err), 0);
	assert_contents(TRACE ".old", "older");
	tp_trace_writer_discard(&writer);
	assert_contents(TRACE, "older");
	assert_int_not_equal(access(TRACE ".old", F_OK), 0);

	// Another recorder has taken the name meanwhile: its trace stays.
	assert_int_equal(tp_trace_writer_open(&writer, TRACE, false, 0, &err), 0);
	assert_int_equal(unlink(TRACE), 0);
	put(TRACE, "another's");
	tp_trace_writer_discard(&writer);
	assert_contents(TRACE, "another's");
	assert_contents(TRACE ".old", "older");
	assert_int_equal(rename(TRACE ".old", TRACE), 0);

	assert_int_equal(tp_trace_writer_open(&writer, TRACE, false, 0, &err), 0);
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);
	assert_contents(TRACE ".old", "older");
	read_back();
	read_end();
}

static void nothing_replaces_no_trace(void **state)
{
	(void)state;
	put(TRACE, "older");
	put(TRACE ".old", "oldest");
	assert_int_equal(tp_trace_writer_open(&writer, TRACE, false, 0, &err), 0);
	assert_contents(TRACE ".old", "oldest");
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "x=y\n", 4);
	assert_contents(TRACE ".old", "oldest");
	char aside[64];
	snprintf(aside, sizeof(aside), "%s", writer.old_path);
	assert_contents(aside, "older");
	tp_trace_writer_discard(&writer);
	assert_contents(TRACE, "older");
	assert_contents(TRACE ".old", "oldest");
	// A chunk does, and so does a trace without one whose end was wanted.
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tp_trace_writer_open(&writer, TRACE, false, 0, &err), 0);
		if (i)
			tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, "x", 1);
		else
			assert_int_equal(tp_trace_writer_close(&writer, &err), 0);
		assert_contents(TRACE ".old", "older");
		assert_int_not_equal(access(aside, F_OK), 0);
		if (i)
			tp_trace_writer_discard(&writer);
		put(TRACE, "older");
		put(TRACE ".old", "oldest");
	}
	unlink(TRACE);
	unlink(TRACE ".old");
}

// What was done to the file while it was written is no success.
static void a_trace_that_is_gone_is_none(void **state)
{
	(void)state;
	for (int what = 0; what < 4; what++) {
		start();
		tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "x=y\n", 4);
		if (what < 2)
			assert_int_equal(truncate(TRACE, what ? (off_t)writer.offset - 1 : 0), 0);
		else
			assert_int_equal(unlink(TRACE), 0);
		if (what == 3)
			put(TRACE, "theirs");
		if (what)
			tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, "x", 1);
		assert_int_equal(tp_trace_writer_close(&writer, &err), TP_ERR_SYSTEM);
		assert_string_equal(err.file, TRACE);
		assert_non_null(
		    strstr(err.what, what < 2 ? "was truncated" : "was moved, removed"));
		if (what == 3)
			assert_contents(TRACE, "theirs");
		unlink(TRACE);
	}
}

// A trace whose recorder was killed while it wrote a section.
static void a_trace_is_gone_on_with(void **state)
{
	(void)state;
	start();
	const struct teeperf_trace_header header = writer.header;
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "first", 5);
	const uint64_t good = writer.offset;
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "half", 4);
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);
	assert_int_equal(truncate(TRACE, (off_t)good + 25), 0);
	const int fd = open(TRACE, O_WRONLY);
	assert_int_equal(tp_trace_writer_resume(&writer, TRACE, fd, good, &header, 0, &err), 0);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "second", 6);
	tp_trace_writer_set_machine(&writer, 62);
	assert_int_equal(tp_trace_writer_close(&writer, &err), 0);
	read_back();
	read_section(TEEPERF_SECTION_HOST, "first", 5);
	read_section(TEEPERF_SECTION_HOST, "second", 6);
	read_end();

	// What cannot be cut off is not written to, and is closed.
	const int full = open("/dev/full", O_WRONLY);
	assert_int_equal(
	    tp_trace_writer_resume(&writer, "/dev/full", full, 0, &header, 0, &err), TP_ERR_SYSTEM);
	assert_int_equal(fcntl(full, F_GETFD), -1);
}

static void paths_that_cannot_be_written(void **state)
{
	(void)state;
	assert_int_equal(
	    tp_trace_writer_open(&writer, "no-such-folder/x.trace", false, 0, &err), TP_ERR_SYSTEM);
	assert_string_equal(err.what, "cannot create the trace: No such file or directory");
	assert_string_equal(err.file, "no-such-folder/x.trace");
	assert_int_equal(tp_trace_writer_open(&writer, "/", false, 0, &err), TP_ERR_SYSTEM);
	// A device takes the sections, but cannot be patched; it must survive a discarded
	// recording.
	assert_int_equal(tp_trace_writer_open(&writer, "/dev/null", false, 0, &err), 0);
	tp_trace_writer_add(&writer, TEEPERF_SECTION_CHUNK, "x", 1);
	tp_trace_writer_set_machine(&writer, 62);
	assert_int_equal(writer.chunks, 1);
	tp_trace_writer_discard(&writer);
	assert_int_equal(access("/dev/null", F_OK), 0);
	assert_int_equal(tp_trace_writer_open(&writer, "/dev/full", false, 0, &err), TP_ERR_SYSTEM);
	assert_string_equal(err.what,
	    "cannot write the trace: No space left on device (make room there, or write it "
	    "elsewhere)");
}

// What a hostile program leaves in a folder that it shares with the recorder.
static void links_lead_nowhere(void **state)
{
	(void)state;
	put("precious", "precious");
	assert_int_equal(symlink("precious", "link.trace"), 0);
	assert_int_equal(
	    tp_trace_writer_open(&writer, "link.trace", false, 0, &err), TP_ERR_SYSTEM);
	assert_string_equal(
	    err.what, "is a symbolic link, which is not followed: name the file itself");
	assert_contents("precious", "precious");
	assert_int_equal(unlink("precious"), 0);
	assert_int_equal(
	    tp_trace_writer_open(&writer, "link.trace", false, 0, &err), TP_ERR_SYSTEM);
	assert_int_not_equal(access("precious", F_OK), 0);
	assert_int_equal(unlink("link.trace"), 0);

	// What cannot be overwritten may be behind one.
	assert_int_equal(symlink("/dev/null", "link.trace"), 0);
	assert_int_equal(tp_trace_writer_open(&writer, "link.trace", false, 0, &err), 0);
	assert_true(tp_trace_writer_in_place(&writer));
	tp_trace_writer_discard(&writer);
	assert_int_equal(unlink("link.trace"), 0);
}

static void a_trace_is_not_taken_for_what_replaced_it(void **state)
{
	(void)state;
	start();
	assert_true(tp_trace_writer_in_place(&writer));
	assert_int_equal(rename(TRACE, "moved"), 0);
	assert_false(tp_trace_writer_in_place(&writer));
	put("precious", "precious");
	assert_int_equal(symlink("precious", TRACE), 0);
	assert_false(tp_trace_writer_in_place(&writer));
	tp_trace_writer_add(&writer, TEEPERF_SECTION_HOST, "x=y\n", 4);
	assert_int_equal(unlink(TRACE), 0);
	put(TRACE, "theirs");
	assert_false(tp_trace_writer_in_place(&writer));
	tp_trace_writer_discard(&writer);
	assert_contents(TRACE, "theirs");
	assert_contents("precious", "precious");
	unlink(TRACE);
	unlink("precious");
	unlink("moved");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(summed_chunks),
	    cmocka_unit_test(the_file_is_whole_at_any_time),
	    cmocka_unit_test(a_full_disk_leaves_whole_sections),
	    cmocka_unit_test(unwritten_until_it_is_written),
	    cmocka_unit_test(missing_events_are_counted),
	    cmocka_unit_test(what_is_cut_is_counted),
	    cmocka_unit_test(as_many_as_make_room),
	    cmocka_unit_test(chunks_are_packed),
	    cmocka_unit_test(an_older_trace_is_kept),
	    cmocka_unit_test(nothing_replaces_no_trace),
	    cmocka_unit_test(a_trace_that_is_gone_is_none),
	    cmocka_unit_test(a_trace_is_gone_on_with),
	    cmocka_unit_test(paths_that_cannot_be_written),
	    cmocka_unit_test(links_lead_nowhere),
	    cmocka_unit_test(a_trace_is_not_taken_for_what_replaced_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
