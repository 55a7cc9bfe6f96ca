// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The log of a recorder that was killed, as a file that is only read.
#define _GNU_SOURCE
#include "recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/trace/reader.h"
#include "common/read_all.h"
#include "recorder/drain/drain.h"
#include "recorder/region/proc.h"

/*
 * The process that says of itself that it attached, if it lives and does not let us look at its
 * maps. The number is the word of whoever writes the log: that of another user's process, which may
 * live for ever, says nothing.
 */
static pid_t hidden_user(int fd)
{
	uint64_t pid = 0;
	const off_t at = offsetof(struct teeperf_log_header, pid);
	const struct tp_mapped anything = {.path = ""};
	unsigned user;
	if (pread(fd, &pid, sizeof(pid), at) != sizeof(pid) || !pid || pid > INT32_MAX)
		return 0;
	// Only a process of ours gets a log of ours.
	return tp_proc_maps((pid_t)pid, &anything) < 0 &&
		       tp_proc_scan((pid_t)pid, "status", "Uid: %u", &user) && user == getuid()
		   ? (pid_t)pid
		   : 0;
}

enum tp_log_state tp_log_file_open(struct tp_log_file *log, const char *name, pid_t *pid)
{
	*log = (struct tp_log_file){.fd = -1};
	*pid = 0;
	snprintf(log->path, sizeof(log->path), TP_REGION_FOLDER "/%s", name);
	const int fd = open(log->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	enum tp_log_state state = TP_LOG_GONE;
	if (fd < 0)
		return state;
	// An empty file may be one whose owner is just about to lock it. Root's recorders give a
	// log to the user whose process they record, and only their notes are root's.
	if (fstat(fd, &info) || !S_ISREG(info.st_mode) || !info.st_size ||
	    (info.st_uid != geteuid() && geteuid()))
		goto out;
	state = TP_LOG_RECORDING;
	if (flock(fd, LOCK_EX | LOCK_NB))
		goto out;
	// Another one may have recovered and removed it before we got the lock.
	state = TP_LOG_GONE;
	if (fstat(fd, &info) || !info.st_nlink)
		goto out;
	*pid = tp_proc_user(&(struct tp_mapped){.device = info.st_dev, .inode = info.st_ino});
	if (!*pid)
		*pid = hidden_user(fd);
	state = *pid ? TP_LOG_RUNNING : TP_LOG_ORPHAN;
	log->size = (uint64_t)info.st_size;
	log->memory = (uint64_t)info.st_blocks * 512;
out:
	if (state == TP_LOG_ORPHAN)
		log->fd = fd;
	else
		close(fd);
	return state;
}

// Open the log NAME to look at it while it is written: everything in it may change.
static bool open_live(struct tp_log_file *log, const char *name)
{
	*log = (struct tp_log_file){.fd = -1};
	snprintf(log->path, sizeof(log->path), TP_REGION_FOLDER "/%s", name);
	struct stat info;
	log->fd = open(log->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (log->fd < 0)
		return false;
	if (fstat(log->fd, &info) == 0 && S_ISREG(info.st_mode) &&
	    (info.st_uid == geteuid() || !geteuid())) {
		log->size = (uint64_t)info.st_size;
		return true;
	}
	close(log->fd);
	log->fd = -1;
	return false;
}

// Bytes of the log; zeroes for those behind its end.
static int read_at(
    const struct tp_log_file *log, uint64_t offset, void *to, uint64_t size, struct tp_err *err)
{
	memset(to, 0, size);
	return tp_read_at(log->fd, to, size, offset) < 0
		   ? tp_err_system(err, errno, log->path, "cannot read the log")
		   : 0;
}

// A copy of COUNT entries of SIZE bytes, to be freed; NULL and *err if that fails.
static void *read_table(const struct tp_log_file *log, uint64_t offset, uint64_t count,
    uint64_t size, struct tp_err *err)
{
	void *table = calloc(count ? count : 1, size);
	if (!table)
		tp_err_set(err, TP_ERR_MEMORY, log->path, "out of memory for a table of %llu bytes",
		    (unsigned long long)count * size);
	else if (read_at(log, offset, table, count * size, err)) {
		free(table);
		table = NULL;
	}
	return table;
}

static bool inside(
    const struct teeperf_log_header *header, uint64_t offset, uint64_t count, uint64_t size)
{
	return offset % 8 == 0 && offset <= header->region_size &&
	       count <= (header->region_size - offset) / size;
}

// The trace may be anyone's: all numbers are checked.
static bool is_sound(const struct teeperf_log_header *header)
{
	return header->magic == TEEPERF_LOG_MAGIC && header->major == TEEPERF_LOG_MAJOR &&
	       header->chunk_shift == TEEPERF_CHUNK_SHIFT_DEFAULT && header->chunk_count &&
	       header->chunk_count <= UINT32_C(1) << TEEPERF_SUPPLY_CHUNK_BITS &&
	       header->module_capacity <= TP_REGION_MODULES &&
	       header->thread_capacity <= TP_REGION_THREADS &&
	       inside(header, header->state_offset, header->chunk_count, 8) &&
	       inside(header, header->modules_offset, header->module_capacity,
		   sizeof(struct teeperf_module)) &&
	       inside(header, header->threads_offset, header->thread_capacity,
		   sizeof(struct teeperf_thread)) &&
	       inside(header, header->chunks_offset, header->chunk_count, TP_REGION_CHUNK_SIZE);
}

static uint64_t chunk_offset(const struct tp_log_file *log, uint32_t number)
{
	return log->constants.chunks_offset + (uint64_t)number * TP_REGION_CHUNK_SIZE;
}

static int find_chunks(struct tp_log_file *log, struct tp_err *err)
{
	const uint32_t count = log->constants.chunk_count;
	uint64_t *states = read_table(log, log->constants.state_offset, count, 8, err);
	int r = 0;
	log->chunks = states ? calloc(count, sizeof(*log->chunks)) : NULL;
	if (!states)
		return err->code;
	if (!log->chunks)
		r = tp_err_set(err, TP_ERR_MEMORY, log->path, "out of memory for %u chunks", count);
	for (uint32_t i = 0; !r && i < count; i++) {
		if (states[i] != TEEPERF_CHUNK_DONE && states[i] != TEEPERF_CHUNK_OWNED)
			continue;
		struct teeperf_chunk header;
		r = read_at(log, chunk_offset(log, i), &header, sizeof(header), err);
		log->chunks[log->chunk_count++] = (struct tp_chunk_key){
		    .number = i,
		    .thread = header.thread,
		    .sequence = header.sequence,
		    .whole = states[i] == TEEPERF_CHUNK_DONE,
		};
	}
	if (!r && log->chunk_count)
		qsort(log->chunks, log->chunk_count, sizeof(*log->chunks), tp_chunk_key_compare);
	free(states);
	return r;
}

int tp_log_file_read(
    struct tp_log_file *log, const struct teeperf_trace_log *section, struct tp_err *err)
{
	struct teeperf_log_header *constants = &log->constants;
	memcpy(constants, section->constants, sizeof(section->constants));
	if (!is_sound(constants) || log->size < constants->chunks_offset)
		return tp_err_set(err, TP_ERR_FORMAT, log->path,
		    "its layout differs from the trace's: nothing was taken from it");
	log->header = read_table(log, 0, 1, sizeof(*log->header), err);
	if (log->header)
		log->modules = read_table(log, constants->modules_offset,
		    constants->module_capacity, sizeof(*log->modules), err);
	if (log->modules)
		log->threads = read_table(log, constants->threads_offset,
		    constants->thread_capacity, sizeof(*log->threads), err);
	if (!log->threads)
		return err->code;
	log->module_count = constants->module_capacity;
	if (log->header->module_count < log->module_count)
		log->module_count = (uint32_t)log->header->module_count;
	log->thread_count = constants->thread_capacity;
	while (log->thread_count && !log->threads[log->thread_count - 1].os_tid)
		log->thread_count--;
	return find_chunks(log, err);
}

uint64_t *tp_log_file_hashes(const struct tp_log_file *log, uint64_t offset, uint64_t count)
{
	struct tp_err ignored;
	return inside(&log->constants, offset, count, sizeof(uint64_t))
		   ? read_table(log, offset, count, sizeof(uint64_t), &ignored)
		   : NULL;
}

void tp_log_file_release(struct tp_log_file *log)
{
	free(log->header);
	free(log->modules);
	free(log->threads);
	free(log->chunks);
	log->header = NULL;
	log->modules = NULL;
	log->threads = NULL;
	log->chunks = NULL;
	log->chunk_count = 0;
}

int tp_log_file_chunk(const struct tp_log_file *log, const struct tp_chunk_key *chunk,
    struct teeperf_chunk *to, struct tp_err *err)
{
	const int r = read_at(log, chunk_offset(log, chunk->number), to, TP_REGION_CHUNK_SIZE, err);
	if (r)
		return r;
	to->used = chunk->whole ? tp_drain_clamp_used(to->used)
				: tp_drain_find_used((const uint64_t *)(const void *)to);
	return 0;
}

// One chunk as it is now, whole records only; false: it is another one by now, or cannot be read.
static bool chunk_now(
    const struct tp_log_file *log, const struct tp_chunk_key *chunk, struct teeperf_chunk *to)
{
	const uint64_t header_words = sizeof(*to) / 8;
	const uint64_t *words = (const uint64_t *)(const void *)to;
	struct tp_err err;
	struct teeperf_chunk after;
	uint64_t state;
	uint64_t used;
	if (tp_log_file_chunk(log, chunk, to, &err))
		return false;
	used = to->used;
	// Its thread wrote on while we read: all that it had written at the end of our read is
	// there before the next look.
	if (read_at(log, chunk_offset(log, chunk->number), to, used, &err) ||
	    read_at(log, chunk_offset(log, chunk->number), &after, sizeof(after), &err) ||
	    read_at(
		log, log->constants.state_offset + 8 * (uint64_t)chunk->number, &state, 8, &err))
		return false;
	if (to->thread != chunk->thread || to->sequence != chunk->sequence ||
	    after.thread != chunk->thread || after.sequence != chunk->sequence ||
	    (state != TEEPERF_CHUNK_OWNED && state != TEEPERF_CHUNK_DONE))
		return false;
	to->used = sizeof(*to) + 8 * (uint64_t)tp_rings_whole(
					 words + header_words, (uint32_t)(used / 8 - header_words));
	return true;
}

void tp_log_file_remove(struct tp_log_file *log)
{
	char note[sizeof(log->path) + sizeof(TP_REGION_NOTE)];
	snprintf(note, sizeof(note), "%s" TP_REGION_NOTE, log->path);
	unlink(log->path);
	unlink(note);
	close(log->fd);
	log->fd = -1;
}

// ---- What the log of a recording has, and its trace does not have yet.

// Chunks that wait to be written; whoever looks reads them all.
enum { COMPLETE_MOST = 1024 };

static bool is_readable(const struct tp_log_file *log)
{
	uint32_t complete = 0;
	for (uint32_t i = 0; i < log->chunk_count; i++)
		complete += log->chunks[i].whole;
	return complete <= COMPLETE_MOST && log->constants.mode != TEEPERF_MODE_RING;
}

static bool add_chunks(const struct tp_log_file *log, struct tp_buf *out)
{
	struct teeperf_chunk *chunk = malloc(TP_REGION_CHUNK_SIZE);
	for (uint32_t i = 0; chunk && i < log->chunk_count; i++)
		if (chunk_now(log, &log->chunks[i], chunk))
			tp_trace_section_add(out, TEEPERF_SECTION_CHUNK, chunk, chunk->used);
	free(chunk);
	return chunk != NULL;
}

bool tp_live_add(const struct teeperf_trace_log *section, struct tp_buf *out)
{
	char name[TP_REGION_NAME_SIZE];
	struct tp_log_file log;
	struct tp_err err;
	tp_region_name(name, section->recorder_pid, section->id);
	if (!open_live(&log, name))
		return false;
	const bool done = tp_log_file_read(&log, section, &err) == 0 && is_readable(&log) &&
			  add_chunks(&log, out);
	// Behind the chunks: all that they refer to was there before them.
	if (done) {
		tp_log_file_release(&log);
		if (tp_log_file_read(&log, section, &err) == 0) {
			tp_trace_section_add(out, TEEPERF_SECTION_MODULES, log.modules,
			    log.module_count * sizeof(*log.modules));
			tp_trace_section_add(out, TEEPERF_SECTION_THREADS, log.threads,
			    log.thread_count * sizeof(*log.threads));
		}
	}
	tp_log_file_release(&log);
	close(log.fd);
	return done && !out->failed;
}
