// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Completes traces whose recorder was killed.
#define _GNU_SOURCE
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/clock/host_clock.h"
#include "recorder/drain/drain.h"
#include "recorder/drain/recording.h"

enum { PATIENCE = 1000 }; // times 10 ms

// The parts of one trace.
struct recovery {
	struct tp_unfinished *trace;
	struct tp_log_file *log;
	struct tp_recovered *recovered;
	struct tp_trace_writer writer;
	uint64_t selections_lost;
};

static int add_chunks(struct recovery *work, struct tp_err *err)
{
	const struct tp_log_file *log = work->log;
	struct teeperf_chunk *chunk = malloc(TP_REGION_CHUNK_SIZE);
	int r = chunk ? 0 : tp_err_memory(err, NULL);
	for (uint32_t i = 0; !r && i < log->chunk_count; i++) {
		const struct tp_chunk_key *found = &log->chunks[i];
		const struct tp_chunk_key *before = i ? found - 1 : NULL;
		// Two with one number: only a hostile program has them.
		if (tp_unfinished_has_chunk(work->trace, found->thread, found->sequence) ||
		    (before && before->thread == found->thread &&
			before->sequence == found->sequence))
			continue;
		r = tp_log_file_chunk(log, found, chunk, err);
		if (r)
			break;
		tp_trace_writer_add(&work->writer, TEEPERF_SECTION_CHUNK, chunk, chunk->used);
		if (work->writer.failed)
			break;
		work->recovered->chunks++;
		work->recovered->records += (chunk->used - sizeof(*chunk)) / 8;
	}
	free(chunk);
	return r;
}

// The log's table; names that the recorder found while a thread lived are only in the trace.
static void add_threads(struct recovery *work)
{
	const struct tp_log_file *log = work->log;
	const struct tp_buf *before = &work->trace->kept[TEEPERF_SECTION_THREADS];
	for (uint32_t i = 0; i < log->thread_count; i++) {
		struct teeperf_thread *thread = &log->threads[i];
		struct teeperf_thread old;
		work->recovered->lost += tp_count_acquire(&thread->lost);
		if (thread->name[0] || (i + 1) * sizeof(old) > before->size)
			continue;
		memcpy(&old, before->data + i * sizeof(old), sizeof(old));
		if (old.os_tid == thread->os_tid)
			memcpy(thread->name, old.name, sizeof(thread->name));
	}
	work->recovered->lost += tp_count_acquire(&log->header->lost_overflow);
	tp_trace_writer_add(&work->writer, TEEPERF_SECTION_THREADS, log->threads,
	    log->thread_count * sizeof(*log->threads));
}

static double rate(const struct teeperf_trace_point *from, const struct teeperf_trace_point *to)
{
	return (double)(to->ticks - from->ticks) / (double)(to->monotonic_ns - from->monotonic_ns);
}

// Whether the point NOW goes on as those before it: if the machine was suspended meanwhile, one of
// the clocks stood still.
static bool fits(const struct tp_buf *before, const struct teeperf_trace_clock *clock,
    const struct teeperf_trace_point *last, const struct teeperf_trace_point *now)
{
	static const double alike = 0.01;
	struct teeperf_trace_point first;
	memcpy(&first, before->data + sizeof(*clock), sizeof(first));
	if (now->ticks <= last->ticks || now->monotonic_ns <= last->monotonic_ns)
		return false;
	const bool is_known = last->ticks > first.ticks && last->monotonic_ns > first.monotonic_ns;
	const double known = is_known ? rate(&first, last) : (double)clock->hz / 1e9;
	return known <= 0 || fabs(rate(last, now) / known - 1) < alike;
}

/*
 * What the recorder noted, and one point more: the log is in memory, so the machine has run on
 * since then, and so have its clocks. A counted clock has stopped.
 */
static int add_clock(struct recovery *work, struct tp_err *err)
{
	const struct tp_buf *before = &work->trace->kept[TEEPERF_SECTION_CLOCK];
	struct teeperf_trace_clock clock;
	if (before->size < sizeof(clock))
		return 0;
	memcpy(&clock, before->data, sizeof(clock));
	const uint64_t count = (before->size - sizeof(clock)) / sizeof(struct teeperf_trace_point);
	if (clock.point_count != count || !count || clock.kind == TEEPERF_CLOCK_NONE ||
	    clock.kind == TEEPERF_CLOCK_SOFT_COUNT)
		return 0;
	struct teeperf_trace_point last;
	memcpy(&last, before->data + before->size - sizeof(last), sizeof(last));
	struct tp_clock_log *now = malloc(sizeof(*now));
	if (!now)
		return tp_err_memory(err, NULL);
	tp_clock_log_init(now, clock.kind, NULL);
	if (fits(before, &clock, &last, &now->points[0])) {
		struct tp_buf section;
		tp_buf_init(&section);
		clock.point_count++;
		tp_buf_add(&section, &clock, sizeof(clock));
		tp_buf_add(&section, before->data + sizeof(clock), before->size - sizeof(clock));
		tp_buf_add(&section, &now->points[0], sizeof(now->points[0]));
		if (!section.failed)
			tp_trace_writer_add(
			    &work->writer, TEEPERF_SECTION_CLOCK, section.data, section.size);
		tp_buf_release(&section);
	}
	free(now);
	return 0;
}

// The number of the switch in the log's header that the trace ends with; all before it are known.
static uint64_t switches_known(const struct teeperf_log_header *header, const struct tp_buf *words)
{
	uint64_t last;
	if (words->size < sizeof(last))
		return 0;
	memcpy(&last, words->data + words->size - sizeof(last), sizeof(last));
	const uint64_t told = header->switch_count;
	const uint64_t count = told < TEEPERF_SWITCHES ? told : TEEPERF_SWITCHES;
	for (uint64_t i = 0; i < count; i++)
		if (header->switches[(told - 1 - i) % TEEPERF_SWITCHES] == last)
			return told - i;
	// There are too many switches: the last one is not among them, and some are missing.
	return told > count ? told - count - 1 : 0;
}

static void add_switches(struct recovery *work)
{
	const struct teeperf_log_header *header = work->log->header;
	const struct tp_buf *before = &work->trace->kept[TEEPERF_SECTION_SWITCHES];
	struct tp_switch_log switches;
	tp_switch_log_init(&switches, !work->trace->log.start_off);
	tp_buf_add(&switches.words, before->data, before->size / 8 * 8);
	switches.seen = switches_known(header, before);
	tp_switch_log_follow(&switches, header);
	if (switches.words.size && !switches.words.failed)
		tp_trace_writer_add(&work->writer, TEEPERF_SECTION_SWITCHES, switches.words.data,
		    switches.words.size);
	tp_switch_log_release(&switches);
}

/*
 * The last selection that the program has obeyed; those between it and the trace's last one are
 * nowhere any more. They are counted by work->selections_lost.
 */
static void add_selections(struct recovery *work)
{
	const struct tp_log_file *log = work->log;
	const struct teeperf_log_header *header = log->header;
	const uint64_t word = header->selected;
	if (!word || word == TEEPERF_SELECTION_FIRST)
		return;
	const uint64_t count = TEEPERF_SELECTION_COUNT(word);
	const uint64_t room = header->selection_capacity;
	uint64_t *first =
	    tp_log_file_hashes(log, log->constants.only_offset, log->constants.only_count);
	uint64_t *list =
	    count <= room && room <= log->constants.region_size
		? tp_log_file_hashes(log,
		      header->selection_offset + (TEEPERF_SELECTION_LIST(word) ? room * 8 : 0),
		      count)
		: NULL;
	const struct tp_region_only only = {.kind = (enum teeperf_only)(log->constants.only & 3),
	    .hashes = first,
	    .count = first ? log->constants.only_count : 0};
	struct tp_buf entries;
	tp_buf_init(&entries);
	work->selections_lost =
	    tp_selection_log_recover(&entries, &work->trace->kept[TEEPERF_SECTION_SELECTIONS],
		&only, word, header->selected_time, list);
	if (entries.size > work->trace->kept[TEEPERF_SECTION_SELECTIONS].size && !entries.failed)
		tp_trace_writer_add(
		    &work->writer, TEEPERF_SECTION_SELECTIONS, entries.data, entries.size);
	tp_buf_release(&entries);
	free(first);
	free(list);
}

static int add_host(struct recovery *work, struct tp_err *err)
{
	struct tp_buf host;
	tp_buf_init(&host);
	tp_buf_add(&host, work->trace->kept[TEEPERF_SECTION_HOST].data,
	    work->trace->kept[TEEPERF_SECTION_HOST].size);
	tp_buf_addf(&host, "functions=%" PRIu64 "\nrecovered=%" PRIu64 "\n",
	    work->log->header->function_count, work->recovered->chunks);
	if (work->log->constants.only != TEEPERF_ONLY_ALL)
		tp_buf_addf(&host, "functions_left_out=%" PRIu64 "\n",
		    work->log->header->functions_left_out);
	if (work->selections_lost)
		tp_buf_addf(&host, "selections_lost=%" PRIu64 "\n", work->selections_lost);
	const int r = host.failed ? tp_err_memory(err, NULL) : 0;
	if (!r)
		tp_trace_writer_add(&work->writer, TEEPERF_SECTION_HOST, host.data, host.size);
	tp_buf_release(&host);
	return r;
}

static void add_end(struct recovery *work)
{
	const struct tp_log_file *log = work->log;
	const uint64_t most = (uint64_t)log->constants.chunk_count * TP_REGION_CHUNK_SIZE;
	struct teeperf_trace_end end = {
	    .exit_kind = TEEPERF_EXIT_UNKNOWN,
	    .chunk_count = work->trace->chunk_count + work->recovered->chunks,
	    .log_bytes = log->memory < most ? log->memory : most,
	    .mode = log->constants.mode,
	};
	tp_trace_end_count(&end, log->header, log->thread_count);
	tp_trace_writer_add(&work->writer, TEEPERF_SECTION_END, &end, sizeof(end));
}

// In the order in which it matters if the disk runs full; END only when all the rest is there.
static int add_all(struct recovery *work, struct tp_err *err)
{
	const struct tp_log_file *log = work->log;
	int r = add_chunks(work, err);
	if (r)
		return r;
	tp_trace_writer_set_machine(&work->writer, log->header->machine);
	tp_trace_writer_add(&work->writer, TEEPERF_SECTION_MODULES, log->modules,
	    log->module_count * sizeof(*log->modules));
	add_threads(work);
	add_switches(work);
	add_selections(work);
	r = add_clock(work, err);
	if (!r)
		r = add_host(work, err);
	if (!r && !work->writer.failed)
		add_end(work);
	return r;
}

// Complete the trace, which has no END, from its log, which is locked.
static int complete(struct tp_unfinished *trace, struct tp_log_file *log, struct tp_recovered *out,
    struct tp_err *err)
{
	struct recovery work = {.trace = trace, .log = log, .recovered = out};
	int r = tp_log_file_read(log, &trace->log, err);
	if (r)
		return r;
	out->soft = TEEPERF_CLOCK_IS_SOFT(log->constants.clock);
	out->cut = trace->source.size > trace->good ? trace->source.size - trace->good : 0;
	const int fd = fcntl(trace->source.fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return tp_err_system(err, errno, trace->source.name, "cannot write the trace");
	const uint32_t level = trace->log.level;
	r = tp_trace_writer_resume(&work.writer, trace->source.name, fd, trace->good,
	    &trace->header, level <= TP_PACKER_LEVEL_MAX ? (int)level : 0, err);
	if (r)
		return r;
	// A file that grows too large is an error of write(), not the end of us.
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;
	sigaction(SIGXFSZ, &ignore, &before);
	r = add_all(&work, err);
	const int closed = tp_trace_writer_close(&work.writer, r ? NULL : err);
	sigaction(SIGXFSZ, &before, NULL);
	return r ? r : closed;
}

static int is_wrong_state(
    enum tp_log_state state, const char *path, const char *log, pid_t pid, struct tp_err *err)
{
	switch (state) {
	case TP_LOG_ORPHAN:
		return 0;
	case TP_LOG_GONE:
		return tp_err_set(err, TP_ERR_NOT_FOUND, path,
		    "its log '%s' does not exist (any more): the trace cannot be completed", log);
	case TP_LOG_RECORDING:
		return tp_err_set(err, TP_ERR_LIMIT, path,
		    "it is still being recorded: end that recording first");
	case TP_LOG_RUNNING:
		break;
	}
	return tp_err_set(err, TP_ERR_LIMIT, path,
	    "the program (process %d) is still writing to the log '%s': recover after it has ended",
	    (int)pid, log);
}

// Recorders that start recover too. A lock whose recorder is dead is one of these: it is not for
// long.
static enum tp_log_state open_log(
    const struct teeperf_trace_log *section, struct tp_log_file *log, pid_t *pid)
{
	char name[TP_REGION_NAME_SIZE];
	tp_region_name(name, section->recorder_pid, section->id);
	const struct timespec nap = {.tv_nsec = 10000000};
	enum tp_log_state state;
	for (int i = 0; i < PATIENCE; i++) {
		state = tp_log_file_open(log, name, pid);
		if (state != TP_LOG_RECORDING || !kill((pid_t)section->recorder_pid, 0) ||
		    errno != ESRCH)
			break;
		nanosleep(&nap, NULL);
	}
	return state;
}

// A trace that was read before its log was locked may have grown since: its recorder still lived.
// Only data that was read under the lock can be continued.
static int read_growth(struct tp_unfinished *trace, const char *path, const struct tp_log_file *log,
    struct tp_err *err)
{
	struct stat info;
	if (fstat(trace->source.fd, &info))
		return tp_err_system(err, errno, path, "cannot read the trace");
	if ((uint64_t)info.st_size == trace->source.size)
		return 0;
	const uint64_t id = trace->log.id;
	tp_unfinished_release(trace);
	const int r = tp_unfinished_read(trace, path, true, err);
	if (!r && (!trace->has_log || trace->log.id != id))
		return tp_err_set(err, TP_ERR_NOT_FOUND, path,
		    "another trace has its name now: its log '%s' was left alone", log->path);
	return r;
}

static int recover_once(
    const char *path, struct tp_recovered *out, bool *is_gone, struct tp_err *err)
{
	*out = (struct tp_recovered){0};
	*is_gone = false;
	snprintf(out->trace, sizeof(out->trace), "%s", path);
	struct tp_unfinished trace;
	struct tp_log_file log;
	int r = tp_unfinished_read(&trace, path, true, err);
	if (r)
		goto out;
	out->ended = trace.has_end;
	if (!trace.has_log) {
		if (!trace.has_end)
			r = tp_err_set(err, TP_ERR_NOT_FOUND, path,
			    "it does not name its log, so there is nothing to recover");
		goto out;
	}
	pid_t pid;
	const enum tp_log_state state = open_log(&trace.log, &log, &pid);
	*is_gone = state == TP_LOG_GONE;
	if (state == TP_LOG_ORPHAN && !trace.has_end) {
		r = read_growth(&trace, path, &log, err);
		if (r) {
			close(log.fd);
			goto out;
		}
		out->ended = trace.has_end;
	}
	if (trace.has_end) {
		// We were killed before we could remove it.
		if (state == TP_LOG_ORPHAN)
			tp_log_file_remove(&log);
		goto out;
	}
	r = is_wrong_state(state, path, log.path, pid, err);
	if (r)
		goto out;
	r = complete(&trace, &log, out, err);
	if (!r)
		tp_log_file_remove(&log);
	else
		close(log.fd);
	tp_log_file_release(&log);
out:
	tp_unfinished_release(&trace);
	return r;
}

// The events that are lost for good, as the views report them.
static int find_lacks(const char *path, struct tp_recovered *out, struct tp_err *err)
{
	struct tp_tracefile trace;
	const int r = tp_tracefile_open(&trace, path, err);
	out->lacks = trace.lacks;
	out->damaged = trace.problems.count != 0;
	tp_tracefile_close(&trace);
	return r;
}

int tp_recover(const char *path, struct tp_recovered *out, struct tp_err *err)
{
	bool is_gone = false;
	int r = recover_once(path, out, &is_gone, err);
	// Another one may have completed the trace after we had read it.
	if (r && is_gone)
		r = recover_once(path, out, &is_gone, err);
	return r ? r : find_lacks(path, out, err);
}

enum tp_log_state tp_recover_look(const struct teeperf_trace_log *section, pid_t *pid)
{
	char name[TP_REGION_NAME_SIZE];
	struct tp_log_file log;
	tp_region_name(name, section->recorder_pid, section->id);
	const enum tp_log_state state = tp_log_file_open(&log, name, pid);
	if (state == TP_LOG_ORPHAN)
		close(log.fd);
	return state;
}

// What became of a path that a log was noted for.
enum attempt { RECOVERED, NOT_IT, KEPT };

static enum attempt try_path(const char *path, uint64_t id, struct tp_log_file *log,
    struct tp_recovered *out, struct tp_err *err)
{
	struct tp_unfinished trace;
	enum attempt attempt = KEPT;
	*out = (struct tp_recovered){0};
	snprintf(out->trace, sizeof(out->trace), "%s", path);
	int r = tp_unfinished_read(&trace, path, false, err);
	if (access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR))
		attempt = NOT_IT;
	else if ((r == TP_ERR_FORMAT || r == TP_ERR_VERSION) && trace.source.fd >= 0 &&
		 !trace.has_log)
		attempt = NOT_IT; // another file has its name now
	else if (!r && (!trace.has_log || trace.log.id != id))
		attempt = NOT_IT;
	else if (!r && trace.has_end)
		attempt = RECOVERED;
	else if (!r)
		attempt = complete(&trace, log, out, err) ? KEPT : RECOVERED;
	out->ended = trace.has_end;
	tp_unfinished_release(&trace);
	tp_log_file_release(log);
	return attempt;
}

static void recover_orphan(struct tp_log_file *log, const char *note, uint64_t id,
    void (*tell)(const struct tp_recovered *recovered, const struct tp_err *err))
{
	static const char *const suffixes[] = {"", ".old"};
	char path[PATH_MAX];
	struct tp_recovered *out = malloc(sizeof(*out));
	if (!out)
		goto keep;
	enum attempt attempt = NOT_IT;
	struct tp_err err;
	for (int i = 0; attempt == NOT_IT && i < 2; i++) {
		snprintf(path, sizeof(path), "%s%s", note, suffixes[i]);
		attempt = try_path(path, id, log, out, &err);
	}
	if (attempt == NOT_IT) {
		out->gone = true;
		snprintf(out->trace, sizeof(out->trace), "%s", note);
	}
	if (attempt != RECOVERED || !out->ended)
		tell(out, attempt == KEPT ? &err : NULL);
	free(out);
	if (attempt != KEPT) {
		tp_log_file_remove(log);
		return;
	}
keep:
	close(log->fd);
}

// What the name of a log or of its note says; false: it is something else.
static bool parse_name(
    const char *text, char name[TP_REGION_NAME_SIZE], uint64_t *id, bool *is_note)
{
	unsigned pid;
	unsigned long long number;
	if (sscanf(text, TP_REGION_PREFIX "%u-%llx", &pid, &number) != 2)
		return false;
	tp_region_name(name, pid, number);
	const size_t length = strlen(name);
	*id = number;
	*is_note = strcmp(text + strnlen(text, length), TP_REGION_NOTE) == 0;
	return strncmp(text, name, length) == 0 && (*is_note || !text[length]);
}

// Any user may have made a link beside our log.
static bool is_ours(int folder, const char *note)
{
	struct stat info;
	return !fstatat(folder, note, &info, AT_SYMLINK_NOFOLLOW) && info.st_uid == geteuid();
}

// Whether a program has recorded into a log: without a note that is rare, see tp_region_note_trace.
static bool has_program(const struct tp_log_file *log)
{
	uint32_t attach = 0;
	const off_t at = offsetof(struct teeperf_log_header, attach);
	return pread(log->fd, &attach, sizeof(attach), at) == sizeof(attach) &&
	       attach == TEEPERF_ATTACH_DONE;
}

void tp_recover_all(void (*tell)(const struct tp_recovered *recovered, const struct tp_err *err))
{
	DIR *folder = opendir(TP_REGION_FOLDER);
	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder));) {
		char name[TP_REGION_NAME_SIZE];
		char note[TP_REGION_NAME_SIZE + sizeof(TP_REGION_NOTE)];
		char path[PATH_MAX];
		uint64_t id;
		bool is_note;
		struct tp_log_file log;
		pid_t pid;
		if (!parse_name(entry->d_name, name, &id, &is_note))
			continue;
		snprintf(note, sizeof(note), "%s" TP_REGION_NOTE, name);
		if (is_note) {
			// Of a log that was removed, perhaps; one of another user stays.
			if (faccessat(dirfd(folder), name, F_OK, AT_SYMLINK_NOFOLLOW) &&
			    errno == ENOENT)
				unlinkat(dirfd(folder), note, 0);
			continue;
		}
		if (tp_log_file_open(&log, name, &pid) != TP_LOG_ORPHAN)
			continue;
		const ssize_t size = readlinkat(dirfd(folder), note, path, sizeof(path) - 1);
		path[size > 0 ? size : 0] = '\0';
		if (path[0] == '/' && is_ours(dirfd(folder), note))
			recover_orphan(&log, path, id, tell);
		else if (size > 0 || has_program(&log))
			close(log.fd); // 'teeperf recover TRACE' knows where it belongs
		else
			tp_log_file_remove(&log);
	}
	closedir(folder);
}
