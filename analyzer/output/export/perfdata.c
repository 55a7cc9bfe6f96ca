// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "perfdata": a file as `perf record` writes it, by perf's perf.data-file-format.txt and
// the kernel's perf_event.h. One sample for each path in each thread, with its self time as period.
//
// Some parts are for one reader only: the host's architecture for perf; identifiers, host name and
// processors for hotspot (which crashes without them); attributes with identifiers behind them for
// Perfetto. None needs more than 128 bytes of attributes, and older ones refuse more.
#include "analyzer/symbols/elf/file.h"
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/path_sums.h"
#include "analyzer/output/view.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>

#define MAGIC UINT64_C(0x32454c4946524550) // "PERFILE2"
#define HEADER_SIZE 104
#define ATTR_SIZE 112
#define ATTR_ID_SIZE 16 // where the identifiers of an attribute are: behind each
#define EVENT_ID 1

enum {
	RECORD_MMAP = 1,
	RECORD_COMM = 3,
	RECORD_SAMPLE = 9,
};
#define MISC_USER 2
#define MISC_BUILD_ID_SIZE 0x8000

enum {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_IDENTIFIER = 1 << 16,
};
#define SAMPLE_TYPE                                                                              \
	(SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD | \
	    SAMPLE_CALLCHAIN)
#define SAMPLE_SIZE 64 // with the length of the call chain, without the chain
#define CHAIN_USER ((uint64_t)-512)
// A record has less than 64 KiB: of deeper paths those in the middle are left out.
#define CHAIN_MAX 8182

#define TYPE_SOFTWARE 1
#define FLAG_EXCLUDE_KERNEL (UINT64_C(1) << 5)
#define FLAG_EXCLUDE_HYPERVISOR (UINT64_C(1) << 6)
#define FLAG_MMAP (UINT64_C(1) << 8)
#define FLAG_COMM (UINT64_C(1) << 9)

// Features, in the order of these numbers.
enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURES_END,
};
#define BUILD_ID_SIZE 20
#define NAME_ALIGN 64
#define SEGMENTS_MAX 16
#define PAGE 4096

static void add16(struct tp_buf *out, uint16_t value)
{
	tp_buf_add(out, &value, sizeof(value));
}

static void add32(struct tp_buf *out, uint32_t value)
{
	tp_buf_add(out, &value, sizeof(value));
}

static void add64(struct tp_buf *out, uint64_t value)
{
	tp_buf_add(out, &value, sizeof(value));
}

static void add_record_header(struct tp_buf *out, uint32_t type, uint16_t misc, size_t size)
{
	add32(out, type);
	add16(out, misc);
	add16(out, (uint16_t)size);
}

// TEXT with at least one NUL behind, a multiple of ALIGN in all.
static size_t padded(const char *text, size_t align)
{
	return strlen(text) / align * align + align;
}

static void add_padded(struct tp_buf *out, const char *text, size_t align)
{
	static const char zeroes[NAME_ALIGN];
	const size_t size = strlen(text);
	tp_buf_add(out, text, size);
	tp_buf_add(out, zeroes, padded(text, align) - size);
}

static void add_string(struct tp_buf *out, const char *text)
{
	add32(out, (uint32_t)padded(text, NAME_ALIGN));
	add_padded(out, text, NAME_ALIGN);
}

// The process has the number of its first thread. Threads without one get one that is not in use.
static uint32_t pid_of(const struct tp_analysis *analysis)
{
	const uint64_t tid = analysis->trace->thread_count ? analysis->trace->threads[0].os_tid : 0;
	return (uint32_t)tid ? (uint32_t)tid : 1;
}

static uint32_t tid_of(const struct tp_analysis *analysis, const struct tp_thread *thread)
{
	return (uint32_t)thread->os_tid ? (uint32_t)thread->os_tid
					: pid_of(analysis) + thread->number;
}

static void add_comm(struct tp_buf *out, uint32_t pid, uint32_t tid, const char *name)
{
	char text[16] = "";
	strncpy(text, name, sizeof(text) - 1);
	add_record_header(out, RECORD_COMM, MISC_USER, 16 + padded(text, 8));
	add32(out, pid);
	add32(out, tid);
	add_padded(out, text, 8);
}

static void add_mmap(struct tp_buf *out, uint32_t pid, uint64_t start, uint64_t size,
    uint64_t offset, const char *path)
{
	add_record_header(out, RECORD_MMAP, MISC_USER, 40 + padded(path, 8));
	add32(out, pid);
	add32(out, pid);
	add64(out, start);
	add64(out, size);
	add64(out, offset);
	add_padded(out, path, 8);
}

// Readers look for symbols by the offset in the file, which only the file itself tells.
static void add_module(struct tp_buf *out, uint32_t pid, const struct teeperf_module *module)
{
	struct tp_elf_segment segments[SEGMENTS_MAX];
	const uint32_t count = tp_elf_segments_read(module->path, segments, SEGMENTS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		// Whole pages, as they are mapped.
		const uint64_t before = segments[i].address % PAGE;
		add_mmap(out, pid, module->bias + segments[i].address - before,
		    (segments[i].size + before + PAGE - 1) / PAGE * PAGE,
		    segments[i].offset - before, module->path);
	}
	if (!count && module->path[0])
		add_mmap(out, pid, module->start, module->end - module->start, 0, module->path);
}

static void add_tables(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_module_map *map = &analysis->trace->map;
	const uint32_t pid = pid_of(analysis);
	add_comm(out, pid, pid, tp_tracefile_program(analysis->trace));
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		const uint32_t tid = tid_of(analysis, thread);
		if (tid != pid || thread->name[0])
			add_comm(out, pid, tid, tp_view_thread_name(thread));
	}
	for (uint32_t i = 0; i < map->count; i++)
		add_module(out, pid, &map->modules[i]);
}

static void add_attributes(struct tp_buf *out)
{
	const size_t start = out->size;
	add32(out, TYPE_SOFTWARE);
	add32(out, ATTR_SIZE);
	add64(out, 0); // config: cpu-clock
	add64(out, 1); // sample_period
	add64(out, SAMPLE_TYPE);
	add64(out, 0); // read_format
	add64(out, FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR | FLAG_MMAP | FLAG_COMM);
	while (out->size < start + ATTR_SIZE && !out->failed)
		add64(out, 0);
}

static size_t chain_size(const struct tp_path *path)
{
	return path->depth < CHAIN_MAX ? path->depth : CHAIN_MAX;
}

static bool is_sample(const struct tp_path_sums *sums, uint32_t row)
{
	return sums->self[row] != 0;
}

static uint64_t samples_size(const struct tp_path_sums *sums)
{
	uint64_t size = 0;
	for (uint32_t i = 0; i < sums->paths.row_count; i++)
		if (is_sample(sums, i))
			size += SAMPLE_SIZE + 8 +
				8 * chain_size(&sums->paths.items[sums->paths.rows[i].path]);
	return size;
}

static void add_sample(const struct tp_analysis *analysis, const struct tp_path_sums *sums,
    uint32_t row, const uint64_t *addresses, uint64_t time, struct tp_buf *out)
{
	const struct tp_path *paths = sums->paths.items;
	const struct tp_path_row *at = &sums->paths.rows[row];
	const struct tp_path *path = &paths[at->path];
	const uint32_t chain = (uint32_t)chain_size(path);
	add_record_header(out, RECORD_SAMPLE, MISC_USER, SAMPLE_SIZE + 8 + (size_t)8 * chain);
	add64(out, EVENT_ID);
	add64(out, addresses[path->function]);
	add32(out, pid_of(analysis));
	add32(out, tid_of(analysis, analysis->threads[at->thread].thread));
	add64(out, time);
	add64(out, 0); // processor
	add64(out, sums->self[row]);
	add64(out, chain + 1);
	add64(out, CHAIN_USER);
	const uint32_t depth = path->depth;
	for (uint32_t from_leaf = 0; path->depth; path = &paths[path->parent], from_leaf++)
		if (from_leaf < chain / 2 || depth - from_leaf <= chain - chain / 2)
			add64(out, addresses[path->function]);
}

// Each thread's samples follow one another in time; when the calls were, they do not say.
static void add_samples(const struct tp_analysis *analysis, const struct tp_path_sums *sums,
    const uint64_t *addresses, uint64_t *times, struct tp_buf *out)
{
	for (uint32_t i = 0; i < sums->paths.row_count && !out->failed; i++) {
		uint64_t *time = &times[sums->paths.rows[i].thread];
		if (is_sample(sums, i))
			add_sample(analysis, sums, i, addresses, ++*time, out);
		*time += sums->self[i];
	}
}

static const char *architecture(uint32_t machine)
{
	return machine == EM_AARCH64 ? "aarch64" : machine == EM_RISCV ? "riscv64" : "x86_64";
}

static void add_build_ids(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_module_map *map = &analysis->trace->map;
	for (uint32_t i = 0; i < map->count; i++) {
		const struct teeperf_module *module = &map->modules[i];
		uint8_t id[BUILD_ID_SIZE + 4] = {0}; // its size is behind it
		const uint32_t size =
		    module->build_id_size < BUILD_ID_SIZE ? module->build_id_size : BUILD_ID_SIZE;
		if (!size || !module->path[0])
			continue;
		memcpy(id, module->build_id, size);
		id[BUILD_ID_SIZE] = (uint8_t)size;
		add_record_header(out, 0, MISC_USER | MISC_BUILD_ID_SIZE,
		    12 + sizeof(id) + padded(module->path, NAME_ALIGN));
		add32(out, pid_of(analysis));
		tp_buf_add(out, id, sizeof(id));
		add_padded(out, module->path, NAME_ALIGN);
	}
}

static void add_command(const struct tp_tracefile *trace, struct tp_buf *out)
{
	uint32_t count = 0;
	while (trace->arguments && trace->arguments[count])
		count++;
	add32(out, count);
	for (uint32_t i = 0; i < count; i++)
		add_string(out, trace->arguments[i]);
}

static void add_feature(
    const struct tp_analysis *analysis, uint32_t feature, const char *event, struct tp_buf *out)
{
	switch (feature) {
	case FEATURE_BUILD_ID:
		add_build_ids(analysis, out);
		break;
	case FEATURE_HOSTNAME:
		add_string(out, "teeperf");
		break;
	case FEATURE_VERSION:
		add_string(out, analysis->compensation.applied
				    ? "TeePerf " TEEPERF_VERSION ", times compensated"
				    : "TeePerf " TEEPERF_VERSION ", times as recorded");
		break;
	case FEATURE_ARCH:
		add_string(out, architecture(analysis->trace->header.machine));
		break;
	case FEATURE_NRCPUS:
		add32(out, 1); // available
		add32(out, 1); // online
		break;
	case FEATURE_CMDLINE:
		add_command(analysis->trace, out);
		break;
	case FEATURE_EVENT_DESC:
		add32(out, 1);
		add32(out, ATTR_SIZE);
		add_attributes(out);
		add32(out, 1);
		add_string(out, event);
		add64(out, EVENT_ID);
		break;
	}
}

static const uint8_t features[] = {FEATURE_BUILD_ID, FEATURE_HOSTNAME, FEATURE_VERSION,
    FEATURE_ARCH, FEATURE_NRCPUS, FEATURE_CMDLINE, FEATURE_EVENT_DESC};
#define FEATURE_COUNT (sizeof(features) / sizeof(features[0]))

// Behind the data: where each feature is, then what it is.
static void add_features(
    const struct tp_analysis *analysis, const char *event, uint64_t offset, struct tp_buf *out)
{
	struct tp_buf contents;
	tp_buf_init(&contents);
	offset += FEATURE_COUNT * 16;
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const size_t before = contents.size;
		add_feature(analysis, features[i], event, &contents);
		add64(out, offset + before);
		add64(out, contents.size - before);
	}
	tp_buf_add(out, contents.data, contents.size);
	if (contents.failed)
		out->failed = true;
	tp_buf_release(&contents);
}

static void add_file_header(uint64_t data_size, struct tp_buf *out)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		bits |= UINT64_C(1) << features[i];
	const uint64_t ids = HEADER_SIZE;
	const uint64_t attributes = ids + 8;
	add64(out, MAGIC);
	add64(out, HEADER_SIZE);
	add64(out, ATTR_SIZE + ATTR_ID_SIZE);
	add64(out, attributes);
	add64(out, ATTR_SIZE + ATTR_ID_SIZE);
	add64(out, attributes + ATTR_SIZE + ATTR_ID_SIZE);
	add64(out, data_size);
	add64(out, 0); // event types, which are not in use any more
	add64(out, 0);
	add64(out, bits);
	for (int i = 0; i < 3; i++)
		add64(out, 0);
	add64(out, EVENT_ID);
	add_attributes(out);
	add64(out, ids);
	add64(out, 8);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_path_sums sums;
	struct tp_buf tables;
	tp_buf_init(&tables);
	uint64_t *addresses = calloc((size_t)analysis->function_count + 1, sizeof(*addresses));
	uint64_t *times = calloc((size_t)analysis->thread_count + 1, sizeof(*times));
	int code = tp_path_sums_init(&sums, analysis, options->weight, err);
	if (!code)
		code = tp_path_sums_check(&sums, analysis, err);
	if (!code && (!addresses || !times))
		code = tp_err_memory(err, analysis->trace->source.name);
	if (code)
		goto out;
	for (uint32_t i = 0; i < analysis->function_count; i++)
		addresses[i] = tp_path_sums_address(analysis, &analysis->functions[i]);
	const char *event = options->weight == TP_WEIGHT_CALLS ? "teeperf-calls"
			    : analysis->time.known             ? "teeperf-ns"
							       : "teeperf-ticks";
	if (options->notes && sums.deepest > CHAIN_MAX)
		tp_problems_add(options->notes, TP_ERR_LIMIT, analysis->trace->source.name,
		    "some call paths are up to %" PRIu32
		    " calls deep: those deeper than %d lack their middle",
		    sums.deepest, CHAIN_MAX);
	add_tables(analysis, &tables);
	const uint64_t size = tables.size + samples_size(&sums);
	add_file_header(size, out);
	tp_buf_add(out, tables.data, tables.size);
	add_samples(analysis, &sums, addresses, times, out);
	add_features(analysis, event, HEADER_SIZE + 8 + ATTR_SIZE + ATTR_ID_SIZE + size, out);
	if (tables.failed)
		out->failed = true;
out:
	tp_path_sums_release(&sums);
	tp_buf_release(&tables);
	free(addresses);
	free(times);
	return code;
}

const struct tp_export tp_export_perfdata = {
    .name = "perfdata",
    .summary =
	"call paths as weighted samples, for perf report, perf script, perf diff and hotspot",
    .suffix = ".perf.data",
    .render = render,
};
