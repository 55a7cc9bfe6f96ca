// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly, put together of a processor's parts.
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tp_text_name(struct tp_text_names *names, char letter, const char *format, ...)
{
	va_list arguments;
	char *to = names->room[names->used++];
	va_start(arguments, format);
	vsnprintf(to, sizeof(names->room[0]), format, arguments);
	va_end(arguments);
	names->of[(unsigned char)letter] = to;
}

// A processor need not have all parts.
static void append(struct tp_text *text, const struct tp_text_names *names, const char *part)
{
	size_t length = strlen(text->assembly);
	for (const char *at = part; at && *at; at++) {
		const char one[2] = {*at, '\0'};
		const char *piece = *at == '#' ? names->of[(unsigned char)*++at] : one;
		const size_t more = strlen(piece);
		if (length + more >= sizeof(text->assembly))
			return; // the texts are ours: tests assemble each of them
		memcpy(text->assembly + length, piece, more + 1);
		length += more;
	}
}

static void constrain(struct tp_text *text, const char *constraint)
{
	const size_t length = strlen(text->constraints);
	snprintf(text->constraints + length, sizeof(text->constraints) - length, "%s%s",
	    length ? "," : "", constraint);
}

void tp_text_take(struct tp_text *text)
{
	constrain(text, "=&r");
	text->output_count++;
}

static void name_operand(const struct tp_text_machine *machine, struct tp_text_names *names,
    char letter, unsigned number, char modifier)
{
	if (machine->has_modifiers)
		tp_text_name(names, letter, "${%u:%c}", number, modifier);
	else
		tp_text_name(names, letter, "$%u", number);
}

static void name_gate(const struct tp_text_machine *machine, struct tp_text_names *names,
    char letter, unsigned number, unsigned offset)
{
	tp_text_name(
	    names, letter, machine->has_modifiers ? "${%u:c}+%u" : "$%u+%u", number, offset);
}

static void name_thread(
    const struct tp_text_machine *machine, struct tp_text_names *names, enum tp_threads threads)
{
	names->of['T'] = machine->thread[threads];
	names->of['F'] = threads == TP_THREADS_MANY ? machine->segment : "";
}

void tp_text_write(struct tp_text *text, const struct tp_text_machine *machine,
    const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	const bool call = request->shape == TP_SHAPE_CALL;
	const bool is_auto = !call && !untimed && request->clock == TEEPERF_COMPILED_AUTO;
	const bool mostly_open = is_auto && request->is_second && machine->choose[1];
	const bool reads_word = is_auto || request->clock == TEEPERF_COMPILED_SOFT;
	const bool position = request->position;
	const bool in_register = request->name_in_register;
	struct tp_text_names names = {.of = {['R'] = untimed    ? TEEPERF_SYMBOL_RECORD_UNTIMED
						     : position ? TEEPERF_SYMBOL_RECORD_POSITION
								: TEEPERF_SYMBOL_RECORD,
					  ['L'] = in_register ? machine->lower : "",
					  ['l'] = in_register ? machine->raise : ""}};
	name_thread(machine, &names, request->threads);
	if (position) {
		name_operand(machine, &names, 'P', 0, 'q');
		tp_text_take(text);
	}
	const char *changed = machine->take_registers(text, &names, request);
	const unsigned first = text->output_count; // number of the first input
	name_gate(machine, &names, 'O', first, TEEPERF_GATE_OFFSET);
	name_gate(machine, &names, 'G', first, request->gate);
	name_operand(machine, &names, 'N', first + 1, in_register ? 'q' : 'c');
	name_operand(machine, &names, 'S', first + 2, 'q');
	tp_text_name(&names, 'K', "%d", (int)request->kind);
	constrain(text, machine->symbol);
	constrain(text, in_register ? "r" : machine->symbol);
	if (request->sampled)
		constrain(text, "r");
	constrain(text, changed);

	append(text, &names, position ? machine->on : NULL);
	append(text, &names, request->sampled ? machine->sampled : NULL);
	// Where the gate chooses the clock it is looked at in any case.
	if (!request->is_open || is_auto)
		append(text, &names, machine->gate[is_auto + mostly_open]);
	if (call) {
		append(text, &names, machine->call[in_register]);
		append(text, &names, machine->end[position]);
		return;
	}
	const char *const parts[] = {
	    "#T",
	    machine->begin[in_register],
	    is_auto ? machine->choose[mostly_open] : NULL,
	    untimed      ? NULL
	    : reads_word ? machine->soft
			 : machine->hardware,
	    is_auto ? "4:\t" : NULL,
	    machine->high[untimed],
	    machine->cursor,
	    position ? machine->bias : NULL,
	    machine->bump,
	    position ? machine->place : NULL,
	    machine->take_name[in_register],
	    machine->store[untimed],
	    request->kind == TEEPERF_KIND_ENTER ? NULL : machine->ahead,
	    machine->done,
	    is_auto ? machine->chosen_hardware[mostly_open] : NULL,
	    machine->cold[in_register],
	    machine->end[position],
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		append(text, &names, parts[i]);
}

void tp_text_write_between(
    struct tp_text *text, const struct tp_text_machine *machine, enum tp_threads threads)
{
	struct tp_text_names names = {.used = 0};
	name_thread(machine, &names, threads);
	name_operand(machine, &names, 'P', 0, 'q');
	name_gate(machine, &names, 'O', 1, TEEPERF_GATE_OFFSET);
	tp_text_take(text);
	constrain(text, machine->symbol);
	constrain(text, machine->changed);
	append(text, &names, machine->between);
}

void tp_text_write_count(struct tp_text *text, const struct tp_text_machine *machine,
    const struct tp_text_count *request)
{
	const unsigned first = request->wants_count; // number of the first input
	struct tp_text_names names = {.of = {['L'] = request->no_red_zone ? "" : machine->lower,
					  ['l'] = request->no_red_zone ? "" : machine->raise}};
	name_operand(machine, &names, 'P', 0, 'q');
	name_operand(machine, &names, 'C', first, 'q');
	name_gate(machine, &names, 'G', first + 1, request->gate);
	name_operand(machine, &names, 'D', first + 2, 'c');
	tp_text_name(&names, 'I', "%u", request->offset);
	if (request->wants_count)
		tp_text_take(text);
	constrain(text, "r");
	constrain(text, machine->symbol);
	constrain(text, machine->symbol);
	constrain(text, machine->changed);
	append(text, &names, machine->count[request->wants_count]);
}

const struct tp_text_machine *tp_text_find(const char *triple)
{
	static const struct tp_text_machine *const machines[] = {
	    &tp_text_x86_64, &tp_text_aarch64, &tp_text_riscv64};
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strncmp(triple, machines[i]->prefix, strlen(machines[i]->prefix)))
			return machines[i];
	return NULL;
}
