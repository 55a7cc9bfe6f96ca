/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The present cost of recording a call on this machine, with this clock: measured by a loop that
 * only runs the sequence of abi.h. In a program it may be less, where the processor does other work
 * meanwhile, or more, where it waits for each step: loops of both kinds measure the difference.
 * docs/decisions/0016-compensation.md.
 */
#ifndef TP_EVENT_COST_H
#define TP_EVENT_COST_H

#include <stdbool.h>
#include <stdint.h>

/* In nanoseconds, of a call with its return, over the same call without events. */
struct tp_event_cost {
	double in_ns;  /* between its two clock reads: part of its own time */
	double out_ns; /* around them: part of its caller's time */
	/*
	 * How far off in_ns and out_ns may be, depending on the code around the call and the
	 * machine's speed at that time.
	 */
	double in_off_ns;
	double out_off_ns;
	double untimed_ns; /* if its exit does not look at the clock; it lasts to the next look */
	/*
	 * with a soft clock: the wait of a read that finds it stored since the last one, if nothing
	 * hides that
	 */
	double wait_ns;
	/* the shortest of many such calls, measured beside them; 0: not known */
	double least_ns;
};

/*
 * By so much the same loop may be faster or slower a tenth of a second later, where the machine is
 * shared: part of *_off_ns.
 */
#define TP_EVENT_COST_DRIFT 0.1

/*
 * A call with its return costs 10 to 100 ns; more than this only where a look at the clock traps.
 */
#define TP_EVENT_COST_MOST_NS 400.0

/*
 * Whether no call can cost ALL_NS: it is several times LEAST_NS, 0 if that is not known. Then
 * something else had the processor while that was measured.
 */
static inline bool tp_event_cost_is_absurd(double all_ns, double least_ns)
{
	return all_ns > (least_ns > 0 ? least_ns * 4 + 40 : TP_EVENT_COST_MOST_NS);
}

/*
 * The least that a call costs, in nanoseconds, as some thousand calls show in some tenth of a
 * millisecond, however busy the machine is. Arguments as below; 0: this machine lacks the clock.
 */
double tp_event_cost_least(uint32_t clock, const volatile uint64_t *word);

/*
 * Takes ten to thirty milliseconds. CLOCK as in log.h; WORD is the counter word of a soft clock,
 * whose thread must be running, else NULL. False: this machine lacks the clock.
 */
bool tp_event_cost_measure(
    struct tp_event_cost *cost, uint32_t clock, const volatile uint64_t *word);

#endif
