// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of 'record --events', and the clock of BPF programs. Needs no libbpf.
#include "bpf.h"

#include "common/array.h"

#include <string.h>

uint32_t tp_bpf_groups(const char *list, struct tp_err *err)
{
	static const struct {
		const char *word;
		uint32_t group;
	} words[] = {
	    {"sched", TEEPERF_SYSTEM_SCHED},
	    {"syscalls", TEEPERF_SYSTEM_SYSCALLS},
	    {"io", TEEPERF_SYSTEM_IO},
	    {"faults", TEEPERF_SYSTEM_FAULTS},
	    {"mem", TEEPERF_SYSTEM_MEM},
	    {"sgx", TEEPERF_SYSTEM_SGX},
	};
	enum { WORDS = sizeof(words) / sizeof(words[0]) };
	uint32_t groups = 0;
	for (const char *at = list;; at++) {
		const size_t length = strcspn(at, ",");
		size_t i = 0;
		while (i < WORDS &&
		       (strlen(words[i].word) != length || strncmp(words[i].word, at, length)))
			i++;
		if (i == WORDS) {
			tp_err_set(err, TP_ERR_SYNTAX, NULL,
			    "unknown events '%.*s': expected sched, syscalls, io, faults, mem or "
			    "sgx",
			    (int)length, at);
			return 0;
		}
		groups |= words[i].group;
		at += length;
		if (!*at)
			return groups;
	}
}

// A straight line through the two moments around it, or through the two nearest ones. NTP changes
// the rate of one of the clocks by less than 0.05 %, so that between moments of 50 ms the line is
// off by less than 7 us, and by some ns as a rule.
uint64_t tp_bpf_raw_ns(const struct tp_bpf_moment *moments, uint32_t count, uint64_t ns)
{
	const uint32_t behind =
	    TP_LOWER_BOUND(0U, count, middle, moments[middle].monotonic_ns <= ns);
	uint32_t from = behind ? behind - 1 : 0;
	if (from && from == count - 1)
		from--;
	const struct tp_bpf_moment *a = &moments[from];
	const struct tp_bpf_moment *b = &moments[from + 1 < count ? from + 1 : from];
	const __int128 past = (__int128)ns - a->monotonic_ns;
	const uint64_t clock = b->monotonic_ns - a->monotonic_ns;
	const __int128 raw =
	    a->raw_ns + (clock ? past * (__int128)(b->raw_ns - a->raw_ns) / (__int128)clock : past);
	return raw < 0 ? 0 : (uint64_t)raw;
}
