/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What no record of a trace tells: for how long a soft clock stood still, since its thread had no
 * processor, and for how long the program had none. docs/reliability.md, Times, says what follows
 * for times.
 */
#ifndef TP_STARVATION_H
#define TP_STARVATION_H

#include "analyzer/trace/timebase.h"
#include "analyzer/trace/tracefile.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * From this part of the run on, times by a soft clock are called coarse, and nothing is advised by
 * them.
 */
#define TP_STARVATION_COARSE 0.01
/*
 * From this part on no uncertainty is given for them; and any function may have had all waits for a
 * processor.
 */
#define TP_STARVATION_HEAVY 0.1

struct tp_starvation {
	/* of the run, in which a soft clock stood still; 0: it did not, or who knows */
	double clock_share;
	double clock_gaps; /* ticks: of all gaps, and of the longest */
	double clock_gap;
	double run;     /* ticks */
	bool has_cpu;   /* cpu_ns is known, of all threads or of the process */
	bool has_delay; /* delay_ns and delay_share are known, of one thread at least */
	uint64_t cpu_ns;
	uint64_t delay_ns;  /* of all threads: they could have run, and had no processor */
	double delay_share; /* of the time in which they could have run */
	double delays;      /* delay_ns in ticks */
	bool told;          /* it is known of each call for how long it had no processor */
};

/* Of the whole program, or with ONLY of that thread. DURATION_NS: of the run. */
void tp_starvation_init(struct tp_starvation *starvation, const struct tp_tracefile *trace,
    const struct tp_timebase *time, uint64_t duration_ns, const struct tp_thread *only);

/* Whether the clock was there too little for anything to be said of how far off times are. */
bool tp_starvation_hides(const struct tp_starvation *starvation);

/*
 * By how many ticks more the self time SELF of a function may be off, as it is not known where the
 * clock stood or who waited.
 */
double tp_starvation_uncertainty(
    const struct tp_starvation *starvation, const struct tp_timebase *time, uint64_t self);

/* Whether times say more about waits for a processor than a reader expects. */
bool tp_starvation_is_news(const struct tp_starvation *starvation);

#endif
