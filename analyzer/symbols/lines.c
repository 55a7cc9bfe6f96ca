// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs libdwarf in a process of its own: damaged debug information makes it free memory twice, read
// outside of its own, or go on for ever (docs/decisions/0015-dwarf-in-a-process.md).
#define _GNU_SOURCE
#include "lines.h"

#include "common/buf.h"
#include "common/bytes.h"
#include "common/clean.h"
#include "common/read_all.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// What a process may take: processor seconds, many times what a sound file needs (1 for 128 MB),
// ...
#define SECONDS_BASE 10
#define BYTES_PER_SECOND (UINT64_C(2) << 20)
// ... memory beyond our own: this, and a multiple of the files' size (compressed sections are
// unpacked up to 16 times their size), ...
#define MEMORY_BASE (UINT64_C(512) << 20)
#define MEMORY_FACTOR 20
// ... and bytes of an answer for each place.
#define ANSWER_MAX 8192

// Behind all that was found: what comes before it is complete.
#define DONE UINT32_C(0x454e4f44)

// From this number of places on, a second process is worth it.
#define PARALLEL_MIN 4096
// Names of files that the sender remembers having sent.
#define SENT_MAX 4096

// Lower the limit of RESOURCE to MOST. The hard limit stays: at that of the time there is no
// telling what the signal was for.
static void limit(int resource, uint64_t most)
{
	struct rlimit limits;
	if (getrlimit(resource, &limits))
		return;
	if (limits.rlim_cur == RLIM_INFINITY || limits.rlim_cur > most)
		limits.rlim_cur = most;
	setrlimit(resource, &limits);
}

static uint64_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	if (!file)
		return 0;
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t size_of(const char *path, const char *end)
{
	char name[TP_SPLIT_PATH_MAX + 8];
	struct stat info;
	if (!path || snprintf(name, sizeof(name), "%s%s", path, end) >= (int)sizeof(name) ||
	    stat(name, &info))
		return 0;
	return (uint64_t)info.st_size;
}

static void limit_all(const struct tp_dwarf_request *request)
{
	// The C library and the sanitizers print when memory is corrupt. Our own message is
	// clearer.
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0); // no core: a core pattern that pipes does not ask RLIMIT_CORE
	limit(RLIMIT_CORE, 0);
	const uint64_t size = size_of(request->path, "") + size_of(request->path, ".dwp") +
			      size_of(request->module, ".dwp");
	const uint64_t now = address_space();
	limit(RLIMIT_CPU, SECONDS_BASE + size / BYTES_PER_SECOND);
	if (now)
		limit(RLIMIT_AS, now + MEMORY_BASE + size * MEMORY_FACTOR);
}

static void add_u32(struct tp_buf *out, uint32_t value)
{
	tp_buf_add(out, &value, sizeof(value));
}

static void add_text(struct tp_buf *out, const char *text)
{
	tp_buf_add(out, text, strlen(text) + 1);
}

// Each place that was found: number, unit, line, and the number of its file's name, which follows
// when it is a new one.
static void add_places(struct tp_buf *out, const struct tp_source_place *places, uint32_t count)
{
	static struct {
		const char *name;
		uint32_t number;
	} sent[SENT_MAX];
	uint32_t next = 0;
	for (uint32_t i = 0; i < count; i++) {
		const char *name = places[i].file;
		if (!name)
			continue;
		const size_t slot = ((uintptr_t)name >> 4) % SENT_MAX;
		const bool is_new = sent[slot].name != name;
		if (is_new) {
			sent[slot].name = name;
			sent[slot].number = next++;
		}
		add_u32(out, i);
		add_u32(out, places[i].unit);
		tp_buf_add(out, &places[i].line, sizeof(places[i].line));
		add_u32(out, sent[slot].number);
		if (!is_new)
			continue;
		const uint32_t length = (uint32_t)strnlen(name, ANSWER_MAX / 2);
		add_u32(out, length);
		tp_buf_add(out, name, length);
	}
}

// A part of the work, for one process.
struct share {
	struct tp_symbol_lines *lines;
	uint32_t part;
	uint32_t parts;
};

static int64_t find_share(void *context, struct tp_buf *out, struct tp_err *err)
{
	const struct share *share = context;
	struct tp_symbol_lines *lines = share->lines;
	struct tp_dwarf_request request = *lines->request;
	struct tp_dwarf_notes notes;
	struct tp_arena arena;
	for (uint32_t i = 0; i < lines->worker_count; i++)
		close(lines->workers[i].fd);
	tp_arena_init(&arena);
	request.part = share->part;
	request.parts = share->parts;
	request.leave_open = true;
	const int64_t found =
	    tp_symbol_dwarf_find(&request, lines->places, lines->count, &arena, &notes, err);
	add_u32(out, notes.missing);
	add_text(out, notes.first_missing);
	add_u32(out, (uint32_t)notes.damage.code);
	add_text(out, notes.damage.code ? notes.damage.what : "");
	if (found > 0)
		add_places(out, lines->places, lines->count);
	return found;
}

// What a process does: its answer is 0 or an error, what WORK adds, and DONE.
struct task {
	const struct tp_dwarf_request *request;
	tp_isolated_fn *work;
	void *context;
};

static int serve(void *context, int fd)
{
	const struct task *task = context;
	struct tp_buf out;
	struct tp_err err = {0};
	int64_t code = 0;
	limit_all(task->request);
	tp_buf_init(&out);
	tp_buf_add(&out, &code, sizeof(code));
	code = task->work(task->context, &out, &err);
	if (code < 0) {
		tp_buf_reset(&out);
		tp_buf_add(&out, &code, sizeof(code));
		add_text(&out, err.what);
	}
	add_u32(&out, DONE);
	return out.failed || !tp_write_all(fd, out.data, out.size);
}

static int failed(const char *path, int status, struct tp_err *err)
{
	const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (signal == SIGXCPU)
		return tp_err_set(err, TP_ERR_FORMAT, path,
		    "its debug information is damaged: libdwarf does not finish reading it");
	return tp_err_set(err, TP_ERR_FORMAT, path,
	    "its debug information is damaged: libdwarf crashed on it (%s)",
	    signal ? strsignal(signal) : "it ended early");
}

static int start(struct tp_process *process, struct task *task, struct tp_err *err)
{
	const int error = tp_process_fork(process, serve, task);
	return error ? tp_err_system(
			   err, error, task->request->path, "cannot start a process to read it")
		     : 0;
}

// What the process of this FILE answers, of at most MOST bytes: in *GOT, which is empty before, is
// what its work has added.
static int take(struct tp_process *process, const char *file, uint64_t most, struct tp_buf *got,
    int *status, struct tp_err *err)
{
	const bool received =
	    tp_process_take(process, most ? most + sizeof(struct tp_err) : 0, got, status);
	uint32_t done = 0;
	int64_t code = 0;
	if (got->size >= sizeof(code) + sizeof(done)) {
		memcpy(&code, got->data, sizeof(code));
		memcpy(&done, got->data + got->size - sizeof(done), sizeof(done));
	}
	// Whether all came tells more than the exit status, which is not known if SIGCHLD is
	// ignored.
	if (!received || done != DONE)
		return failed(file, *status, err);
	got->size -= sizeof(done);
	got->data[got->size] = '\0';
	if (code < 0)
		return tp_err_set(err, code < TP_ERR_LIMIT ? TP_ERR_FORMAT : (int)code, file, "%s",
		    got->data + sizeof(code));
	got->size -= sizeof(code);
	memmove(got->data, got->data + sizeof(code), got->size + 1);
	return 0;
}

// An answer is not believed more than the file is: the process may have been taken over by it.
struct answer {
	struct tp_symbol_lines *lines;
	struct tp_bytes bytes;
	struct tp_arena *arena;
	struct tp_buf names; // of files: pointers into the arena
	uint8_t *seen;       // a bit for each place that this answer has given
};

static bool parse_place(struct answer *answer, uint32_t index)
{
	struct tp_bytes *bytes = &answer->bytes;
	const uint32_t unit = tp_bytes_u32(bytes);
	const uint64_t line = tp_bytes_u64(bytes);
	const uint32_t number = tp_bytes_u32(bytes);
	const uint32_t known = (uint32_t)(answer->names.size / sizeof(char *));
	if (bytes->underflow || index >= answer->lines->count || number > known ||
	    answer->seen[index / 8] >> index % 8 & 1)
		return false;
	answer->seen[index / 8] |= (uint8_t)(1 << index % 8);
	char *name = NULL;
	if (number == known) {
		const uint32_t length = tp_bytes_u32(bytes);
		const char *text = tp_bytes_take(bytes, length);
		name = text ? tp_arena_copy(answer->arena, text, length) : NULL;
		if (!name)
			return false;
		tp_clean(name, strlen(name));
		tp_buf_add(&answer->names, &name, sizeof(name));
		if (answer->names.failed)
			return false;
	} else {
		memcpy(&name, answer->names.data + number * sizeof(char *), sizeof(name));
	}
	struct tp_source_place *place = &answer->lines->places[index];
	if (place->file && place->unit <= unit)
		return true;
	place->file = name;
	place->line = line;
	place->unit = unit;
	return true;
}

// Returns false if the answer is not a complete one.
static bool parse(struct answer *answer, struct tp_dwarf_notes *notes)
{
	struct tp_bytes *bytes = &answer->bytes;
	const uint32_t missing = tp_bytes_u32(bytes);
	const char *first = tp_bytes_string(bytes);
	const int damage = (int)tp_bytes_u32(bytes);
	const char *what = tp_bytes_string(bytes);
	if (!first || !what)
		return false;
	if (!notes->missing)
		snprintf(notes->first_missing, sizeof(notes->first_missing), "%s", first);
	notes->missing += missing;
	if (damage && !notes->damage.code)
		tp_err_set(&notes->damage, TP_ERR_FORMAT, answer->lines->request->path, "%s", what);
	while (tp_bytes_left(bytes))
		if (!parse_place(answer, tp_bytes_u32(bytes)))
			return false;
	return true;
}

static uint32_t processors(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

int tp_symbol_lines_start(struct tp_symbol_lines *lines, const struct tp_dwarf_request *request,
    struct tp_source_place *places, uint32_t count, struct tp_err *err)
{
	*lines = (struct tp_symbol_lines){.request = request, .places = places, .count = count};
	const uint32_t parts =
	    count >= PARALLEL_MIN && processors() > 1 && !request->parts ? TP_LINES_WORKERS : 1;
	int code = 0;
	for (uint32_t i = 0; i < parts && !code; i++) {
		struct share share = {lines, i, parts};
		struct task task = {request, find_share, &share};
		code = start(&lines->workers[i], &task, err);
		// So that it need not wait for us to send what it found.
		if (!code)
			(void)!fcntl(
			    lines->workers[lines->worker_count++].fd, F_SETPIPE_SZ, 1 << 20);
	}
	while (code && lines->worker_count)
		tp_process_kill(&lines->workers[--lines->worker_count]);
	return code;
}

// Take the answer of a worker. Returns its error, 0 if there is none.
static int finish_one(struct tp_symbol_lines *lines, uint32_t index, struct tp_arena *arena,
    struct tp_dwarf_notes *notes, struct tp_err *err)
{
	struct answer answer = {
	    .lines = lines, .arena = arena, .seen = calloc(lines->count / 8 + 1, 1)};
	const char *path = lines->request->path;
	struct tp_buf got;
	tp_buf_init(&got);
	tp_buf_init(&answer.names);
	const uint64_t most = sizeof(struct tp_err) + sizeof(struct tp_dwarf_notes) +
			      (uint64_t)lines->count * ANSWER_MAX;
	int status = 0;
	int code = take(&lines->workers[index], path, answer.seen ? most : 0, &got, &status, err);
	tp_bytes_init(&answer.bytes, got.data, got.size);
	if (!code && !parse(&answer, notes))
		code = failed(path, status, err);
	tp_buf_release(&got);
	tp_buf_release(&answer.names);
	free(answer.seen);
	return code;
}

int64_t tp_symbol_lines_finish(struct tp_symbol_lines *lines, struct tp_arena *arena,
    struct tp_dwarf_notes *notes, struct tp_err *err)
{
	struct tp_dwarf_notes unused;
	int code = 0;
	notes = notes ? notes : &unused;
	memset(notes, 0, sizeof(*notes));
	for (uint32_t i = 0; i < lines->worker_count; i++) {
		const int result = finish_one(lines, i, arena, notes, code ? NULL : err);
		code = code ? code : result;
	}
	lines->worker_count = 0;
	int64_t found = 0;
	for (uint32_t i = 0; i < lines->count; i++) {
		if (code)
			lines->places[i].file = NULL;
		found += lines->places[i].file != NULL;
	}
	return code ? code : found;
}

int tp_symbol_lines_isolate(const struct tp_dwarf_request *request, tp_isolated_fn *work,
    void *context, uint64_t most, struct tp_buf *got, struct tp_err *err)
{
	struct task task = {request, work, context};
	struct tp_process process;
	int status = 0;
	const int code = start(&process, &task, err);
	return code ? code : take(&process, request->path, most, got, &status, err);
}
