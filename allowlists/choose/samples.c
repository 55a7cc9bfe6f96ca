// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samples of a profiler: perf.data by way of perf report, folded stacks, or lines NAME<TAB>SAMPLES.
#include "workload.h"

#include "common/array.h"
#include "common/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define PERF_MAGIC "PERFILE2"

// Functions by demangled name, for profilers that write those.
struct names {
	const struct tp_workload_function **sorted;
	uint32_t count;
};

static int compare_names(const void *a, const void *b)
{
	const struct tp_workload_function *x = *(const struct tp_workload_function *const *)a;
	const struct tp_workload_function *y = *(const struct tp_workload_function *const *)b;
	const int order = strcmp(x->demangled, y->demangled);
	if (order)
		return order;
	// Constructors have two bodies of one name: the one that runs comes first.
	return (x->calls < y->calls) - (x->calls > y->calls);
}

static bool sort_names(struct names *names, const struct tp_workload *workload)
{
	names->sorted = malloc(((size_t)workload->function_count + 1) * sizeof(*names->sorted));
	if (!names->sorted)
		return false;
	for (uint32_t i = 0; i < workload->function_count; i++)
		if (workload->functions[i].demangled != workload->functions[i].name)
			names->sorted[names->count++] = &workload->functions[i];
	qsort(names->sorted, names->count, sizeof(*names->sorted), compare_names);
	return true;
}

static uint32_t find_demangled(
    const struct names *names, const struct tp_workload *workload, const char *name)
{
	const uint32_t low = TP_LOWER_BOUND(
	    0, names->count, middle, strcmp(names->sorted[middle]->demangled, name) < 0);
	if (low == names->count || strcmp(names->sorted[low]->demangled, name) != 0)
		return NONE;
	return (uint32_t)(names->sorted[low] - workload->functions);
}

static void add(struct tp_samples *samples, struct tp_workload *workload, const struct names *names,
    const char *name, uint64_t count)
{
	uint32_t at = tp_workload_find_clone(workload, name);
	if (at == NONE)
		at = find_demangled(names, workload, name);
	samples->all += count;
	if (at == NONE)
		return;
	workload->functions[at].samples += count;
	samples->known += count;
}

// The number at the end of a line, behind the last tab or space, which is cut off with it.
static bool cut_number(char *line, uint64_t *number)
{
	char *separator = strrchr(line, '\t');
	if (!separator)
		separator = strrchr(line, ' ');
	if (!separator)
		return false;
	const char *digits = separator + 1 + strspn(separator + 1, " ");
	if (*digits < '0' || *digits > '9')
		return false;
	char *end;
	errno = 0;
	*number = strtoull(digits, &end, 10);
	if (*end || errno || *number > UINT64_MAX / 1024)
		return false;
	while (separator > line && (separator[-1] == ' ' || separator[-1] == '\t'))
		separator--;
	*separator = '\0';
	return separator > line;
}

static int read_text(struct tp_samples *samples, struct tp_workload *workload,
    const struct names *names, const char *file, FILE *from, struct tp_err *err)
{
	char *line = NULL;
	size_t capacity = 0;
	uint32_t number = 0;
	int code = 0;
	for (ssize_t size; !code && (size = getline(&line, &capacity, from)) >= 0;) {
		number++;
		while (size && (line[size - 1] == '\n' || line[size - 1] == '\r'))
			line[--size] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		uint64_t count;
		if (strlen(line) != (size_t)size || !cut_number(line, &count)) {
			code = tp_err_set_line(err, TP_ERR_SYNTAX, file, number, 1,
			    "a line of samples is 'main;f;g 12' or 'NAME<TAB>12'");
			break;
		}
		const char *leaf = strrchr(line, ';');
		add(samples, workload, names, leaf ? leaf + 1 : line, count);
	}
	free(line);
	return code;
}

// Lines " 1111<TAB>[.] name" of perf report, and what its heading says of the time.
static void read_report(
    struct tp_samples *samples, struct tp_workload *workload, const struct names *names, char *text)
{
	bool clock = false;
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (line[0] == '#') {
			const char *count = strstr(line, "Event count (approx.): ");
			if (strstr(line, " of event '"))
				clock = strstr(line, "'cpu-clock") || strstr(line, "'task-clock");
			else if (count && clock)
				samples->time_ns += strtod(strchr(count, ':') + 1, NULL);
			continue;
		}
		char *end;
		const uint64_t count = strtoull(line, &end, 10);
		const char *symbol = strchr(line, ']');
		if (end == line || !symbol || symbol[1] != ' ' || !symbol[2])
			continue;
		char *tail = line + strlen(line);
		while (tail[-1] == ' ' || tail[-1] == '\t')
			*--tail = '\0';
		add(samples, workload, names, symbol + 2, count);
	}
}

int tp_perf_report(const char *file, struct tp_buf *report, struct tp_err *err)
{
	// A setting of the user's must not hide functions or demangle names.
	const char *const argv[] = {"perf", "report", "--stdio", "--no-children", "-g", "none",
	    "--no-demangle", "--percent-limit", "0", "-F", "sample,sym", "-t", "\t", "-i", file,
	    NULL};
	int status = 0;
	const int code =
	    tp_process_run(&(struct tp_program){.argv = argv, .output = report}, &status);
	if (code == ENOENT)
		return tp_err_set(err, TP_ERR_SYSTEM, file,
		    "needs perf, which is not installed: install it (Debian: linux-perf), or give "
		    "lines 'NAME<TAB>SAMPLES' instead");
	if (code)
		return tp_err_system(err, code, file, "cannot run perf to read it");
	if (report->failed)
		return tp_err_memory(err, file);
	if (status)
		return tp_err_set(err, TP_ERR_SYSTEM, file,
		    "perf cannot read it: see what 'perf report -i %s' says", file);
	return 0;
}

static int read_perf(struct tp_samples *samples, struct tp_workload *workload,
    const struct names *names, const char *file, struct tp_err *err)
{
	struct tp_buf report;
	tp_buf_init(&report);
	const int code = tp_perf_report(file, &report, err);
	if (!code)
		read_report(samples, workload, names, report.data);
	tp_buf_release(&report);
	return code;
}

int tp_samples_read(
    struct tp_samples *samples, struct tp_workload *workload, const char *file, struct tp_err *err)
{
	memset(samples, 0, sizeof(*samples));
	struct names names = {0};
	FILE *from = fopen(file, "re");
	if (!from)
		return tp_err_system(err, errno, file, "cannot read samples");
	char magic[sizeof(PERF_MAGIC) - 1];
	const bool perf = fread(magic, 1, sizeof(magic), from) == sizeof(magic) &&
			  memcmp(magic, PERF_MAGIC, sizeof(magic)) == 0;
	// A pipe has no way back.
	int code = fseek(from, 0, SEEK_SET) ? tp_err_system(err, errno, file, "cannot read samples")
		   : sort_names(&names, workload) ? 0
						  : tp_err_memory(err, file);
	if (!code)
		code = perf ? read_perf(samples, workload, &names, file, err)
			    : read_text(samples, workload, &names, file, from, err);
	if (!code && ferror(from))
		code = tp_err_system(err, errno, file, "cannot read samples");
	if (!code && !samples->all)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, file, "it has no samples");
	if (!code && !samples->known)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, file,
		    "none of its %" PRIu64
		    " samples is in a function of the profile: they belong to another program, or "
		    "one without symbols",
		    samples->all);
	fclose(from);
	free(names.sorted);
	return code;
}

void tp_samples_apply(
    const struct tp_samples *samples, struct tp_workload *workload, double time_ns)
{
	for (uint32_t i = 0; i < workload->function_count; i++) {
		struct tp_workload_function *function = &workload->functions[i];
		function->raw_self_ns = time_ns * (double)function->samples / (double)samples->all;
		function->self_ns = function->sure_ns = function->raw_self_ns;
		function->quality = TP_QUALITY_SAMPLED;
	}
}
