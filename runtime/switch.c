// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Switching recording, or the recording of single functions, off and on: asked for by the program,
// by the host, or in a signal handler.
#include "runtime.h"

/*
 * Requests are left in these words and served by whoever holds `busy`: one at a time, without a
 * lock that a signal handler could find taken by the thread that it interrupted.
 */
enum { ASKED_OFF = 1, ASKED_ON = 2 };
static uint64_t asked;   // by the program: the last request counts
static uint64_t look;    // 1: `control` may have changed
static uint64_t open;    // 1: what an open gate is may have changed
static uint64_t busy;    // 1: somebody serves
static uint64_t control; // the host's last word that was obeyed
static uint64_t chosen;  // the same of header.selection
static uint64_t count;   // switches so far
static uint64_t
    gap; // ticks at which recording was last switched off, or other functions chosen, + 1
static uint64_t chosen_time; // ticks of the last choice: processors' clocks may differ a little

static void store_switch(uint64_t time, bool on)
{
	struct teeperf_log_header *header = tp_process.header;
	tp_store_relaxed(&header->switches[count % TEEPERF_SWITCHES], time << 1 | on);
	tp_store_release(&header->switch_count, ++count);
}

// A tick's records are from before it was switched off: with a soft clock there are many.
static void note(bool on)
{
	const uint64_t now = tp_now();
	const uint64_t time = !on ? now + 1 : now < gap ? gap : now;
	gap = on ? gap : time;
	store_switch(time, on);
}

// The time is noted before any gate moves, so no record is on the wrong side of it.
static void apply(bool on)
{
	const uint32_t from = on ? TP_STATE_PAUSED : TP_STATE_RECORDING;
	if (tp_load32_acquire(&tp_process.state) != from)
		return;
	note(on);
	// It may be switched off for good at the same time.
	if (tp_change32_acq_rel(&tp_process.state, from, on ? TP_STATE_RECORDING : TP_STATE_PAUSED))
		tp_gates_set(on ? tp_gate_open() : TEEPERF_GATE_OFF);
	if (tp_load32_acquire(&tp_process.state) == TP_STATE_OFF)
		tp_gates_set(TEEPERF_GATE_OFF);
}

/*
 * Other functions record from now on. As in apply the time is noted first. While recording, a gap
 * of no length is noted with it: a reader that does not know of selections ends all calls there.
 */
static void choose(uint64_t selection)
{
	struct teeperf_log_header *header = tp_process.header;
	const bool recording = tp_load32_acquire(&tp_process.state) == TP_STATE_RECORDING;
	const uint64_t now = tp_now();
	const uint64_t behind = now + 1 < gap ? gap - 1 : now;
	const uint64_t time = behind < chosen_time ? chosen_time : behind;
	chosen_time = time;
	// A later switch has a later time.
	gap = time + 1;
	if (recording) {
		store_switch(gap, false);
		store_switch(gap, true);
	}
	tp_store_relaxed(&header->selected_time, time);
	tp_gates_select(selection);
	if (tp_load32_acquire(&tp_process.state) == TP_STATE_OFF)
		tp_gates_set(TEEPERF_GATE_OFF);
	tp_store_release(&header->selected, selection);
}

static void set_open(void)
{
	if (tp_load32_acquire(&tp_process.state) == TP_STATE_RECORDING)
		tp_gates_set(tp_gate_open());
	if (tp_load32_acquire(&tp_process.state) == TP_STATE_OFF)
		tp_gates_set(TEEPERF_GATE_OFF);
}

static bool can_switch(void)
{
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	return state == TP_STATE_RECORDING || state == TP_STATE_PAUSED;
}

void tp_switch_retake(void)
{
	if (!tp_thread.serves)
		return;
	tp_thread.serves = 0;
	tp_store_seq_cst(&look, 1);
	tp_store_seq_cst(&open, 1);
	tp_store_seq_cst(&busy, 0);
}

void tp_switch_serve(void)
{
	// A host that changes its words all the time keeps nobody here: what it wants last is seen
	// at the next look.
	enum { LOOKS_MOST = 4 };
	int looks = 0;
	do {
		if (!can_switch() || !tp_thread_may_record() || !tp_claim_seq_cst(&busy, 1))
			return; // whoever is at it looks again when he has left
		tp_thread.serves = 1;
		tp_barrier_signal();
		// The log may have gone between the two (port/posix_late.c).
		if (!can_switch()) {
			tp_thread.serves = 0;
			tp_barrier_signal();
			tp_store_seq_cst(&busy, 0);
			return;
		}
		if (tp_take_acq_rel(&look)) {
			const uint64_t now = tp_load_relaxed(&tp_process.header->control);
			if (now != control)
				apply(now & TEEPERF_ACTIVE);
			tp_store_relaxed(&control, now);
			const uint64_t selection = tp_load_acquire(&tp_process.header->selection);
			if (selection != chosen)
				choose(selection);
			tp_store_relaxed(&chosen, selection);
		}
		if (tp_take_acq_rel(&open))
			set_open();
		const uint64_t wanted = tp_take_acq_rel(&asked);
		if (wanted)
			apply(wanted == ASKED_ON);
		// Else a handler that jumped about within itself has let others serve.
		if (tp_thread.serves) {
			tp_thread.serves = 0;
			tp_barrier_signal();
			tp_store_seq_cst(&busy, 0);
		}
	} while (tp_load_seq_cst(&asked) || tp_load_seq_cst(&open) ||
		 (tp_load_seq_cst(&look) && ++looks < LOOKS_MOST));
}

enum tp_state tp_switch_start(void)
{
	gap = chosen_time = 0;
	count = TP_ONE_THREAD ? tp_load_relaxed(&tp_process.header->switch_count) : 0;
	tp_store_relaxed(&control, tp_load_relaxed(&tp_process.header->control));
	// One that was made before we came is obeyed at once.
	tp_store_relaxed(&chosen, 0);
	tp_store_relaxed(&look, 1);
	tp_store_release(&tp_process.header->selected, TEEPERF_SELECTION_FIRST);
	return tp_load_relaxed(&control) & TEEPERF_ACTIVE ? TP_STATE_RECORDING : TP_STATE_PAUSED;
}

// Other instances may have switched it, or have begun when it was switched: what the host says
// counts.
enum tp_state tp_switch_again(enum tp_state before)
{
	const struct teeperf_log_header *header = tp_process.header;
	const uint64_t others = tp_load_relaxed(&header->switch_count);
	const uint64_t now = tp_load_relaxed(&header->control);
	if (others == count)
		return before;
	count = others;
	tp_store_relaxed(&control, now);
	return now & TEEPERF_ACTIVE ? TP_STATE_RECORDING : TP_STATE_PAUSED;
}

// Another thread of the parent may have held `busy`. What the host wants is known; what was
// recorded by the parent's will goes on.
void tp_switch_forked(bool on)
{
	const uint64_t now = tp_load_relaxed(&tp_process.header->control);
	tp_store_relaxed(&asked, 0);
	tp_store_relaxed(&look, 0);
	tp_store_relaxed(&open, 0);
	tp_store_relaxed(&busy, 0);
	tp_gates_dry(false);
	tp_store_relaxed(&control, now);
	count = gap = chosen_time = 0;
	if (on != (bool)(now & TEEPERF_ACTIVE))
		note(on);
}

bool tp_switch_is_busy(void)
{
	return tp_load_seq_cst(&busy);
}

void tp_switch_look(void)
{
	const struct teeperf_log_header *header = tp_process.header;
	// A log that comes late may not be there yet, or not be taken.
	if (!header)
		return;
	// Two threads may find it changed at once: the first serves, the second finds it served.
	if (tp_load_relaxed(&header->control) == tp_load_relaxed(&control) &&
	    tp_load_relaxed(&header->selection) == tp_load_relaxed(&chosen))
		return;
	tp_store_seq_cst(&look, 1);
	tp_switch_serve();
}

void tp_switch_dry(bool dry)
{
	if (tp_gates_are_dry() == dry)
		return;
	tp_gates_dry(dry);
	tp_store_seq_cst(&open, 1);
	tp_switch_serve();
}

void __teeperf_switch(int on)
{
	tp_store_seq_cst(&asked, on ? ASKED_ON : ASKED_OFF);
	tp_switch_serve();
}

int __teeperf_is_on(void)
{
	return tp_load32_acquire(&tp_process.state) == TP_STATE_RECORDING;
}

void __teeperf_poll(void)
{
	if (can_switch())
		tp_switch_look();
}
