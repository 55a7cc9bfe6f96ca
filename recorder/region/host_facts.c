// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texts of a trace about where and how it was recorded.
#define _GNU_SOURCE
#include "host_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <teeperf/version.h>

#include "proc.h"

void tp_host_facts_command(struct tp_buf *buf, char *const *argv)
{
	char *folder = getcwd(NULL, 0);
	tp_buf_add_string(buf, folder ? folder : "");
	tp_buf_add_char(buf, '\0');
	free(folder);
	for (; *argv; argv++) {
		tp_buf_add_string(buf, *argv);
		tp_buf_add_char(buf, '\0');
	}
}

void tp_host_facts_command_of(struct tp_buf *buf, pid_t pid)
{
	char path[64];
	char text[4096];
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	const ssize_t length = readlink(path, text, sizeof(text));
	tp_buf_add(buf, text, length > 0 ? (size_t)length : 0);
	tp_buf_add_char(buf, '\0');
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	for (size_t size; (size = fread(text, 1, sizeof(text), file));)
		tp_buf_add(buf, text, size);
	fclose(file);
	// A process may have written over its arguments.
	if (buf->size && buf->data[buf->size - 1])
		tp_buf_add_char(buf, '\0');
}

void tp_host_facts_text(struct tp_buf *buf, const struct tp_host_facts *facts)
{
	struct utsname name;
	tp_buf_addf(buf, "teeperf=%s\n", TEEPERF_VERSION);
	if (uname(&name) == 0)
		tp_buf_addf(
		    buf, "os=%s %s\nmachine=%s\n", name.sysname, name.release, name.machine);
	char *cpu = tp_proc_cpu("model name");
	if (cpu)
		tp_buf_addf(buf, "cpu=%s\n", cpu);
	free(cpu);
	tp_buf_addf(buf, "cores=%d\n", facts->cores);
	tp_buf_addf(buf, "clock=%s\n", facts->clock);
	if (facts->counter_cpu >= 0)
		tp_buf_addf(buf, "counter_cpu=%d\n", facts->counter_cpu);
	tp_buf_addf(
	    buf, "mode=%s\nlog_bytes=%llu\n", facts->mode, (unsigned long long)facts->log_bytes);
	tp_buf_addf(buf, "drain=%s\n", facts->drain);
	if (facts->ring)
		tp_buf_addf(buf, "ring=%u\n", facts->ring);
	if (facts->start_off)
		tp_buf_addf(buf, "on_start=off\n");
	if (facts->has_cost)
		tp_buf_addf(buf,
		    "cost_in_ps=%.0f\ncost_out_ps=%.0f\ncost_untimed_ps=%.0f\n"
		    "cost_in_off_ps=%.0f\ncost_out_off_ps=%.0f\n",
		    facts->cost.in_ns * 1000, facts->cost.out_ns * 1000,
		    facts->cost.untimed_ns * 1000, facts->cost.in_off_ns * 1000,
		    facts->cost.out_off_ns * 1000);
	if (facts->has_cost && facts->cost.wait_ns > 0)
		tp_buf_addf(buf, "cost_wait_ps=%.0f\n", facts->cost.wait_ns * 1000);
	if (facts->process)
		tp_buf_addf(buf, "process=%llu\n", (unsigned long long)facts->process);
	if (facts->parent)
		tp_buf_addf(buf, "parent=%llu\n", (unsigned long long)facts->parent);
	if (facts->port)
		tp_buf_addf(buf, "port=%s\n", facts->port);
	if (facts->transport)
		tp_buf_addf(buf, "transport=%s\n", facts->transport);
	if (!facts->ended)
		return;
	tp_buf_addf(buf, "clock_gaps=%llu\n", (unsigned long long)facts->clock_gaps);
	tp_buf_addf(buf, "functions=%llu\n", (unsigned long long)facts->functions);
	if (facts->only)
		tp_buf_addf(buf, "functions_left_out=%llu\n",
		    (unsigned long long)facts->functions_left_out);
	if (facts->switches_missed)
		tp_buf_addf(
		    buf, "switches_missed=%llu\n", (unsigned long long)facts->switches_missed);
	if (facts->log_gone_bytes)
		tp_buf_addf(
		    buf, "log_gone_bytes=%llu\n", (unsigned long long)facts->log_gone_bytes);
}
