// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of the kernel and the processor, by perf_event_open.
#define _GNU_SOURCE
#include "counters.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "common/array.h"
#include "common/spelling.h"
#include "common/units.h"
#include "recorder/region/proc.h"

#define SOFTWARE(event) .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##event
#define HARDWARE(event) .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##event
#define CACHE(cache, op, result)                                                 \
	.type = PERF_TYPE_HW_CACHE, .config = PERF_COUNT_HW_CACHE_##cache |      \
					      PERF_COUNT_HW_CACHE_OP_##op << 8 | \
					      PERF_COUNT_HW_CACHE_RESULT_##result << 16

enum where {
	ANYWHERE,
	IN_KERNEL, // it happens there, so a count of user space would be 0
	TIME,      // it is the same whether or not the kernel is left out
};

// perf's names; aliases follow what they are aliases of, which the meter is called.
static const struct event {
	const char *name;
	const char *alias; // or NULL
	uint32_t type;
	uint64_t config;
	uint32_t unit;
	enum where where;
} events[] = {
    {"task-clock", SOFTWARE(TASK_CLOCK), .unit = TEEPERF_METER_NS, .where = TIME},
    {"cpu-clock", SOFTWARE(CPU_CLOCK), .unit = TEEPERF_METER_NS, .where = TIME},
    {"page-faults", "faults", SOFTWARE(PAGE_FAULTS)},
    {"minor-faults", SOFTWARE(PAGE_FAULTS_MIN)},
    {"major-faults", SOFTWARE(PAGE_FAULTS_MAJ)},
    {"context-switches", "cs", SOFTWARE(CONTEXT_SWITCHES), .where = IN_KERNEL},
    {"cpu-migrations", "migrations", SOFTWARE(CPU_MIGRATIONS), .where = IN_KERNEL},
    {"alignment-faults", SOFTWARE(ALIGNMENT_FAULTS)},
    {"emulation-faults", SOFTWARE(EMULATION_FAULTS)},
    {"cycles", "cpu-cycles", HARDWARE(CPU_CYCLES)},
    {"instructions", HARDWARE(INSTRUCTIONS)},
    {"branches", "branch-instructions", HARDWARE(BRANCH_INSTRUCTIONS)},
    {"branch-misses", HARDWARE(BRANCH_MISSES)},
    {"cache-references", HARDWARE(CACHE_REFERENCES)},
    {"cache-misses", HARDWARE(CACHE_MISSES)},
    {"bus-cycles", HARDWARE(BUS_CYCLES)},
    {"ref-cycles", HARDWARE(REF_CPU_CYCLES)},
    {"stalled-cycles-frontend", "idle-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)},
    {"stalled-cycles-backend", "idle-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)},
    {"L1-dcache-loads", CACHE(L1D, READ, ACCESS)},
    {"L1-dcache-load-misses", CACHE(L1D, READ, MISS)},
    {"L1-icache-load-misses", CACHE(L1I, READ, MISS)},
    {"LLC-loads", CACHE(LL, READ, ACCESS)},
    {"LLC-load-misses", CACHE(LL, READ, MISS)},
    {"LLC-stores", CACHE(LL, WRITE, ACCESS)},
    {"dTLB-loads", CACHE(DTLB, READ, ACCESS)},
    {"dTLB-load-misses", CACHE(DTLB, READ, MISS)},
    {"dTLB-store-misses", CACHE(DTLB, WRITE, MISS)},
    {"iTLB-load-misses", CACHE(ITLB, READ, MISS)},
};
enum { EVENT_COUNT = sizeof(events) / sizeof(events[0]), NAME_SIZE = 48 };

// ---- Names.

// "rNNN", a raw code in hexadecimal.
static bool is_raw(const char *word, uint64_t *config)
{
	char *end;
	if (word[0] != 'r' || strspn(word + 1, "0123456789abcdefABCDEF") != strlen(word + 1) ||
	    !word[1])
		return false;
	errno = 0;
	*config = strtoull(word + 1, &end, 16);
	return !errno;
}

static bool find_event(const char *word, struct event *event)
{
	for (int i = 0; i < EVENT_COUNT; i++)
		if (!strcmp(word, events[i].name) ||
		    (events[i].alias && !strcmp(word, events[i].alias))) {
			*event = events[i];
			return true;
		}
	*event = (struct event){.name = word, .type = PERF_TYPE_RAW};
	return is_raw(word, &event->config);
}

static int refuse(const char *word, struct tp_err *err)
{
	const char *words[2 * EVENT_COUNT + 3] = {TP_COUNTERS_CGROUP, TP_COUNTERS_GRAMINE};
	int count = 2;
	for (int i = 0; i < EVENT_COUNT; i++) {
		words[count++] = events[i].name;
		if (events[i].alias)
			words[count++] = events[i].alias;
	}
	const char *meant = tp_spelling_nearest(word, words);
	if (meant)
		return tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "unknown counter '%s'; did you mean '%s'?", word, meant);
	return tp_err_set(err, TP_ERR_SYNTAX, NULL,
	    "unknown counter '%s'; 'teeperf record --counters=list' shows all", word);
}

void tp_counters_list(struct tp_buf *out, const char *indent)
{
	size_t line = 0;
	for (int i = 0; i < EVENT_COUNT; i++) {
		tp_buf_addf(out, "%s%s, ", line ? "" : indent, events[i].name);
		line += strlen(events[i].name) + 2;
		if (line > 70) {
			out->data[out->size - 1] = '\n';
			line = 0;
		}
	}
	tp_buf_addf(out, "%srNNN (a raw code in hexadecimal), %s, %s\n", line ? "" : indent,
	    TP_COUNTERS_CGROUP, TP_COUNTERS_GRAMINE);
}

// The next word of LIST into WORD, and *LIST behind it. False: there is none left, or *CODE is an
// error.
static bool next_word(const char **list, char word[NAME_SIZE], int *code, struct tp_err *err)
{
	if (*code || !*list)
		return false;
	const size_t size = strcspn(*list, ",");
	if (!size || size >= NAME_SIZE) {
		*code = size ? tp_err_set(err, TP_ERR_SYNTAX, NULL, "unknown counter '%.*s'",
				   (int)size, *list)
			     : tp_err_set(err, TP_ERR_SYNTAX, NULL,
				   "a counter's name is empty: separate names with one comma");
		return false;
	}
	memcpy(word, *list, size);
	word[size] = '\0';
	*list = (*list)[size] ? *list + size + 1 : NULL;
	return true;
}

bool tp_counters_has(const char *list, const char *word)
{
	char at[NAME_SIZE];
	int code = 0;
	while (next_word(&list, at, &code, NULL))
		if (!strcmp(at, word))
			return true;
	return false;
}

// Fill the meters, and EVENTS that go with them.
static int parse(struct tp_counters *counters, const char *list,
    struct event found[TP_COUNTERS_MOST], struct tp_err *err)
{
	char word[NAME_SIZE];
	int code = 0;
	while (next_word(&list, word, &code, err)) {
		struct event event;
		const bool is_cgroup = !strcmp(word, TP_COUNTERS_CGROUP);
		const bool is_gramine = !strcmp(word, TP_COUNTERS_GRAMINE);
		counters->with_cgroup |= is_cgroup;
		counters->with_gramine |= is_gramine;
		if (is_cgroup || is_gramine)
			continue;
		if (!find_event(word, &event))
			return refuse(word, err);
		bool twice = false;
		for (uint32_t i = 0; i < counters->count; i++)
			twice |= !strcmp(counters->meters[i].name, event.name);
		if (twice)
			continue;
		if (counters->count == TP_COUNTERS_MOST)
			return tp_err_set(err, TP_ERR_SYNTAX, NULL,
			    "at most %d counters can be named", TP_COUNTERS_MOST);
		tp_meter_init(&counters->meters[counters->count], event.name, event.unit,
		    TEEPERF_METER_TOTAL);
		found[counters->count++] = event;
	}
	return code;
}

int tp_counters_check(const char *list, struct tp_err *err)
{
	struct event found[TP_COUNTERS_MOST];
	struct tp_counters *counters = calloc(1, sizeof(*counters));
	const int code = counters ? parse(counters, list, found, err) : tp_err_memory(err, NULL);
	free(counters);
	return code;
}

// ---- Opening.

static int open_event(const struct event *event, pid_t tid, bool on_exec, bool user_only)
{
	struct perf_event_attr attr = {
	    .type = event->type,
	    .size = sizeof(attr),
	    .config = event->config,
	    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	    .inherit = 1,
	    .disabled = on_exec,
	    .enable_on_exec = on_exec,
	    .exclude_kernel = user_only,
	    .exclude_hv = user_only,
	};
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool is_refusal(int error)
{
	return error == EACCES || error == EPERM;
}

static void explain(struct teeperf_trace_meter *meter, const struct event *event, int error)
{
	char text[16] = "";
	const size_t size = tp_proc_read(0, "sys/kernel/perf_event_paranoid", text, sizeof(text));
	text[size ? strcspn(text, "\n") : 0] = '\0';
	if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP || error == EINVAL)
		TP_METER_NOTE(meter, "not supported by this machine or its kernel");
	else if (error == ENOSYS)
		TP_METER_NOTE(meter, "this kernel has no perf_event_open");
	else if (is_refusal(error) && !geteuid())
		TP_METER_NOTE(
		    meter, "perf_event_open is forbidden by this container or its seccomp filter");
	else if (is_refusal(error) && event->where == IN_KERNEL)
		TP_METER_NOTE(meter,
		    "only root may count kernel events (perf_event_paranoid is %s): run as root, "
		    "or set it to 1",
		    text);
	else if (is_refusal(error))
		TP_METER_NOTE(meter,
		    "not permitted (perf_event_paranoid is %s): run as root or with CAP_PERFMON, "
		    "or lower it",
		    text);
	else if (error == ESRCH)
		TP_METER_NOTE(meter, "the process has ended");
	else
		TP_METER_NOTE(meter, "%s", strerror(error));
}

// Of one thread. 0 or an errno; once one is of user space only, all are.
static int add_fd(struct tp_counter_fds *of, struct teeperf_trace_meter *meter,
    const struct event *event, pid_t tid, bool on_exec)
{
	bool user_only = meter->flags & TEEPERF_METER_USER_ONLY;
	int fd = open_event(event, tid, on_exec, user_only);
	if (fd < 0 && is_refusal(errno) && !user_only && event->where != IN_KERNEL) {
		user_only = true;
		fd = open_event(event, tid, on_exec, true);
	}
	if (fd < 0)
		return errno;
	if (user_only && event->where != TIME)
		meter->flags |= TEEPERF_METER_USER_ONLY;
	int *larger = realloc(of->fds, (of->count + 1) * sizeof(*larger));
	if (!larger) {
		close(fd);
		return ENOMEM;
	}
	of->fds = larger;
	of->fds[of->count++] = fd;
	return 0;
}

static void open_one(struct tp_counters *counters, uint32_t i, const struct event *event,
    const pid_t *threads, uint64_t thread_count)
{
	struct teeperf_trace_meter *meter = &counters->meters[i];
	int error = 0;
	for (uint64_t t = 0; t < thread_count && !error; t++) {
		error = add_fd(&counters->of[i], meter, event, threads[t], !threads[t]);
		// A thread may have ended since it was seen.
		if (error == ESRCH && (t || thread_count > 1))
			error = 0;
	}
	if (!error && !counters->of[i].count)
		error = ESRCH;
	if (error) {
		explain(meter, event, error);
		return;
	}
	meter->flags |= TEEPERF_METER_COUNTED | TEEPERF_METER_TIMED;
	if (meter->flags & TEEPERF_METER_USER_ONLY)
		TP_METER_NOTE(meter, "user space only");
}

// The threads of PID, to be freed, or 0 for PID 0: those to come. NULL: no memory.
static pid_t *list_threads(pid_t pid, uint64_t *count)
{
	char path[32];
	pid_t *threads = NULL;
	uint64_t room = 0;
	*count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = pid ? opendir(path) : NULL;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		const long tid = strtol(entry->d_name, NULL, 10);
		if (tid <= 0)
			continue;
		if (!TP_GROW(threads, room, *count + 1)) {
			free(threads);
			threads = NULL;
			break;
		}
		threads[(*count)++] = (pid_t)tid;
	}
	if (folder)
		closedir(folder);
	if (!*count && !threads && (threads = calloc(1, sizeof(*threads)))) {
		*threads = pid;
		*count = 1;
	}
	return threads;
}

int tp_counters_open(struct tp_counters *counters, const char *list, pid_t pid, struct tp_err *err)
{
	struct event found[TP_COUNTERS_MOST];
	*counters = (struct tp_counters){.count = 0};
	const int code = parse(counters, list, found, err);
	if (code)
		return code;
	uint64_t thread_count;
	pid_t *threads = list_threads(pid, &thread_count);
	if (!threads)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < counters->count; i++)
		open_one(counters, i, &found[i], threads, thread_count);
	free(threads);
	return 0;
}

// ---- Reading.

void tp_counters_read(struct tp_counters *counters, struct tp_meter_value *readings)
{
	for (uint32_t i = 0; i < counters->count; i++) {
		struct tp_meter_value *to = &readings[i];
		*to = (struct tp_meter_value){
		    .known = counters->meters[i].flags & TEEPERF_METER_COUNTED};
		for (uint32_t j = 0; to->known && j < counters->of[i].count; j++) {
			uint64_t words[3];
			if (read(counters->of[i].fds[j], words, sizeof(words)) != sizeof(words)) {
				counters->meters[i].flags |= TEEPERF_METER_BROKEN;
				to->known = false;
				break;
			}
			to->value += words[0];
			to->enabled_ns += words[1];
			to->running_ns += words[2];
		}
	}
}

void tp_counters_close(struct tp_counters *counters)
{
	for (uint32_t i = 0; i < counters->count; i++) {
		for (uint32_t j = 0; j < counters->of[i].count; j++)
			close(counters->of[i].fds[j]);
		free(counters->of[i].fds);
		counters->of[i] = (struct tp_counter_fds){NULL, 0};
	}
	counters->count = 0;
}

bool tp_counters_scale(
    const struct tp_meter_value *from, const struct tp_meter_value *to, double *value)
{
	return tp_scale_counted(to->value - from->value, to->enabled_ns - from->enabled_ns,
	    to->running_ns - from->running_ns, value);
}
