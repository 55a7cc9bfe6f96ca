// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of SYSTEM sections.
#include "system.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

static void take(struct tp_system *system, struct teeperf_system_event *event)
{
	if (event->kind < TEEPERF_SYSTEM_CALL || event->kind > TEEPERF_SYSTEM_DRIVER) {
		system->unknown++;
		return;
	}
	// Nothing takes 292 years, and sums of two still fit.
	if (event->duration_ns > INT64_MAX)
		event->duration_ns = INT64_MAX;
	if (event->duration_ns > UINT64_MAX - event->start_ns)
		event->duration_ns = UINT64_MAX - event->start_ns;
	system->events[system->count++] = *event;
}

const char *tp_system_add(
    struct tp_system *system, const void *payload, uint64_t size, bool *memory)
{
	struct teeperf_system_event event;
	*memory = true;
	if (size < sizeof(system->head) || (size - sizeof(system->head)) % sizeof(event))
		return "its size does not fit system events";
	const uint64_t count = (size - sizeof(system->head)) / sizeof(event);
	if (!TP_GROW(system->events, system->room, system->count + count)) {
		*memory = false;
		return NULL;
	}
	const char *at = payload;
	memcpy(&system->head, at, sizeof(system->head));
	at += sizeof(system->head);
	system->has = true;
	for (uint64_t i = 0; i < count; i++, at += sizeof(event)) {
		memcpy(&event, at, sizeof(event));
		take(system, &event);
	}
	return NULL;
}

void tp_system_release(struct tp_system *system)
{
	free(system->events);
	*system = (struct tp_system){0};
}
