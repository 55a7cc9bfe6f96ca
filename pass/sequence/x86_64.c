// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly for x86-64.
#include "parts.h"

#include <stdio.h>

/*
 * r10 holds the name, r11 the thread block, A the cursor, B the time. A call in the cold path leaves the
 * fast path as it is, for LLVM sees none of it; all that it takes is that nobody uses the red zone.
 * (A jump with an alternate link register spares that and costs 7 bytes a record.)
 */
#define GATE(value, jump) "cmpb $$" value ", #G(%rip)\n\t" jump " 6f\n\t"
#define THREAD "movq " TEEPERF_SYMBOL_THREAD "@gottpoff(%rip), %r11\n\t"
#define ONLY_THREAD "movq " TEEPERF_SYMBOL_ONLY_THREAD "@GOTPCREL(%rip), %r11\n\t"
#define NAME "leal #N, %r10d\n\t"
// The low half first: if the upper half then still agrees, the low half belongs to it.
#define SOFT "movq #F8(%r11), #A\n\tmovl (#A), #b\n\tmovl 4(#A), #a\n\t"
// The flags are still those of the gate. rdtsc waits for nothing, and nothing for it, but where the gate is
// TEEPERF_GATE_ORDERED.
#define HARD "3:\tjnp 8f\n\tlfence\n8:\trdtsc\n\tjnp 4b\n\tlfence\n\tjmp 4b\n"
#define HIGH "cmpl #a, #F16(%r11)\n\tjne 1f\n\t"
#define HIGH_UNTIMED "cmpl $$-1, #F16(%r11)\n\tje 1f\n\t"
/*
 * A signal handler that comes between load and store of the cursor writes from the same place on, and
 * the store then takes the cursor back. So the place must be in the thread's chunk still, and what is
 * there must be 0; the cold path finds the way again. (One xadd instead costs 1.8 ns a call more with the
 * counter word; the two looks cost 0.8 in the shortest loop, and nothing that shows in a thousand functions.)
 */
#define CURSOR "movq #F(%r11), #A\n\ttestw #w, #w\n\tje 1f\n\t"
#define BUMP                                                                              \
	"addq $$8, #A\n\tmovq #A, #F(%r11)\n\tmovq #F32(%r11), %r11\n\tsubq #A, %r11\n\t" \
	"shrq $$16, %r11\n\tjne 1f\n\tcmpq $$0, -8(#A)\n\tjne 1f\n\t"
// The log streams through memory: have the lines ready that come next, to be written. Without it a log
// larger than the second-level cache costs 1 ns a call more. (movnti instead makes the next locked
// instruction wait for memory.) Behind a chunk's end it touches what is not ours, and changes nothing.
#define AHEAD "prefetchw 1024(#A)\n\t"
// Read before the cursor is stored: so it is of the same chunk, if the place was free.
#define BIAS "movq #F24(%r11), #P\n\t"
#define POSITION "leaq -8(#A,#P), #P\n\t"
// Without a record there is still a position, unless recording is off.
#define ON "movl $$1, ${0:k}\n\tcmpb $$0, #O(%rip)\n\tje 2f\n\t"
// A signal handler may change chunks between the two loads.
#define BETWEEN                                                           \
	"#T7:\tmovq #F24(%r11), %r10\n\tmovq #F(%r11), #P\n\tcmpq %r10, " \
	"#F24(%r11)\n\tjne 7b\n\tleaq -4(#P,%r10), #P\n\t"

static void find_thread(struct tp_text_names *n, bool one_thread)
{
	n->thread = one_thread ? ONLY_THREAD : THREAD;
	n->segment = one_thread ? "" : "%fs:";
}

// The end of a text: label 2, and 6, which is the same where no position is wanted.
static void end(struct tp_text *text, const struct tp_text_names *n, bool position)
{
	tp_text_append(
	    text, n, position ? "movq %r10, #P\n\tjmp 2f\n6:\t" BETWEEN "\n2:" : "\n6:\n2:");
}

static void write(struct tp_text *text, const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	const bool call = request->shape == TP_SHAPE_CALL;
	// rdtsc names its registers; without it the allocator knows which are free here.
	const bool fixed = call || (!untimed && request->clock != TEEPERF_COMPILED_SOFT);
	struct tp_text_names n = {
	    .a64 = "%rdx", .a32 = "%edx", .a16 = "%dx", .b64 = "%rax", .b32 = "%eax"};
	unsigned operand = 0;
	find_thread(&n, request->one_thread);
	if (request->position) {
		snprintf(n.position, sizeof(n.position), "${%u:q}", operand++);
		tp_text_constrain(text, "=&r");
	}
	if (!fixed) {
		snprintf(n.a64, sizeof(n.a64), "${%u:q}", operand);
		snprintf(n.a32, sizeof(n.a32), "${%u:k}", operand);
		snprintf(n.a16, sizeof(n.a16), "${%u:w}", operand++);
		tp_text_constrain(text, "=&r");
	}
	if (!fixed && !untimed) {
		snprintf(n.b64, sizeof(n.b64), "${%u:q}", operand);
		snprintf(n.b32, sizeof(n.b32), "${%u:k}", operand++);
		tp_text_constrain(text, "=&r");
	}
	text->output_count = operand;
	snprintf(n.on, sizeof(n.on), "${%u:c}+%u", operand, TEEPERF_GATE_OFFSET);
	snprintf(n.gate, sizeof(n.gate), "${%u:c}+%u", operand++, request->gate);
	const int kind = (int)request->kind;
	// leal takes the low half of an address, whichever way that is given.
	if (request->name_in_register)
		snprintf(n.name, sizeof(n.name), "%d(${%u:q})", kind, operand);
	else
		snprintf(n.name, sizeof(n.name), "${%u:c}+%d(%%rip)", operand, kind);
	tp_text_constrain(text, request->name_in_register ? "i,r" : "i,i");
	snprintf(n.sampled, sizeof(n.sampled), "${%u:q}", ++operand);
	if (request->sampled)
		tp_text_constrain(text, "r");
	tp_text_constrain(text, fixed ? "~{rax},~{rdx},~{r10},~{r11}" : "~{r10},~{r11}");
	tp_text_constrain(text, "~{memory},~{dirflag},~{fpsr},~{flags}");

	if (request->position)
		tp_text_append(text, &n, ON);
	if (request->sampled)
		tp_text_append(text, &n, "testq #S, #S\n\tje 6f\n\t");
	if (call) {
		tp_text_append(text, &n, GATE("0", "je") NAME);
		tp_text_append(text, &n,
		    untimed ? "callq *" TEEPERF_SYMBOL_RECORD_UNTIMED "@GOTPCREL(%rip)\n\t"
		    : request->position ? "callq *" TEEPERF_SYMBOL_RECORD_POSITION
					  "@GOTPCREL(%rip)\n\t"
					: "callq *" TEEPERF_SYMBOL_RECORD "@GOTPCREL(%rip)\n\t");
		end(text, &n, request->position);
		return;
	}
	const bool is_auto = !untimed && request->clock == TEEPERF_COMPILED_AUTO;
	tp_text_append(text, &n, is_auto ? GATE("1", "jb") : GATE("0", "je"));
	tp_text_append(text, &n, "#T" NAME);
	tp_text_append(text, &n,
	    is_auto   ? "ja 3f\n\t" SOFT "4:\t" HIGH
	    : untimed ? HIGH_UNTIMED
	    : fixed   ? "rdtsc\n\t" HIGH
		      : SOFT HIGH);
	tp_text_append(text, &n, CURSOR);
	if (request->position)
		tp_text_append(text, &n, BIAS);
	tp_text_append(text, &n, BUMP);
	if (request->position)
		tp_text_append(text, &n, POSITION);
	tp_text_append(text, &n,
	    untimed ? "shlq $$32, %r10\n\tmovq %r10, -8(#A)\n\t"
		    : "shlq $$32, %r10\n\torq %r10, #B\n\tmovq #B, -8(#A)\n\t");
	// Once a call is enough for a line every four calls.
	if (request->kind == TEEPERF_KIND_EXIT || untimed)
		tp_text_append(text, &n, AHEAD);
	tp_text_append(text, &n, "jmp 2f\n");
	if (is_auto)
		tp_text_append(text, &n, HARD);
	tp_text_append(text, &n,
	    request->name_in_register ? "1:\tleaq -128(%rsp), %rsp\n\tcallq *" TEEPERF_SYMBOL_SLOW
					"@GOTPCREL(%rip)\n\tleaq 128(%rsp), %rsp\n\t"
				      : "1:\tcallq *" TEEPERF_SYMBOL_SLOW "@GOTPCREL(%rip)\n\t");
	end(text, &n, request->position);
}

static void write_between(struct tp_text *text, bool one_thread)
{
	struct tp_text_names n = {.position = "${0:q}"};
	find_thread(&n, one_thread);
	snprintf(n.on, sizeof(n.on), "${1:c}+%u", TEEPERF_GATE_OFFSET);
	text->output_count = 1;
	tp_text_constrain(text, "=&r,i,~{r10},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}");
	tp_text_append(text, &n, ON BETWEEN "\n2:");
}

static void write_count(struct tp_text *text, const struct tp_text_count *request)
{
	const unsigned first = request->wants_count; // number of the first input
	const unsigned offset = request->offset;
	char take[2][48] = {"", ""};
	if (request->wants_count) {
		snprintf(take[0], sizeof(take[0]), "movq %u(${1:q}), ${0:q}\n\t", offset);
		snprintf(take[1], sizeof(take[1]), "\n\tmovq %u(%%r10), ${0:q}", offset);
		tp_text_constrain(text, "=&r");
		text->output_count = 1;
	}
	tp_text_constrain(text, "r,i,i,~{r10},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}");
	snprintf(text->assembly, sizeof(text->assembly),
	    "%scmpb $$0, ${%u:c}+%u(%%rip)\n\tje 2f\n\ttestq ${%u:q}, ${%u:q}\n\tje 1f\n\t"
	    "incq %u(${%u:q})\n\t%sjmp 2f\n1:\tleaq ${%u:c}(%%rip), %%r10\n\t%s"
	    "callq *" TEEPERF_SYMBOL_COUNT "@GOTPCREL(%%rip)\n\t%s"
	    "testq %%r10, %%r10\n\tje 2f\n\tincq %u(%%r10)%s\n2:",
	    request->wants_count ? "xorl ${0:k}, ${0:k}\n\t" : "", first + 1, request->gate, first,
	    first, offset, first, take[0], first + 2,
	    request->no_red_zone ? "" : "leaq -128(%rsp), %rsp\n\t",
	    request->no_red_zone ? "" : "leaq 128(%rsp), %rsp\n\t", offset, take[1]);
}

const struct tp_text_machine tp_text_x86_64 = {.prefix = "x86_64",
    .write = write,
    .write_between = write_between,
    .write_count = write_count,
    .needs_no_red_zone = true};
