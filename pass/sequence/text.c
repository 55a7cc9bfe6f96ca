// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly: the choice among the processors, and what their texts share.
#include "parts.h"

#include <stdio.h>
#include <string.h>

static const char *named(const struct tp_text_names *names, char letter)
{
	switch (letter) {
	case 'G':
		return names->gate;
	case 'N':
		return names->name;
	case 'K':
		return names->kind;
	case 'P':
		return names->position;
	case 'S':
		return names->sampled;
	case 'O':
		return names->on;
	case 'T':
		return names->thread;
	case 'F':
		return names->segment;
	case 'A':
		return names->a64;
	case 'a':
		return names->a32;
	case 'w':
		return names->a16;
	case 'B':
		return names->b64;
	default:
		return names->b32;
	}
}

void tp_text_append(struct tp_text *text, const struct tp_text_names *names, const char *part)
{
	size_t length = strlen(text->assembly);
	for (const char *at = part; *at; at++) {
		const char one[2] = {*at, '\0'};
		const char *piece = *at == '#' ? named(names, *++at) : one;
		const size_t more = strlen(piece);
		if (length + more >= sizeof(text->assembly))
			return; // the texts are ours: tests assemble each of them
		memcpy(text->assembly + length, piece, more + 1);
		length += more;
	}
}

void tp_text_constrain(struct tp_text *text, const char *constraint)
{
	const size_t length = strlen(text->constraints);
	snprintf(text->constraints + length, sizeof(text->constraints) - length, "%s%s",
	    length ? "," : "", constraint);
}

void tp_text_operands(struct tp_text *text, struct tp_text_names *names,
    const struct tp_text_request *request, bool time)
{
	unsigned operand = 0;
	if (request->position) {
		snprintf(names->position, sizeof(names->position), "$%u", operand++);
		tp_text_constrain(text, "=&r");
	}
	if (time) {
		snprintf(names->b64, sizeof(names->b64), "$%u", operand++);
		tp_text_constrain(text, "=&r");
	}
	text->output_count = operand;
	snprintf(names->on, sizeof(names->on), "$%u+%u", operand, TEEPERF_GATE_OFFSET);
	snprintf(names->gate, sizeof(names->gate), "$%u+%u", operand++, request->gate);
	snprintf(names->name, sizeof(names->name), "$%u", operand++);
	snprintf(names->sampled, sizeof(names->sampled), "$%u", operand);
	snprintf(names->kind, sizeof(names->kind), "%d", (int)request->kind);
	tp_text_constrain(text, request->name_in_register ? "S,r" : "S,S");
	if (request->sampled)
		tp_text_constrain(text, "r");
}

static const struct tp_text_machine *const machines[] = {
    &tp_text_x86_64, &tp_text_aarch64, &tp_text_riscv64};

const struct tp_text_machine *tp_text_find(const char *triple)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strncmp(triple, machines[i]->prefix, strlen(machines[i]->prefix)))
			return machines[i];
	return NULL;
}
