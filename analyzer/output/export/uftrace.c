// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The export "uftrace": a data directory of version 4, as uftrace 0.13 reads it. There is no
 * written specification; these are its files:
 *
 *   info           a header of 40 bytes, then lines of text: program, command, threads
 *   task.txt       the session, and the threads
 *   sid-ID.map     where modules are, as in /proc/PID/maps
 *   MODULE.sym     names of functions, by address in the module
 *   MODULE.dbg     their files and lines
 *   events.txt     names of events, if there are marks
 *   perf-cpu0.dat  what threads are called, in events as those of the kernel's perf
 *   TID.dat        a thread's records of 16 bytes: time, and type, depth and address
 *
 * Addresses are made up, so that names are what they are here whatever the trace says: modules
 * stand one behind the other, and functions where they are in their files if that is possible.
 *
 * Times are later by FIRST_NS: uftrace takes a first time of 0 for one that it does not know yet,
 * and then has ranges of time (-r) wrong.
 *
 * uftrace sums by name, so functions that share one get their places added. A record of lost events
 * makes it take 1 ns off the self time of the function on top, so one of its own is put there.
 */
#define _GNU_SOURCE
#include "analyzer/output/format/slices.h"
#include "analyzer/output/view.h"
#include "common/out_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION "7465657065726600"
#define FIRST_ADDRESS UINT64_C(0x10000)
#define PAGE UINT64_C(0x1000)
#define MODULE_SIZE_MAX (UINT64_C(1) << 32)
#define STACK_ADDRESS UINT64_C(0x7ffffffde000)
#define STEP 16
#define FIRST_NS 1
#define DEPTH_MAX 1023  // the reader takes 1024 and no more, and one may be for lost events
#define STACK_SIZE 1040 // entries that it has for them

enum record_type { RECORD_ENTRY = 0, RECORD_EXIT = 1, RECORD_LOST = 2, RECORD_EVENT = 3 };
#define FIRST_EVENT 1000001 // of a program, not of the reader's own
enum { RECORD_MAGIC = 5 };
// Sessions, relative symbols, size of the stack, perf events, lines.
enum { FEATURES = 1 << 1 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 10, FEATURE_EVENTS = 1 << 7 };
enum { INFORMATION = 1 << 0 | 1 << 3 | 1 << 7 }; // program, command, threads

struct module {
	const char *name; // a file name, unlike all others
	uint32_t first;   // in state.order
	uint32_t count;
	uint64_t base;
	uint64_t size;
};

struct state {
	struct tp_function *functions;
	uint32_t *order;     // functions, by module and address
	uint64_t *addresses; // of the functions
	struct module *modules;
	uint32_t module_count;
	const struct module *module; // whose files are written
	bool *shared;                // of each function: others have its name, too
	uint64_t lost_address;       // of the function that stands for lost events
	struct tp_arena arena;       // of all of these
	struct tp_out_file data;     // the current thread's
	bool data_open;
	struct tp_slice_moment *moments; // marks of all threads, in order of time
	uint64_t moment_count;
	uint64_t next_moment; // of the current thread, or of another one before it
	const char **names;   // of events, each once, in order
	uint32_t name_count;
	uint32_t depth; // slices of the thread that are open
};

// ---- made-up addresses

static int compare_places(const void *a, const void *b, void *context)
{
	const struct tp_function *functions = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const int order = strcmp(functions[x].symbol.module, functions[y].symbol.module);
	if (order)
		return order;
	if (functions[x].symbol.address != functions[y].symbol.address)
		return functions[x].symbol.address < functions[y].symbol.address ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int compare_names(const void *a, const void *b, void *context)
{
	const struct tp_function *functions = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const int order = strcmp(functions[x].symbol.name, functions[y].symbol.name);
	return order ? order : x < y ? -1 : x > y;
}

// A name of a file of its own: of harmless characters, and without a folder.
static const char *file_name(struct state *state, const char *module, uint32_t number)
{
	struct tp_buf name;
	tp_buf_init(&name);
	for (const char *at = module; *at && name.size < 200; at++)
		tp_buf_add_char(&name, (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
					       (*at >= '0' && *at <= '9') ||
					       (*at && strchr("._+-", *at))
					   ? *at
					   : '_');
	if (!name.size || name.data[0] == '.')
		tp_buf_add_string(&name, "_");
	for (uint32_t i = 0; i < number; i++)
		if (strcmp(state->modules[i].name, name.data) == 0) {
			tp_buf_addf(&name, "-%u", number + 1);
			i = UINT32_MAX; // and once more, with the longer name
		}
	const char *copy = name.failed ? NULL : tp_arena_copy(&state->arena, name.data, name.size);
	tp_buf_release(&name);
	return copy;
}

// Addresses of the functions of a module: their own if they differ and are near one another.
static void place(struct state *state, struct module *module, uint64_t base)
{
	const struct tp_function *functions = state->functions;
	const uint32_t *order = state->order + module->first;
	bool own = true;
	for (uint32_t i = 0; i < module->count; i++) {
		const uint64_t at = functions[order[i]].symbol.address;
		own = own && at < MODULE_SIZE_MAX - PAGE &&
		      (!i || at > functions[order[i - 1]].symbol.address);
	}
	module->base = base;
	module->size = 0;
	for (uint32_t i = 0; i < module->count; i++) {
		const uint64_t at = own ? functions[order[i]].symbol.address : (uint64_t)i * STEP;
		state->addresses[order[i]] = base + at;
		module->size = at + STEP;
	}
	if (!state->lost_address) {
		state->lost_address = base + module->size;
		module->size += STEP;
	}
	module->size = (module->size + PAGE) / PAGE * PAGE;
}

static bool add_module(struct state *state, const char *name, uint32_t first, uint32_t count)
{
	const uint32_t number = state->module_count;
	struct module *module = &state->modules[number];
	module->name = file_name(state, name, number);
	module->first = first;
	module->count = count;
	if (!module->name)
		return false;
	const struct module *before = number ? module - 1 : NULL;
	place(state, module, before ? before->base + before->size + PAGE : FIRST_ADDRESS);
	state->module_count++;
	return true;
}

static bool place_functions(struct state *state, const struct tp_analysis *analysis)
{
	const uint32_t count = analysis->function_count;
	const char *program = tp_tracefile_program(analysis->trace);
	const struct tp_function *functions = state->functions = analysis->functions;
	state->order = tp_arena_alloc(&state->arena, (count + UINT64_C(1)) * sizeof(*state->order));
	state->addresses =
	    tp_arena_alloc(&state->arena, (count + UINT64_C(1)) * sizeof(*state->addresses));
	state->modules =
	    tp_arena_alloc(&state->arena, (count + UINT64_C(1)) * sizeof(*state->modules));
	if (!state->order || !state->addresses || !state->modules)
		return false;
	for (uint32_t i = 0; i < count; i++)
		state->order[i] = i;
	qsort_r(state->order, count, sizeof(*state->order), compare_places, analysis->functions);
	for (uint32_t i = 0, next; i < count; i = next) {
		const char *name = functions[state->order[i]].symbol.module;
		for (next = i + 1; next < count; next++)
			if (strcmp(functions[state->order[next]].symbol.module, name) != 0)
				break;
		if (!add_module(state, name[0] ? name : program, i, next - i))
			return false;
	}
	return count || add_module(state, program, 0, 0);
}

// Which functions share their name.
static bool find_shared(struct state *state, uint32_t count)
{
	struct tp_function *functions = state->functions;
	uint32_t *order = tp_arena_alloc(&state->arena, (count + UINT64_C(1)) * sizeof(*order));
	state->shared = tp_arena_alloc(&state->arena, (count + UINT64_C(1)) * sizeof(bool));
	if (!order || !state->shared)
		return false;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_names, functions);
	for (uint32_t i = 1; i < count; i++)
		if (strcmp(functions[order[i]].symbol.name, functions[order[i - 1]].symbol.name) ==
		    0)
			state->shared[order[i]] = state->shared[order[i - 1]] = true;
	return true;
}

// ---- events, which marks are here

static int compare_event_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// What an event is called: a word.
static const char *event_name(struct state *state, const struct tp_slice_moment *moment)
{
	static const char *const prefixes[] = {"mark:", "phase_begin:", "phase_end:"};
	struct tp_buf name;
	tp_buf_init(&name);
	tp_buf_add_string(&name, prefixes[moment->what]);
	for (const char *at = moment->name; *at; at++)
		tp_buf_add_char(&name, *at == ' ' || *at == ':' ? '_' : *at);
	const char *copy = name.failed ? NULL : tp_arena_copy(&state->arena, name.data, name.size);
	tp_buf_release(&name);
	return copy;
}

// The moments get their events' names.
static bool name_events(struct tp_slices *slices)
{
	struct state *state = slices->state;
	state->moments = tp_slices_moments(slices, &state->moment_count);
	if (!state->moments)
		return false;
	const size_t count = state->moment_count;
	state->names = tp_arena_alloc(&state->arena, (count + 1) * sizeof(*state->names));
	for (size_t i = 0; state->names && i < count; i++) {
		state->moments[i].name = event_name(state, &state->moments[i]);
		if (!state->moments[i].name)
			return false;
		state->names[i] = state->moments[i].name;
	}
	if (!state->names)
		return false;
	qsort(state->names, count, sizeof(*state->names), compare_event_names);
	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(state->names[i], state->names[state->name_count - 1]) != 0)
			state->names[state->name_count++] = state->names[i];
	return true;
}

static void write_events(const struct tp_slices *slices, struct tp_buf *out)
{
	const struct state *state = slices->state;
	for (uint32_t i = 0; i < state->name_count; i++)
		tp_buf_addf(out, "EVENT: %u %s\n", FIRST_EVENT + i, state->names[i]);
}

static int init(struct tp_slices *slices, struct tp_err *err)
{
	struct state *state = slices->state;
	tp_arena_init(&state->arena);
	if (!place_functions(state, slices->analysis) ||
	    !find_shared(state, slices->analysis->function_count) || !name_events(slices))
		return tp_err_memory(err, slices->analysis->trace->source.name);
	return 0;
}

static void release(struct tp_slices *slices)
{
	struct state *state = slices->state;
	struct tp_err ignored;
	if (state->data_open)
		tp_out_file_close(&state->data, &ignored);
	free(state->moments);
	tp_arena_release(&state->arena);
}

// ---- the small files

static void write_info(const struct tp_slices *slices, struct tp_buf *out)
{
	const struct state *state = slices->state;
	const struct tp_analysis *analysis = slices->analysis;
	const uint32_t version = 4;
	const uint16_t size = 40;
	const uint8_t kind[2] = {1, 2}; // little-endian, 64 bits
	const uint64_t features = FEATURES | (state->name_count ? FEATURE_EVENTS : 0);
	const uint64_t information = INFORMATION;
	const uint16_t stack = STACK_SIZE;
	tp_buf_add(out, "Ftrace!", 8);
	tp_buf_add(out, &version, 4);
	tp_buf_add(out, &size, 2);
	tp_buf_add(out, kind, 2);
	tp_buf_add(out, &features, 8);
	tp_buf_add(out, &information, 8);
	tp_buf_add(out, &stack, 2);
	tp_buf_add(out, "\0\0\0\0\0", 6);
	tp_buf_addf(out, "exename:/%s\ncmdline:", state->modules[0].name);
	const char *const *arguments = analysis->trace->arguments;
	for (uint32_t i = 0; arguments && arguments[i]; i++) {
		tp_buf_add_string(out, i ? " " : "");
		for (const char *at = arguments[i]; *at; at++)
			tp_buf_add_char(out, (unsigned char)*at < 0x20 || *at == 0x7f ? ' ' : *at);
	}
	tp_buf_addf(
	    out, "\ntaskinfo:lines=2\ntaskinfo:nr_tid=%u\ntaskinfo:tids=", analysis->thread_count);
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		tp_buf_addf(out, "%s%u", i ? "," : "", slices->tids[i]);
	tp_buf_add_char(out, '\n');
}

static void write_tasks(const struct tp_slices *slices, struct tp_buf *out)
{
	const struct state *state = slices->state;
	const uint32_t pid = tp_slices_pid(slices);
	tp_buf_addf(out, "SESS timestamp=0.000000000 pid=%u sid=" SESSION " exename=\"/%s\"\n", pid,
	    state->modules[0].name);
	for (uint32_t i = 0; i < slices->analysis->thread_count; i++)
		tp_buf_addf(
		    out, "TASK timestamp=0.000000000 tid=%u pid=%u\n", slices->tids[i], pid);
}

// Names of threads: records PERF_RECORD_COMM with the sample's thread and time behind them.
static void write_names(const struct tp_slices *slices, struct tp_buf *out)
{
	const uint32_t pid = tp_slices_pid(slices);
	for (uint32_t i = 0; i < slices->analysis->thread_count; i++) {
		struct {
			uint32_t type;
			uint16_t misc;
			uint16_t size;
			uint32_t pid;
			uint32_t tid;
			char name[16];
			uint32_t sample_pid;
			uint32_t sample_tid;
			uint64_t time;
		} record = {
		    3, 0, sizeof(record), pid, slices->tids[i], "", pid, slices->tids[i], FIRST_NS};
		const char *name = tp_view_thread_name(slices->analysis->threads[i].thread);
		memcpy(record.name, name, strnlen(name, sizeof(record.name) - 1));
		tp_buf_add(out, &record, sizeof(record));
	}
}

static void write_map(const struct tp_slices *slices, struct tp_buf *out)
{
	const struct state *state = slices->state;
	for (uint32_t i = 0; i < state->module_count; i++) {
		const struct module *module = &state->modules[i];
		tp_buf_addf(out,
		    "%012" PRIx64 "-%012" PRIx64
		    " r-xp 00000000 00:00 0                          /%s\n",
		    module->base, module->base + module->size, module->name);
	}
	tp_buf_addf(out,
	    "%012" PRIx64 "-%012" PRIx64
	    " rw-p 00000000 00:00 0                          [stack]\n",
	    STACK_ADDRESS, STACK_ADDRESS + 0x21000);
}

static void add_place(struct tp_buf *out, const struct tp_symbol *symbol)
{
	const char *slash = strrchr(symbol->file, '/');
	if (symbol->file[0])
		tp_buf_addf(
		    out, " (%s:%" PRIu64 ")", slash ? slash + 1 : symbol->file, symbol->line);
	else
		tp_buf_addf(out, " (%s+0x%" PRIx64 ")", symbol->module, symbol->address);
}

// The names of functions; those that several have get a place.
static void add_name(struct tp_buf *out, const struct state *state, uint32_t function)
{
	const struct tp_symbol *symbol = &state->functions[function].symbol;
	tp_buf_add_string(out, symbol->name);
	if (state->shared[function])
		add_place(out, symbol);
}

static void write_symbols(const struct tp_slices *slices, struct tp_buf *out)
{
	const struct state *state = slices->state;
	const struct module *module = state->module;
	for (uint32_t i = 0; i < module->count; i++) {
		const uint32_t function = state->order[module->first + i];
		tp_buf_addf(out, "%016" PRIx64 " T ", state->addresses[function] - module->base);
		add_name(out, state, function);
		tp_buf_add_char(out, '\n');
	}
	if (module == state->modules)
		tp_buf_addf(
		    out, "%016" PRIx64 " T [events lost]\n", state->lost_address - module->base);
	tp_buf_addf(out, "%016" PRIx64 " ? __sym_end\n", module->size);
}

static void write_lines(const struct tp_slices *slices, struct tp_buf *out)
{
	const struct state *state = slices->state;
	const struct module *module = state->module;
	tp_buf_addf(out, "# path name: /%s\n", module->name);
	for (uint32_t i = 0; i < module->count; i++) {
		const uint32_t function = state->order[module->first + i];
		const struct tp_symbol *symbol = &state->functions[function].symbol;
		if (!symbol->file[0])
			continue;
		tp_buf_addf(out, "F: %" PRIx64 " ", state->addresses[function] - module->base);
		add_name(out, state, function);
		tp_buf_addf(out, "\nL: %" PRIu64 " %s\n", symbol->line, symbol->file);
	}
}

typedef void write_file(const struct tp_slices *slices, struct tp_buf *out);

static int add_file(const struct tp_slices *slices, const char *name, const char *suffix,
    write_file *write, struct tp_err *err)
{
	struct tp_out_file file;
	struct tp_err ignored;
	char whole[256];
	snprintf(whole, sizeof(whole), "%s%s", name, suffix);
	int code = tp_out_file_open_in(&file, slices->directory, whole, err);
	if (!code)
		write(slices, &file.buf);
	const int closed = tp_out_file_close(&file, code ? &ignored : err);
	return code ? code : closed;
}

static int head(struct tp_slices *slices, struct tp_err *err)
{
	static const struct {
		const char *name;
		write_file *write;
	} files[] = {{"info", write_info}, {"task.txt", write_tasks},
	    {"sid-" SESSION ".map", write_map}, {"perf-cpu0.dat", write_names}};
	struct state *state = slices->state;
	int code = state->name_count ? add_file(slices, "events.txt", "", write_events, err) : 0;
	for (size_t i = 0; !code && i < sizeof(files) / sizeof(files[0]); i++)
		code = add_file(slices, files[i].name, "", files[i].write, err);
	for (uint32_t i = 0; !code && i < state->module_count; i++) {
		state->module = &state->modules[i];
		code = add_file(slices, state->module->name, ".sym", write_symbols, err);
		if (!code)
			code = add_file(slices, state->module->name, ".dbg", write_lines, err);
	}
	return code;
}

// ---- records

static void add_record(struct tp_slices *slices, uint64_t time, enum record_type type,
    uint32_t depth, uint64_t address)
{
	struct state *state = slices->state;
	const uint64_t record[2] = {
	    time + FIRST_NS,
	    (uint64_t)type | (uint64_t)RECORD_MAGIC << 3 | (uint64_t)(depth & 0x3ff) << 6 |
		address << 16,
	};
	tp_buf_add(&state->data.buf, record, sizeof(record));
}

// The marks of the thread up to a time; the first thread has those from outside, too.
static void add_events(struct tp_slices *slices, uint64_t time)
{
	struct state *state = slices->state;
	const uint32_t thread = (uint32_t)(slices->thread - slices->analysis->threads);
	for (; state->next_moment < state->moment_count; state->next_moment++) {
		const struct tp_slice_moment *moment = &state->moments[state->next_moment];
		if (moment->ns > time || moment->ns >= slices->to_ns)
			break;
		if (moment->thread != thread &&
		    (thread || moment->thread != slices->analysis->thread_count))
			continue;
		const char *const *name = bsearch(&moment->name, state->names, state->name_count,
		    sizeof(*state->names), compare_event_names);
		add_record(slices, moment->ns, RECORD_EVENT, state->depth,
		    FIRST_EVENT + (uint64_t)(name - state->names));
	}
}

static int thread_begin(struct tp_slices *slices, struct tp_err *err)
{
	struct state *state = slices->state;
	char name[32];
	snprintf(name, sizeof(name), "%u.dat", tp_slices_tid(slices));
	state->data_open = true;
	state->next_moment = state->depth = 0;
	while (state->next_moment < state->moment_count &&
	       state->moments[state->next_moment].ns < slices->from_ns)
		state->next_moment++;
	return tp_out_file_open_in(&state->data, slices->directory, name, err);
}

static int thread_end(struct tp_slices *slices, struct tp_err *err)
{
	struct state *state = slices->state;
	add_events(slices, UINT64_MAX);
	state->data_open = false;
	return tp_out_file_close(&state->data, err);
}

static uint64_t address_of(const struct tp_slices *slices, const struct tp_function *function)
{
	const struct state *state = slices->state;
	return state->addresses[function - slices->analysis->functions];
}

static void begin(struct tp_slices *slices, const struct tp_slice *slice)
{
	struct state *state = slices->state;
	add_events(slices, slice->time);
	state->depth = slice->depth + 1;
	add_record(
	    slices, slice->time, RECORD_ENTRY, slice->depth, address_of(slices, slice->function));
}

static void end(struct tp_slices *slices, const struct tp_slice *slice)
{
	struct state *state = slices->state;
	add_events(slices, slice->time);
	state->depth = slice->depth;
	add_record(
	    slices, slice->time, RECORD_EXIT, slice->depth, address_of(slices, slice->function));
}

static void lost(struct tp_slices *slices, uint64_t time, uint64_t count, uint32_t depth)
{
	const struct state *state = slices->state;
	add_events(slices, time);
	add_record(slices, time, RECORD_ENTRY, depth, state->lost_address);
	add_record(slices, time, RECORD_LOST, depth + 1, count < INT32_MAX ? count : INT32_MAX);
	add_record(slices, time, RECORD_EXIT, depth, state->lost_address);
}

static const struct tp_slice_format format = {TP_SLICE_FORMAT, .directory = true,
    .depth_max = DEPTH_MAX, .init = init, .lost = lost, .thread_end = thread_end,
    .release = release};

const struct tp_export tp_export_uftrace = {
    .name = "uftrace",
    .summary = "a data directory for uftrace report, graph, tui, replay, dump",
    .suffix = ".uftrace",
    .slices = &format,
};
