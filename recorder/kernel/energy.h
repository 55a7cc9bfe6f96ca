/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the machine has consumed, as RAPL counts it by domain (processor packages, their cores,
 * memory, the platform), read from the kernel's powercap files. It is the whole machine's, not the
 * program's. Use as in counters.h.
 */
#ifndef TP_ENERGY_H
#define TP_ENERGY_H

#include "common/err.h"
#include "recorder/kernel/meter.h"

#define TP_ENERGY_ROOT "/sys/class/powercap"

enum { TP_ENERGY_MOST = 64, TP_ENERGY_WRAP_MS = 60 * 1000 };

struct tp_energy_zone {
	int fd;           /* energy_uj; -1: not open */
	uint64_t last_uj; /* as it was read last */
	uint64_t most_uj; /* max_energy_range_uj, behind which it begins at 0 again; 0: not known */
	uint64_t sum_uj;  /* since it was opened */
};

struct tp_energy {
	struct teeperf_trace_meter meters[TP_ENERGY_MOST];
	struct tp_energy_zone zones[TP_ENERGY_MOST];
	uint32_t count; /* at least 1: without any domain there is a meter "energy" that says why */
};

/*
 * Open all domains below ROOT (TP_ENERGY_ROOT), sorted by name: "package-0", "package-0/core",
 * "psys". Cannot fail: what cannot be read has a note. Close it.
 */
void tp_energy_open(struct tp_energy *energy, const char *root);

/*
 * Microjoules since it was opened. Call it at least every TP_ENERGY_WRAP_MS, so that no counter
 * wraps around twice in between. A domain that vanishes is marked TEEPERF_METER_BROKEN.
 */
void tp_energy_read(struct tp_energy *energy, struct tp_meter_value *readings);

void tp_energy_close(struct tp_energy *energy);

#endif
