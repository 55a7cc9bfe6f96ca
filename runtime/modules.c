// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The modules of this process: where they are, since when, and whether their records are distinct
// from those of the others. Built without vector registers, like thread.c, which looks into it.
#include "runtime.h"

#include "port.h"

// As many as the recorder has room for (TP_REGION_MODULES).
enum { MODULES_KNOWN = 2048 };

/*
 * Private copies of what tells modules apart, since the table in the log cannot be trusted: entry
 * for entry the same as the table's. Entries are only ever added, under the loader's lock; where
 * several have had one place, the last of them is the one that has it.
 */
static struct known {
	uint64_t start, end;
	uint64_t identity; // hash of all that tells what it is, path and size
	uint64_t unloaded; // ticks; 0 while it is loaded
	uint64_t slot;     // in the log's table: the same number, unless others are there, too
	bool is_recorded;
} known[MODULES_KNOWN];
static uint64_t known_count;

// Without a clock the counter word counts modules that came into a place where there had been
// another.
_Alignas(128) uint64_t tp_counter_places;

static uint64_t identity_of(const struct teeperf_module *module)
{
	const uint64_t size = module->end - module->start;
	uint64_t value =
	    teeperf_hash_bytes(TEEPERF_HASH_START, module->build_id, sizeof(module->build_id));
	value = teeperf_hash_bytes(value, module->uuid, sizeof(module->uuid));
	value = teeperf_hash_bytes(value, &module->code_hash, sizeof(module->code_hash));
	value = teeperf_hash_bytes(value, module->path, sizeof(module->path));
	return teeperf_hash_bytes(value, &size, sizeof(size));
}

// Do the low halves of the addresses of two modules meet?
static bool collide(const struct known *a, uint64_t start, uint64_t end)
{
	const uint32_t a_start = (uint32_t)a->start;
	const uint32_t b_start = (uint32_t)start;
	return (uint32_t)(b_start - a_start) < a->end - a->start ||
	       (uint32_t)(a_start - b_start) < end - start;
}

/*
 * A time later than `ticks`, by which a reader tells one module's records from the next one's. A
 * soft clock may stand still for long: then it is moved by a tick, unless the host moves it
 * meanwhile. It lags behind the host's clock when it does, so it does not run backwards for that.
 */
static uint64_t later_than(uint64_t ticks)
{
	uint64_t *const counter = (uint64_t *)(uintptr_t)tp_process.counter;
	uint64_t now = tp_now();
	if (tp_clock_is_hardware(tp_process.clock))
		return now;
	for (int i = 0; i < 64 && now <= ticks; i++)
		now = tp_change_acq_rel(counter, now, ticks + 1) ? ticks + 1 : tp_now();
	return now;
}

void tp_modules_forget(void)
{
	tp_store_release(&known_count, 0);
	tp_process.next_module = 0;
}

static void set_unloaded(uint64_t index, uint64_t ticks)
{
	known[index].unloaded = ticks;
	if (known[index].slot < tp_process.module_limit)
		tp_store_relaxed(&tp_process.modules[known[index].slot].unloaded, ticks);
}

static uint64_t end_time(void)
{
	const uint64_t now = tp_now();
	// Not 0, which says that it is loaded.
	return tp_process.clock == TEEPERF_CLOCK_NONE || !now ? now + 1 : now;
}

static void store(uint64_t index, const struct teeperf_module *module)
{
	uint64_t *to = (uint64_t *)(void *)&tp_process.modules[index];
	const uint64_t *from = (const uint64_t *)(const void *)module;
	// The end comes last: it says that the entry is there.
	const unsigned last = offsetof(struct teeperf_module, end) / 8;
	for (unsigned i = 0; i < sizeof(*module) / 8; i++)
		if (i != last)
			tp_store_relaxed(&to[i], from[i]);
	tp_store_release(&to[last], from[last]);
}

// A build ID is enough, and costs nothing.
static void hash_code(struct teeperf_module_block *block, struct teeperf_module *module)
{
	if (module->build_id_size)
		module->code_offset = module->code_size = 0;
	if (!(block->reserved & TP_BLOCK_NAMES_MASK))
		block->reserved |= tp_gates_names(block) & TP_BLOCK_NAMES_MASK;
	tp_code_hash_set(module, block->reserved & TP_BLOCK_NAMES_MASK);
}

/*
 * Other instances of a program have entries of their own in the table. One that is the same file at
 * the same place is this module's, too: returns its number. Others at its addresses end, and the
 * module begins behind that; returns the number of the next entry. The table is the host's: what it
 * has there gives modules wrong times, and nothing else.
 */
static uint64_t make_way(struct teeperf_module *module)
{
	const uint64_t next = tp_process.next_module;
	const uint64_t count = next < tp_process.module_limit ? next : tp_process.module_limit;
	for (uint64_t i = 0; i < count; i++) {
		struct teeperf_module *other = &tp_process.modules[i];
		const struct known place = {
		    .start = tp_load_relaxed(&other->start), .end = tp_load_relaxed(&other->end)};
		if (tp_load_relaxed(&other->unloaded) ||
		    !collide(&place, module->start, module->end))
			continue;
		if (place.start == module->start && place.end == module->end &&
		    tp_load_relaxed(&other->code_hash) == module->code_hash &&
		    tp_load_relaxed(&other->bias) == module->bias &&
		    tp_load_relaxed((uint64_t *)(void *)other->uuid) ==
			*(uint64_t *)(void *)module->uuid)
			return i;
		const uint64_t ends = end_time();
		tp_store_relaxed(&other->unloaded, ends);
		module->loaded = later_than(ends);
	}
	return next;
}

bool tp_modules_displaced(void)
{
	for (uint64_t i = 0; i < known_count; i++)
		if (!known[i].unloaded && known[i].slot < tp_process.module_limit &&
		    tp_load_relaxed(&tp_process.modules[known[i].slot].unloaded))
			return true;
	return false;
}

/*
 * Whether functions may be where the low half of an address is no name, but a control record
 * (TEEPERF_NAME_FIRST). What has a UUID was loaded by OP-TEE, behind its loader and so never at a
 * multiple of 4 GiB.
 */
static bool has_low_code(const struct teeperf_module *module)
{
	const uint64_t first = module->start + module->code_offset;
	bool has_uuid = false;
	for (unsigned i = 0; i < sizeof(module->uuid); i++)
		has_uuid |= module->uuid[i] != 0;
	return module->code_size && !has_uuid &&
	       ((uint32_t)first < TEEPERF_NAME_FIRST ||
		   first >> 32 != (first + module->code_size - 1) >> 32);
}

enum tp_admission tp_module_add(struct teeperf_module_block *block)
{
	struct teeperf_module module;
	tp_module_clear(&module);
	module.anchor = (uint64_t)(uintptr_t)block;
	if (tp_loaded_find(block, &module) || tp_port_find_module(block, &module)) {
		if (has_low_code(&module))
			module.flags |= TEEPERF_MODULE_COLLIDES;
		hash_code(block, &module);
	} else {
		// A range that holds just the anchor still tells the load bias.
		module.start = module.anchor;
		module.end = module.anchor + 1;
	}
	const uint64_t identity = identity_of(&module);
	const uint64_t none = UINT64_MAX;
	uint64_t latest = none; // that has had this place
	uint64_t left = 0;      // when the last one left it
	uint64_t refused = none;
	bool again = false;
	for (uint64_t i = 0; i < known_count; i++) {
		struct known *other = &known[i];
		const bool same = other->identity == identity && other->start == module.start;
		again |= other->identity == identity;
		if (!other->is_recorded) {
			refused = same ? i : refused;
			continue;
		}
		if (!collide(other, module.start, module.end))
			continue;
		if (!other->unloaded && same)
			return TP_ADMISSION_NEW; // another block of it
		// Two in one place: the earlier one is gone, though its destructor did not run.
		if (!other->unloaded && other->start < module.end && module.start < other->end)
			set_unloaded(i, end_time());
		if (!other->unloaded)
			module.flags |= TEEPERF_MODULE_COLLIDES;
		left = other->unloaded > left ? other->unloaded : left;
		latest = i;
	}
	const bool collides = module.flags & TEEPERF_MODULE_COLLIDES;
	module.loaded = latest == none || collides ? tp_now() : later_than(left);
	if (collides && refused != none) {
		set_unloaded(refused, 0);
		return TP_ADMISSION_REFUSED;
	}
	// It comes back to its place, where no other has been meanwhile.
	if (!collides && latest != none && known[latest].identity == identity &&
	    known[latest].start == module.start) {
		set_unloaded(latest, 0);
		return TP_ADMISSION_AGAIN;
	}
	const uint64_t index = known_count;
	uint64_t slot = TP_ONE_THREAD ? make_way(&module) : tp_process.next_module;
	const bool is_there = slot != tp_process.next_module;
	if (!is_there)
		tp_process.next_module++;
	if (index >= MODULES_KNOWN || slot >= tp_process.module_limit) {
		tp_store_release(&tp_process.header->module_count, tp_process.next_module);
		return TP_ADMISSION_REFUSED;
	}
	known[index] = (struct known){.start = module.start,
	    .end = module.end,
	    .identity = identity,
	    .slot = slot,
	    .is_recorded = !collides};
	tp_store_release(&known_count, index + 1);
	if (!is_there)
		store(slot, &module);
	tp_store_release(&tp_process.header->module_count, tp_process.next_module);
	return collides ? TP_ADMISSION_REFUSED : again ? TP_ADMISSION_AGAIN : TP_ADMISSION_NEW;
}

void tp_module_remove(const void *anchor)
{
	const uint64_t address = (uint64_t)(uintptr_t)anchor;
	for (uint64_t i = known_count; i--;)
		if (!known[i].unloaded && address >= known[i].start && address < known[i].end) {
			set_unloaded(i, end_time());
			return;
		}
}

uint64_t tp_module_number(uint64_t address)
{
	for (uint64_t i = tp_load_acquire(&known_count); i--;)
		if (known[i].is_recorded && address >= known[i].start && address < known[i].end)
			return known[i].slot + 1;
	return 0;
}
