// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls over the border between a host program and its TEE: one record on each side (log.h,
// TEEPERF_CONTROL_CALL_OUT), and a number that both sides know.
#include "runtime.h"

static uint64_t drawn; // numbers of this side

static const uint64_t number_mask = (UINT64_C(1) << TEEPERF_CROSSING_BITS) - 1;

// The table is that of the TEE's log: the program's own, unless it is the host of one.
static uint64_t *entry_at(uint64_t mixed, uint64_t offset)
{
	struct teeperf_log_header *header = tp_process.tee ? tp_process.tee : tp_process.header;
	return &header->crossings[((mixed >> 56) + offset) % TEEPERF_CROSSINGS];
}

// The tag, where in an entry it is.
static uint64_t tag_of(uint64_t mixed)
{
	return mixed << 8 & ~number_mask;
}

/*
 * A number for a call out, which who knows the handle can look up. Entries of calls whose other
 * side does not look stay until the same handle comes again.
 */
static uint64_t draw_number(uint64_t handle)
{
	const uint64_t mixed = handle * TEEPERF_CROSSING_MIX;
	uint64_t number = 0;
	while (!number)
		number = (tp_fetch_add_relaxed(&drawn, 1) + 1) & number_mask;
	const uint64_t entry = tag_of(mixed) | number;
	for (uint64_t i = 0; i < TEEPERF_CROSSING_TRIES; i++) {
		uint64_t *at = entry_at(mixed, i);
		const uint64_t now = tp_load_relaxed(at);
		if ((!now || (now & ~number_mask) == tag_of(mixed)) &&
		    tp_change_acq_rel(at, now, entry))
			return number;
	}
	tp_store_relaxed(entry_at(mixed, 0), entry);
	return number;
}

// Take the number of a call that has arrived; 0: it is not there. The host may write there what it
// likes.
static uint64_t take_number(uint64_t handle)
{
	const uint64_t mixed = handle * TEEPERF_CROSSING_MIX;
	for (uint64_t i = 0; i < TEEPERF_CROSSING_TRIES; i++) {
		uint64_t *at = entry_at(mixed, i);
		const uint64_t now = tp_load_relaxed(at);
		if (!now || (now & ~number_mask) != tag_of(mixed))
			continue;
		tp_change_acq_rel(at, now, 0);
		return now & number_mask;
	}
	return 0;
}

// Whether it goes into the log.
static bool is_recorded(uint32_t control)
{
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	if ((state != TP_STATE_RECORDING && state != TP_STATE_PAUSED) || !tp_thread_may_record())
		return false;
	// One side alone has no use for them.
	if (!tp_process.tee && !tp_load32_acquire(&tp_process.header->border))
		return false;
	// No signal reaches into a TEE: this is where it hears of commands.
	if (control == TEEPERF_CONTROL_CALL_IN)
		tp_switch_look();
	// Where recording is switched off, nothing of the call is in the log.
	return tp_load32_acquire(&tp_process.state) == TP_STATE_RECORDING;
}

// The thread crosses the border: its state before is over. Returns the number of the call out that
// the program has reported, or 0.
static uint64_t leave_behind(uint32_t control)
{
	const uint64_t told = tp_thread.told;
	tp_thread.told = 0;
	tp_command_over(control == TEEPERF_CONTROL_RETURN_IN);
	return told;
}

void tp_border(uint32_t control, uint64_t handle)
{
	if (control != TEEPERF_CONTROL_CROSSING)
		leave_behind(control);
	if (!is_recorded(control))
		return;
	uint64_t number = 0;
	if (handle && control == TEEPERF_CONTROL_CALL_OUT)
		number = draw_number(handle);
	else if (handle &&
		 (control == TEEPERF_CONTROL_CALL_IN || control == TEEPERF_CONTROL_CROSSING))
		number = take_number(handle);
	if (control == TEEPERF_CONTROL_CALL_OUT)
		tp_thread.told = (uint32_t)number;
	// For a call that has arrived already, only the number is recorded.
	if (control != TEEPERF_CONTROL_CROSSING || number)
		tp_thread_border(control, number);
}

// The program itself may have reported this very call; then the other side asks for that number.
void __teeperf_command(void *operation)
{
	uint64_t number = leave_behind(TEEPERF_CONTROL_CALL_OUT);
	if (!is_recorded(TEEPERF_CONTROL_CALL_OUT))
		return;
	const uint64_t handle = number ? 0 : tp_command_label(operation);
	if (handle)
		number = draw_number(handle);
	tp_thread_border(TEEPERF_CONTROL_CALL_OUT, number);
}

void __teeperf_border(unsigned long long control, unsigned long long handle)
{
	if (control >= TEEPERF_CONTROL_CALL_OUT && control <= TEEPERF_CONTROL_CROSSING)
		tp_border((uint32_t)control, handle);
}
