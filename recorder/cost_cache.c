// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Costs that an earlier recording has measured: $XDG_CACHE_HOME/teeperf/cost-CLOCK, text.
#define _GNU_SOURCE
#include "cost_cache.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <teeperf/abi.h>
#include <teeperf/trace.h>
#include <teeperf/version.h>

#include "common/buf.h"
#include "recorder/clock/host_clock.h"
#include "recorder/region/proc.h"

enum { FORMAT = 1, FILE_MOST = 4096, PATH_ROOM = 4096, NAME_ROOM = 64, VALUES = 8 };
// A day: what the machine's neighbours do, and its temperature, is another one then.
static const uint64_t AGE_MOST_NS = UINT64_C(24) * 3600 * 1000 * 1000 * 1000;
// No cost is as large; and measuring takes no minute.
static const uint64_t PS_MOST = 100 * 1000 * 1000;
static const uint64_t TOOK_MOST_NS = UINT64_C(60) * 1000 * 1000 * 1000;

// Only this user may write there: whoever could would say what every trace of his shows.
static bool is_ours(int fd, mode_t kind)
{
	struct stat info;
	return !fstat(fd, &info) && (info.st_mode & S_IFMT) == kind && info.st_uid == geteuid() &&
	       !(info.st_mode & (S_IWGRP | S_IWOTH));
}

// The folder, opened, or -1. MAKE it, with the one that it is in.
static int open_folder(bool make)
{
	char path[PATH_ROOM];
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int base = -1;
	if (cache && cache[0])
		base = snprintf(path, sizeof(path), "%s", cache);
	else if (home)
		base = snprintf(path, sizeof(path), "%s/.cache", home);
	if (base < 0 || path[0] != '/' || (size_t)base + sizeof("/teeperf") > sizeof(path))
		return -1;
	if (make)
		mkdir(path, 0700);
	strcpy(path + base, "/teeperf");
	if (make)
		mkdir(path, 0700);
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || is_ours(fd, S_IFDIR))
		return fd;
	close(fd);
	return -1;
}

static void name_of(const struct tp_cost_key *key, char name[NAME_ROOM], const char *suffix)
{
	snprintf(name, NAME_ROOM, "cost-%s%s", teeperf_clock_name(key->clock), suffix);
}

// The conditions under which the costs hold. False: they are unknown.
static bool add_key(struct tp_buf *text, const struct tp_cost_key *key)
{
	char boot[64];
	struct stat program;
	if (tp_proc_read(0, "sys/kernel/random/boot_id", boot, sizeof(boot)) < 36 ||
	    stat("/proc/self/exe", &program))
		return false;
	boot[strcspn(boot, "\n")] = '\0';
	char *cpu = tp_proc_cpu("model name");
	char *microcode = tp_proc_cpu("microcode");
	tp_buf_addf(text, "teeperf-cost %d\nboot=%s\ncpu=%s\nmicrocode=%s\n", FORMAT, boot,
	    cpu ? cpu : "", microcode ? microcode : "");
	tp_buf_addf(text, "teeperf=%s %" PRIu64 " %" PRIu64 " %" PRIu64 ".%09ld\n", TEEPERF_VERSION,
	    (uint64_t)program.st_ino, (uint64_t)program.st_size, (uint64_t)program.st_mtim.tv_sec,
	    program.st_mtim.tv_nsec);
	tp_buf_addf(text, "clock=%s period=%" PRIu64 " cores=%d counter=%d\n",
	    teeperf_clock_name(key->clock), key->period_ns, key->cores, key->counter_cpu);
	free(cpu);
	free(microcode);
	return !text->failed;
}

static uint64_t hash_of(const char *text, size_t size)
{
	return teeperf_hash_bytes(TEEPERF_HASH_START, text, size);
}

// A number of decimal digits up to MOST, and the character behind it.
static bool take_number(const char **at, char end, uint64_t most, uint64_t *value)
{
	char *behind;
	if (**at < '0' || **at > '9')
		return false;
	*value = strtoull(*at, &behind, 10);
	if (*behind != end || *value > most)
		return false;
	*at = behind + 1;
	return true;
}

static void fill(struct tp_event_cost *cost, const uint64_t ps[6])
{
	*cost = (struct tp_event_cost){
	    .in_ns = (double)ps[0] / 1000,
	    .out_ns = (double)ps[1] / 1000,
	    .in_off_ns = (double)ps[2] / 1000,
	    .out_off_ns = (double)ps[3] / 1000,
	    .untimed_ns = (double)ps[4] / 1000,
	    .wait_ns = (double)ps[5] / 1000,
	};
}

// TEXT ends with a NUL.
static bool parse(
    const char *text, size_t size, const struct tp_buf *key, struct tp_cost_kept *kept)
{
	if (size <= key->size || memcmp(text, key->data, key->size) != 0)
		return false;
	const char *at = text + key->size;
	uint64_t values[VALUES];
	for (int i = 0; i < VALUES; i++)
		if (!take_number(&at, i == VALUES - 1 ? '\n' : ' ',
			i < 6    ? PS_MOST
			: i == 6 ? TOOK_MOST_NS
				 : UINT64_MAX - 1,
			&values[i]))
			return false;
	char sum[32];
	snprintf(sum, sizeof(sum), "%016" PRIx64 "\n", hash_of(text, (size_t)(at - text)));
	const uint64_t now = tp_clock_ns(CLOCK_BOOTTIME);
	if (strcmp(at, sum) != 0 || strlen(text) != size || !(values[0] + values[1]) ||
	    values[7] > now || now - values[7] > AGE_MOST_NS)
		return false;
	fill(&kept->cost, values);
	if (kept->cost.in_ns + kept->cost.out_ns > TP_EVENT_COST_MOST_NS)
		return false;
	kept->took_ns = values[6];
	kept->age_ns = now - values[7];
	return true;
}

bool tp_cost_cache_read(const struct tp_cost_key *key, struct tp_cost_kept *kept)
{
	char name[NAME_ROOM];
	char text[FILE_MOST];
	struct tp_buf wanted;
	const int folder = open_folder(false);
	if (folder < 0)
		return false;
	name_of(key, name, "");
	const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(folder);
	if (fd < 0)
		return false;
	const ssize_t size = is_ours(fd, S_IFREG) ? read(fd, text, sizeof(text) - 1) : -1;
	close(fd);
	if (size <= 0)
		return false;
	text[size] = '\0';
	tp_buf_init(&wanted);
	const bool holds = add_key(&wanted, key) && parse(text, (size_t)size, &wanted, kept);
	tp_buf_release(&wanted);
	return holds;
}

static uint64_t ps(double ns)
{
	return ns > 0 && ns < (double)PS_MOST / 1000 ? (uint64_t)(ns * 1000 + 0.5) : 0;
}

// Whether later recordings may begin with it. That it is less than the last one is no reason why
// not: that one was measured on a busier machine.
static bool is_believed(const struct tp_cost_key *key, const struct tp_event_cost *cost)
{
	const double all = cost->in_ns + cost->out_ns;
	struct tp_cost_kept last;
	if (all > TP_EVENT_COST_MOST_NS || tp_event_cost_is_absurd(all, cost->least_ns))
		return false;
	return !tp_cost_cache_read(key, &last) ||
	       !tp_event_cost_is_absurd(all, last.cost.in_ns + last.cost.out_ns);
}

void tp_cost_cache_write(const struct tp_cost_key *key, const struct tp_cost_kept *kept)
{
	const struct tp_event_cost *cost = &kept->cost;
	if (!is_believed(key, cost))
		return;
	char name[NAME_ROOM];
	char made[NAME_ROOM];
	char suffix[32];
	struct tp_buf text;
	tp_buf_init(&text);
	const int folder = add_key(&text, key) ? open_folder(true) : -1;
	if (folder >= 0) {
		tp_buf_addf(&text,
		    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		    " %" PRIu64 " %" PRIu64 "\n",
		    ps(cost->in_ns), ps(cost->out_ns), ps(cost->in_off_ns), ps(cost->out_off_ns),
		    ps(cost->untimed_ns), ps(cost->wait_ns), kept->took_ns,
		    tp_clock_ns(CLOCK_BOOTTIME));
		if (!text.failed)
			tp_buf_addf(&text, "%016" PRIx64 "\n", hash_of(text.data, text.size));
		name_of(key, name, "");
		snprintf(suffix, sizeof(suffix), ".%d", (int)getpid());
		name_of(key, made, suffix);
		// Whoever left it is gone: its number is ours.
		unlinkat(folder, made, 0);
		const int fd = openat(
		    folder, made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		const bool whole = fd >= 0 && !text.failed &&
				   write(fd, text.data, text.size) == (ssize_t)text.size;
		if (fd >= 0 && (close(fd) || !whole || renameat(folder, made, folder, name)))
			unlinkat(folder, made, 0);
		close(folder);
	}
	tp_buf_release(&text);
}
