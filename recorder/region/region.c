// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared region: a file in /dev/shm that the program maps. supply.c has its chunks.
#define _GNU_SOURCE
#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "log_guard.h"
#include "proc.h"
#include "supply.h"

#define FOLDER TP_REGION_FOLDER
static const uint64_t MIB = 1024 * 1024;

static uint32_t power_of_two_below(uint64_t value)
{
	uint32_t power = 1;
	while ((uint64_t)power * 2 <= value && power < 1u << TEEPERF_SUPPLY_CHUNK_BITS)
		power *= 2;
	return power;
}

// What this process may have by its own limits.
struct limit {
	const char *name; // as a shell sets it
	uint64_t bytes;   // UINT64_MAX: as much as it likes
};

static uint64_t soft_limit(int which)
{
	struct rlimit limit;
	if (getrlimit((__rlimit_resource_t)which, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

// Of addresses for a log: half of those that are left, as program and recorder need some for
// themselves.
static uint64_t limit_of_addresses(void)
{
	const uint64_t limit = soft_limit(RLIMIT_AS);
	unsigned long long pages = 0;
	if (limit == UINT64_MAX)
		return limit;
	tp_proc_scan(0, "self/statm", "%llu", &pages);
	const uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return limit > used ? (limit - used) / 2 : 0;
}

static uint64_t free_in_folder(void)
{
	struct statvfs info;
	if (statvfs(FOLDER, &info))
		return UINT64_MAX; // the next calls will report the error
	return (uint64_t)info.f_bavail * info.f_frsize;
}

static uint64_t metadata_size(
    const struct tp_region *region, const struct tp_region_options *options)
{
	const uint64_t size = TEEPERF_LOG_HEADER_SIZE + 2 * 8 * (uint64_t)region->chunk_count +
			      region->module_capacity * sizeof(struct teeperf_module) +
			      region->thread_capacity * sizeof(struct teeperf_thread) +
			      8 * (uint64_t)options->only.count +
			      2 * 8 * (uint64_t)region->selection_capacity;
	return (size + TP_REGION_CHUNK_SIZE - 1) / TP_REGION_CHUNK_SIZE * TP_REGION_CHUNK_SIZE;
}

static uint64_t bytes_needed(
    const struct tp_region *region, const struct tp_region_options *options)
{
	return metadata_size(region, options) +
	       (uint64_t)region->chunk_count * TP_REGION_CHUNK_SIZE + options->behind;
}

// A size that was asked for is granted or refused; another one shrinks to our limits, and this is
// reported.
static int keep_limit(struct tp_region *region, const struct tp_region_options *options,
    const struct limit *limit, struct tp_err *err)
{
	const uint64_t needed = bytes_needed(region, options);
	if (needed <= limit->bytes)
		return 0;
	if (options->size)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "a log of %llu MiB exceeds '%s': raise that limit, or give a smaller '--size'",
		    (unsigned long long)((needed + MIB - 1) / MIB), limit->name);
	while (region->chunk_count > TP_REGION_MIN_CHUNKS &&
	       bytes_needed(region, options) > limit->bytes)
		region->chunk_count /= 2;
	region->shrunk_by = limit->name;
	if (bytes_needed(region, options) > limit->bytes)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "'%s' allows %llu KiB, too little for a log: raise that limit", limit->name,
		    (unsigned long long)(limit->bytes / 1024));
	return 0;
}

// How many chunks: as asked, or an eighth of the memory between 64 MiB and 1 GiB; or what fits in
// the file.
static int choose_count(struct tp_region *region, const struct tp_region_options *options,
    const struct tp_place_file *file, struct tp_err *err)
{
	uint32_t *chunk_count = &region->chunk_count;
	const uint64_t size = options->size;
	const char *where = file ? options->place->path : FOLDER;
	const uint64_t room = file ? file->room : free_in_folder();
	uint64_t wanted = size;
	const bool in_rings = options->mode == TEEPERF_MODE_RING;
	if (!size && in_rings) {
		const uint64_t chunks = 8 * (uint64_t)options->ring;
		wanted = TP_REGION_CHUNK_SIZE *
			 (chunks > TP_REGION_RING_CHUNKS ? chunks : TP_REGION_RING_CHUNKS);
	} else if (!size) {
		unsigned long long kib = 0;
		tp_proc_scan(0, "meminfo", "MemAvailable: %llu", &kib);
		wanted = kib * 1024 / 8;
		wanted = wanted < 64 * MIB ? 64 * MIB : wanted > 1024 * MIB ? 1024 * MIB : wanted;
		// In a container /dev/shm is often 64 MiB in all.
		if (wanted > room / 4 * 3 && !(file && file->fixed))
			wanted = room / 4 * 3;
	}
	*chunk_count = power_of_two_below(wanted / TP_REGION_CHUNK_SIZE);
	if (in_rings && !size && *chunk_count > TEEPERF_RING_LOG_CHUNKS)
		*chunk_count = TEEPERF_RING_LOG_CHUNKS;
	if (in_rings && *chunk_count > TEEPERF_RING_LOG_CHUNKS)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "'--size' is at most %dM with '--mode ring'",
		    TEEPERF_RING_LOG_CHUNKS / 1024 * (TP_REGION_CHUNK_SIZE / 1024));
	if (size && *chunk_count < TP_REGION_MIN_CHUNKS)
		return tp_err_set(err, TP_ERR_LIMIT, NULL, "'--size' must be at least %dK",
		    TP_REGION_MIN_CHUNKS * (TP_REGION_CHUNK_SIZE / 1024));
	while (!size && *chunk_count > TP_REGION_MIN_CHUNKS && bytes_needed(region, options) > room)
		*chunk_count /= 2;
	const struct limit of_file = {"ulimit -f", soft_limit(RLIMIT_FSIZE)};
	const struct limit of_addresses = {"ulimit -v", limit_of_addresses()};
	int r = file && file->fixed ? 0 : keep_limit(region, options, &of_file, err);
	// A size that was asked for is refused where the addresses run out (map_file).
	if (!r && !size)
		r = keep_limit(region, options, &of_addresses, err);
	if (r)
		return r;
	if (in_rings && options->ring > *chunk_count / 4)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "'--ring' exceeds a quarter of the log's %llu KiB: give a larger '--size', or "
		    "a smaller '--ring'",
		    (unsigned long long)*chunk_count * (TP_REGION_CHUNK_SIZE / 1024));
	const uint64_t needed = bytes_needed(region, options);
	if (file && file->fixed && needed > room)
		return tp_err_set(err, TP_ERR_LIMIT, where,
		    "the file has %llu KiB for the log, which needs %llu: enlarge it, or empty it "
		    "so that the recorder sizes it%s",
		    (unsigned long long)(room / 1024), (unsigned long long)(needed / 1024),
		    size ? ", or give a smaller '--size'" : "");
	if (*chunk_count < TP_REGION_MIN_CHUNKS ||
	    (*chunk_count == TP_REGION_MIN_CHUNKS && needed > room))
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "%s has %llu KiB free, too little for a log: make room there", where,
		    (unsigned long long)(room / 1024));
	if (needed > room)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "a log of %llu MiB does not fit in %s, where %llu MiB are free: make room "
		    "there or give a smaller '--size'",
		    (unsigned long long)((needed + MIB - 1) / MIB), where,
		    (unsigned long long)(room / MIB));
	return 0;
}

void tp_region_name(char name[TP_REGION_NAME_SIZE], uint32_t pid, uint64_t id)
{
	snprintf(
	    name, TP_REGION_NAME_SIZE, TP_REGION_PREFIX "%u-%016llx", pid, (unsigned long long)id);
}

// The name by which a killed recorder's log is found (recover/).
static int choose_path(struct tp_region *region, struct tp_err *err)
{
	char name[TP_REGION_NAME_SIZE];
	region->path[0] = '\0';
	if (getrandom(&region->id, sizeof(region->id), 0) != sizeof(region->id))
		return tp_err_system(err, errno, NULL, "cannot get random bytes");
	tp_region_name(name, (uint32_t)getpid(), region->id);
	snprintf(region->path, sizeof(region->path), FOLDER "/%s", name);
	return 0;
}

// A new file that only we can open, locked for as long as we live.
static int create_file(struct tp_region *region, struct tp_err *err)
{
	errno = EEXIST;
	for (int tries = 0; region->fd < 0 && errno == EEXIST && tries < 16; tries++) {
		const int r = choose_path(region, err);
		if (r)
			return r;
		region->fd =
		    open(region->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (region->fd >= 0) {
		flock(region->fd, LOCK_EX | LOCK_NB);
		return 0;
	}
	region->path[0] = '\0';
	return tp_err_system(err, errno, FOLDER, "cannot create the shared log");
}

/*
 * Let the file have the name by which a killed recorder's log is found, too. Where that cannot be,
 * on another file system or behind an offset, nobody finds it.
 */
static int take_place(struct tp_region *region, const struct tp_place *place, struct tp_err *err)
{
	region->place = strdup(place->path);
	region->folder = place->folder;
	region->offset = place->offset;
	if (!region->place)
		return tp_err_memory(err, NULL);
	const int r = choose_path(region, err);
	if (r || place->offset || place->folder || link(place->path, region->path))
		region->path[0] = '\0';
	return r;
}

// Make all of the region zero: who had the file before may have left anything.
static int clear(struct tp_region *region, struct tp_err *err)
{
	const int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	if (!fallocate(region->fd, how, (off_t)region->offset, (off_t)region->map_size))
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return tp_err_system(err, errno, region->place, "cannot clear the log's file");
	memset(region->map, 0, region->map_size);
	return 0;
}

// Map the file at an address aligned to the chunk size.
static int map_file(struct tp_region *region, struct tp_err *err)
{
	const uint64_t reserved = region->map_size + TP_REGION_CHUNK_SIZE;
	char *at =
	    mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return tp_err_system(err, errno, NULL,
		    "cannot reserve %llu MiB of addresses: give a smaller '--size', or raise "
		    "'ulimit -v'",
		    (unsigned long long)(reserved / MIB));
	const uint64_t skip = -(uint64_t)(uintptr_t)at & (TP_REGION_CHUNK_SIZE - 1);
	if (skip)
		munmap(at, skip);
	munmap(at + skip + region->map_size, TP_REGION_CHUNK_SIZE - skip);
	char *map = mmap(at + skip, region->map_size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_FIXED, region->fd, (off_t)region->offset);
	if (map == MAP_FAILED) {
		const int error = errno;
		munmap(at + skip, region->map_size);
		return tp_err_system(
		    err, error, tp_region_where(region), "cannot map the shared log");
	}
	region->map = map;
	return 0;
}

static void init_header(struct tp_region *region, const struct tp_region_options *options)
{
	struct teeperf_log_header *header = region->header;
	if (!region->place)
		header->magic = TEEPERF_LOG_MAGIC;
	teeperf_log_init(header, region->chunk_count, options->clock, region->mode);
	header->region_size = region->map_size;
	header->supply_offset = (uint64_t)((char *)region->supply - region->map);
	header->state_offset = (uint64_t)((char *)region->states - region->map);
	header->modules_offset = (uint64_t)((char *)region->modules - region->map);
	header->threads_offset = (uint64_t)((char *)region->threads - region->map);
	header->chunks_offset = (uint64_t)(region->chunks - region->map);
	header->module_capacity = region->module_capacity;
	header->thread_capacity = region->thread_capacity;
	header->ring = options->ring;
	header->recorder_pid = (uint64_t)getpid();
	header->only = options->only.kind;
	header->only_offset = (uint64_t)((char *)region->only - region->map);
	header->only_count = options->only.count;
	header->selection_offset = (uint64_t)((char *)region->selection - region->map);
	header->selection_capacity = region->selection_capacity;
	if (options->only.count)
		memcpy(region->only, options->only.hashes, 8 * (size_t)options->only.count);
	tp_store_release(&header->control, TEEPERF_ACTIVE);
}

static void lay_out(struct tp_region *region, uint64_t metadata)
{
	char *at = region->map;
	region->header = (void *)at;
	at += TEEPERF_LOG_HEADER_SIZE;
	region->supply = (void *)at;
	at += 8 * (uint64_t)region->chunk_count;
	region->states = (void *)at;
	at += 8 * (uint64_t)region->chunk_count;
	region->modules = (void *)at;
	at += region->module_capacity * sizeof(struct teeperf_module);
	region->threads = (void *)at;
	at += region->thread_capacity * sizeof(struct teeperf_thread);
	region->selection = (void *)at;
	at += 2 * 8 * (uint64_t)region->selection_capacity;
	region->only = (void *)at;
	region->chunks = region->map + metadata;
}

// The chunk that the program begins with: 0 or an errno value.
static int give_owned(struct tp_region *region)
{
	if (!region->owned)
		return 0;
	const uint32_t number = region->owned - 1;
	const uint64_t offset = tp_supply_offset(region, number);
	const int error = tp_supply_allocate(region, offset, TP_REGION_CHUNK_SIZE);
	if (error)
		return error;
	tp_supply_touch(region, offset, TP_REGION_CHUNK_SIZE);
	pthread_mutex_lock(&region->lock);
	tp_supply_put_out(region, number);
	pthread_mutex_unlock(&region->lock);
	return 0;
}

int tp_region_create(
    struct tp_region *region, const struct tp_region_options *options, struct tp_err *err)
{
	memset(region, 0, sizeof(*region));
	region->fd = -1;
	region->mode = options->mode;
	pthread_mutex_init(&region->lock, NULL);
	region->low_chunks = options->low_chunks ? options->low_chunks : TP_REGION_LOW_CHUNKS;
	if (options->mode == TEEPERF_MODE_STREAM) {
		region->warm = options->warm_first;
		region->pace.least = options->warm_least;
	}
	region->eases_in = !options->low_chunks && options->mode != TEEPERF_MODE_RING;
	region->start_ms = tp_supply_now_ms();
	region->touch_later = options->touch_later;
	region->step_chunks = options->step_chunks ? options->step_chunks : TP_REGION_STEP_CHUNKS;
	region->chunk_count = options->chunk_count;
	region->ring = options->ring;
	region->only_kind = options->only.kind;
	region->only_count = options->only.count;
	region->module_capacity =
	    options->small_tables ? TP_REGION_SMALL_MODULES : TP_REGION_MODULES;
	region->thread_capacity =
	    options->small_tables ? TP_REGION_SMALL_THREADS : TP_REGION_THREADS;
	region->selection_capacity =
	    options->small_tables ? TP_REGION_SMALL_SELECTION : TP_REGION_SELECTION;
	if (region->selection_capacity < options->only.count + TP_REGION_SELECTION_MORE)
		region->selection_capacity = options->only.count + TP_REGION_SELECTION_MORE;
	struct tp_place_file file = {.fd = -1};
	int r = options->place ? tp_place_open(options->place, &file, err) : 0;
	region->fd = file.fd;
	region->made = file.made;
	if (!r && options->place)
		r = take_place(region, options->place, err);
	if (!r && !options->chunk_count)
		r = choose_count(region, options, options->place ? &file : NULL, err);
	region->owned = options->owned <= region->chunk_count ? options->owned : 0;
	if (!r && !options->place)
		r = create_file(region, err);
	if (r)
		goto fail;
	// A thread leaves some to others, and as many as it has: there must always be more than
	// that.
	const uint32_t least = (uint32_t)TEEPERF_RING_SPARE(region->chunk_count) + 2 * region->ring;
	if (region->mode == TEEPERF_MODE_RING && region->low_chunks < least)
		region->low_chunks = least;
	region->newest = TP_REGION_NONE;
	region->older = malloc(region->chunk_count * sizeof(*region->older));
	region->newer = malloc(region->chunk_count * sizeof(*region->newer));
	region->waiting = malloc(region->chunk_count * sizeof(*region->waiting));
	r = region->older && region->newer && region->waiting ? 0 : tp_err_memory(err, NULL);
	const uint64_t metadata = metadata_size(region, options);
	region->map_size = metadata + (uint64_t)region->chunk_count * TP_REGION_CHUNK_SIZE;
	const uint64_t end = region->offset + region->map_size + options->behind;
	if (!r && !file.fixed && ftruncate(region->fd, (off_t)end))
		r = tp_err_system(
		    err, errno, tp_region_where(region), "cannot size the shared log");
	if (!r && file.fixed)
		r = tp_place_check(options->place, &file, region->map_size, err);
	if (!r)
		r = map_file(region, err);
	if (!r)
		r = tp_log_guard_start(region->map, region->map_size, err);
	if (!r && file.fixed)
		r = clear(region, err);
	if (r)
		goto fail;
	lay_out(region, metadata);
	const uint64_t most = options->ready / TP_REGION_CHUNK_SIZE;
	const uint32_t first = most < TP_REGION_MIN_CHUNKS  ? TP_REGION_MIN_CHUNKS
			       : most < region->chunk_count ? (uint32_t)most
							    : region->chunk_count;
	const uint64_t ahead = options->ahead / TP_REGION_CHUNK_SIZE;
	region->ahead = ahead < region->chunk_count ? (uint32_t)ahead : region->chunk_count;
	region->ready = first;
	int error = tp_supply_allocate(region, 0, metadata);
	if (!error && options->behind)
		error = tp_supply_allocate(region, region->map_size, options->behind);
	if (!error) {
		if (!options->touch_later)
			tp_supply_touch(region, 0, metadata);
		init_header(region, options);
		error = tp_supply_commit(region, first);
	}
	if (!error)
		error = give_owned(region);
	if (error) {
		r = tp_err_system(err, error, NULL,
		    "not enough memory for the log in %s (make room there or give a smaller "
		    "'--size')",
		    region->place ? region->place : FOLDER);
		goto fail;
	}
	if (!options->touch_later)
		tp_supply_touch_chunks(region, first);
	tp_supply_from(region, 0);
	return 0;
fail:
	tp_region_release(region);
	return r;
}

void tp_region_publish(struct tp_region *region)
{
	tp_store_release(&region->header->magic, TEEPERF_LOG_MAGIC);
	region->published = true;
}

const char *tp_region_where(const struct tp_region *region)
{
	return region->place ? region->place : region->path;
}

int tp_region_is_mapped(const struct tp_region *region, pid_t pid)
{
	struct tp_mapped file = {.path = region->path};
	struct stat log;
	// A program opens a file that was there before by a name of its own.
	if (region->place) {
		if (fstat(region->fd, &log))
			return 0;
		file = (struct tp_mapped){.device = log.st_dev, .inode = log.st_ino};
	}
	return tp_proc_maps(pid, &file);
}

static void note_path(const struct tp_region *region, char path[128])
{
	snprintf(path, 128, "%s" TP_REGION_NOTE, region->path);
}

void tp_region_note_trace(struct tp_region *region, const char *trace)
{
	char path[128];
	note_path(region, path);
	char *whole = realpath(trace, NULL);
	if (!whole || symlink(whole, path))
		tp_err_system(&region->note_err, errno, path, "cannot store the trace's path");
	free(whole);
}

void tp_region_unlink(struct tp_region *region)
{
	if (region->path[0]) {
		// In this order: a log without a note is one that nobody needs.
		char path[128];
		note_path(region, path);
		unlink(region->path);
		unlink(path);
	}
	region->path[0] = '\0';
	if (region->place && region->made)
		tp_place_unlink(region->place, region->folder);
	// A file that stays holds a log no more, to programs that come late.
	else if (region->place && region->published)
		tp_store_release(&region->header->magic, TEEPERF_LOG_OVER);
	region->published = false;
	free(region->place);
	region->place = NULL;
}

void tp_region_release(struct tp_region *region)
{
	tp_region_unlink(region);
	if (region->map) {
		tp_log_guard_stop(region->map);
		munmap(region->map, region->map_size);
	}
	if (region->fd >= 0)
		close(region->fd);
	region->map = NULL;
	region->fd = -1;
	free(region->older);
	free(region->newer);
	free(region->waiting);
	region->older = NULL;
	region->newer = NULL;
	region->waiting = NULL;
	pthread_mutex_destroy(&region->lock);
}

bool tp_region_is_forged(const struct tp_region *region)
{
	const struct teeperf_log_header *header = region->header;
	const uint64_t *const counts[] = {&header->lost_early, &header->lost_overflow,
	    &header->refused, &header->forked, &header->thread_count, &header->module_count,
	    &header->switch_count, &header->function_count, &header->functions_left_out};
	bool forged = false;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		forged |= tp_load_relaxed(counts[i]) >= TP_COUNT_MAX;
	for (uint32_t i = 0; i < region->thread_capacity; i++)
		forged |= tp_load_relaxed(&region->threads[i].lost) >= TP_COUNT_MAX;
	return forged;
}

uint64_t tp_region_lost(const struct tp_region *region)
{
	const struct teeperf_log_header *header = region->header;
	uint64_t lost = tp_count_acquire(&header->lost_overflow);
	const uint64_t hint = tp_load_relaxed(&header->thread_count);
	const uint32_t count =
	    hint < region->thread_capacity ? (uint32_t)hint : region->thread_capacity;
	for (uint32_t i = 0; i < count; i++)
		lost += tp_count_acquire(&region->threads[i].lost);
	return lost;
}

uint64_t tp_region_unasked(const struct tp_region *region)
{
	enum { BLOCK = 512 };
	struct stat status;
	const uint64_t asked = (uint64_t)((char *)tp_region_chunk(region, 0) - region->map) +
			       (uint64_t)region->committed * TP_REGION_CHUNK_SIZE;
	// Where it is a part of a file, the rest is somebody else's.
	if (region->offset || fstat(region->fd, &status) ||
	    (uint64_t)status.st_size != region->map_size)
		return 0;
	const uint64_t used = (uint64_t)status.st_blocks * BLOCK;
	return used > asked ? used - asked : 0;
}

uint64_t tp_region_early(const struct tp_region *region)
{
	return tp_count_acquire(&region->header->lost_early);
}

uint32_t tp_region_thread_count(const struct tp_region *region)
{
	uint32_t count = region->thread_capacity;
	while (count && !tp_load_acquire(&region->threads[count - 1].os_tid))
		count--;
	return count;
}

void tp_region_copy(void *to, const void *from, uint64_t size)
{
	uint64_t *words = to;
	const uint64_t *shared = from;
	for (uint64_t i = 0; i < size / 8; i++)
		words[i] = tp_load_relaxed(&shared[i]);
}
