/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What recording a call costs on this machine, with this clock, now: measured by a loop that does what
 * the sequence of abi.h does and nothing else. In a program it may be less, where the processor does
 * other work meanwhile, or more, where it waits for each step: loops that do either say how much that
 * makes. docs/decisions/0016-compensation.md.
 */
#ifndef TP_EVENT_COST_H
#define TP_EVENT_COST_H

#include <stdbool.h>
#include <stdint.h>

/* In nanoseconds, of a call with its return, over the same call without events. */
struct tp_event_cost {
	double in_ns;  /* between its two looks at the clock: part of its own time */
	double out_ns; /* around them: part of its caller's time */
	/* How far off in_ns and out_ns may be, after what the program does around the call, and how fast the machine is then. */
	double in_off_ns;
	double out_off_ns;
	double untimed_ns; /* if its exit does not look at the clock; it lasts to the next look */
	double
	    wait_ns; /* with a soft clock: a look that finds it stored since the last one waits so long, if nothing hides that */
};

/* By so much the same loop may be faster or slower a tenth of a second later, where the machine is shared: part of *_off_ns. */
#define TP_EVENT_COST_DRIFT 0.1

/*
 * Takes ten to thirty milliseconds. CLOCK as in log.h; WORD is the counter word of a soft clock, whose thread
 * must be running, else NULL. False: this machine does not have the clock.
 */
bool tp_event_cost_measure(
    struct tp_event_cost *cost, uint32_t clock, const volatile uint64_t *word);

#endif
