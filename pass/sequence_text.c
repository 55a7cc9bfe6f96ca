// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly for x86-64 and aarch64, and the choice among all processors.
#include "sequence_parts.h"

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

/* ---- x86-64 ---------------------------------------------------------------------------------- */

/*
 * r10 holds the name, r11 the thread block, A the cursor, B the time. A call in the cold path leaves the
 * fast path as it is, for LLVM sees none of it; all that it takes is that nobody uses the red zone.
 * (A jump with an alternate link register spares that and costs 7 bytes a record.)
 */
#define GATE_X86(value, jump) "cmpb $$" value ", #G(%rip)\n\t" jump " 6f\n\t"
#define THREAD_X86 "movq " TEEPERF_SYMBOL_THREAD "@gottpoff(%rip), %r11\n\t"
#define ONLY_THREAD_X86 "movq " TEEPERF_SYMBOL_ONLY_THREAD "@GOTPCREL(%rip), %r11\n\t"
#define NAME_X86 "leal #N, %r10d\n\t"
// The low half first: if the upper half then still agrees, the low half belongs to it.
#define SOFT_X86 "movq #F8(%r11), #A\n\tmovl (#A), #b\n\tmovl 4(#A), #a\n\t"
// The flags are still those of the gate. rdtsc waits for nothing, and nothing for it, but where the gate is
// TEEPERF_GATE_ORDERED.
#define HARD_X86 "3:\tjnp 8f\n\tlfence\n8:\trdtsc\n\tjnp 4b\n\tlfence\n\tjmp 4b\n"
#define HIGH_X86 "cmpl #a, #F16(%r11)\n\tjne 1f\n\t"
#define HIGH_UNTIMED_X86 "cmpl $$-1, #F16(%r11)\n\tje 1f\n\t"
/*
 * A signal handler that comes between load and store of the cursor writes from the same place on, and
 * the store then takes the cursor back. So the place must be in the thread's chunk still, and what is
 * there must be 0; the cold path finds the way again. (One xadd instead costs 1.8 ns a call more with the
 * counter word; the two looks cost 0.8 in the shortest loop, and nothing that shows in a thousand functions.)
 */
#define CURSOR_X86 "movq #F(%r11), #A\n\ttestw #w, #w\n\tje 1f\n\t"
#define BUMP_X86                                                                          \
	"addq $$8, #A\n\tmovq #A, #F(%r11)\n\tmovq #F32(%r11), %r11\n\tsubq #A, %r11\n\t" \
	"shrq $$16, %r11\n\tjne 1f\n\tcmpq $$0, -8(#A)\n\tjne 1f\n\t"
// The log streams through memory: have the lines ready that come next, to be written. Without it a log
// larger than the second-level cache costs 1 ns a call more. (movnti instead makes the next locked
// instruction wait for memory.) Behind a chunk's end it touches what is not ours, and changes nothing.
#define AHEAD_X86 "prefetchw 1024(#A)\n\t"
// Read before the cursor is stored: so it is of the same chunk, if the place was free.
#define BIAS_X86 "movq #F24(%r11), #P\n\t"
#define POSITION_X86 "leaq -8(#A,#P), #P\n\t"
// Without a record there is still a position, unless recording is off.
#define ON_X86 "movl $$1, ${0:k}\n\tcmpb $$0, #O(%rip)\n\tje 2f\n\t"
// A signal handler may change chunks between the two loads.
#define BETWEEN_X86                                                       \
	"#T7:\tmovq #F24(%r11), %r10\n\tmovq #F(%r11), #P\n\tcmpq %r10, " \
	"#F24(%r11)\n\tjne 7b\n\tleaq -4(#P,%r10), #P\n\t"

static void find_thread_x86(struct tp_text_names *n, bool one_thread)
{
	n->thread = one_thread ? ONLY_THREAD_X86 : THREAD_X86;
	n->segment = one_thread ? "" : "%fs:";
}

// The end of a text: label 2, and 6, which is the same where no position is wanted.
static void end_x86(struct tp_text *text, const struct tp_text_names *n, bool position)
{
	tp_text_append(
	    text, n, position ? "movq %r10, #P\n\tjmp 2f\n6:\t" BETWEEN_X86 "\n2:" : "\n6:\n2:");
}

static void write_x86(struct tp_text *text, const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	const bool call = request->shape == TP_SHAPE_CALL;
	// rdtsc names its registers; without it the allocator knows which are free here.
	const bool fixed = call || (!untimed && request->clock != TEEPERF_COMPILED_SOFT);
	struct tp_text_names n = {
	    .a64 = "%rdx", .a32 = "%edx", .a16 = "%dx", .b64 = "%rax", .b32 = "%eax"};
	unsigned operand = 0;
	find_thread_x86(&n, request->one_thread);
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
		tp_text_append(text, &n, ON_X86);
	if (request->sampled)
		tp_text_append(text, &n, "testq #S, #S\n\tje 6f\n\t");
	if (call) {
		tp_text_append(text, &n, GATE_X86("0", "je") NAME_X86);
		tp_text_append(text, &n,
		    untimed ? "callq *" TEEPERF_SYMBOL_RECORD_UNTIMED "@GOTPCREL(%rip)\n\t"
		    : request->position ? "callq *" TEEPERF_SYMBOL_RECORD_POSITION
					  "@GOTPCREL(%rip)\n\t"
					: "callq *" TEEPERF_SYMBOL_RECORD "@GOTPCREL(%rip)\n\t");
		end_x86(text, &n, request->position);
		return;
	}
	const bool is_auto = !untimed && request->clock == TEEPERF_COMPILED_AUTO;
	tp_text_append(text, &n, is_auto ? GATE_X86("1", "jb") : GATE_X86("0", "je"));
	tp_text_append(text, &n, "#T" NAME_X86);
	tp_text_append(text, &n,
	    is_auto   ? "ja 3f\n\t" SOFT_X86 "4:\t" HIGH_X86
	    : untimed ? HIGH_UNTIMED_X86
	    : fixed   ? "rdtsc\n\t" HIGH_X86
		      : SOFT_X86 HIGH_X86);
	tp_text_append(text, &n, CURSOR_X86);
	if (request->position)
		tp_text_append(text, &n, BIAS_X86);
	tp_text_append(text, &n, BUMP_X86);
	if (request->position)
		tp_text_append(text, &n, POSITION_X86);
	tp_text_append(text, &n,
	    untimed ? "shlq $$32, %r10\n\tmovq %r10, -8(#A)\n\t"
		    : "shlq $$32, %r10\n\torq %r10, #B\n\tmovq #B, -8(#A)\n\t");
	// Once a call is enough for a line every four calls.
	if (request->kind == TEEPERF_KIND_EXIT || untimed)
		tp_text_append(text, &n, AHEAD_X86);
	tp_text_append(text, &n, "jmp 2f\n");
	if (is_auto)
		tp_text_append(text, &n, HARD_X86);
	tp_text_append(text, &n,
	    request->name_in_register ? "1:\tleaq -128(%rsp), %rsp\n\tcallq *" TEEPERF_SYMBOL_SLOW
					"@GOTPCREL(%rip)\n\tleaq 128(%rsp), %rsp\n\t"
				      : "1:\tcallq *" TEEPERF_SYMBOL_SLOW "@GOTPCREL(%rip)\n\t");
	end_x86(text, &n, request->position);
}

static void write_between_x86(struct tp_text *text, bool one_thread)
{
	struct tp_text_names n = {.position = "${0:q}"};
	find_thread_x86(&n, one_thread);
	snprintf(n.on, sizeof(n.on), "${1:c}+%u", TEEPERF_GATE_OFFSET);
	text->output_count = 1;
	tp_text_constrain(text, "=&r,i,~{r10},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}");
	tp_text_append(text, &n, ON_X86 BETWEEN_X86 "\n2:");
}

static void write_count_x86(struct tp_text *text, const struct tp_text_count *request)
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

/* ---- aarch64 --------------------------------------------------------------------------------- */

#define THREAD_ARM                                                 \
	"adrp x16, :gottprel:" TEEPERF_SYMBOL_THREAD               \
	"\n\tldr x16, [x16, :gottprel_lo12:" TEEPERF_SYMBOL_THREAD \
	"]\n\tmrs x15, tpidr_el0\n\tadd x16, x16, x15\n\t"
#define ONLY_THREAD_ARM                              \
	"adrp x16, :got:" TEEPERF_SYMBOL_ONLY_THREAD \
	"\n\tldr x16, [x16, :got_lo12:" TEEPERF_SYMBOL_ONLY_THREAD "]\n\t"
#define SOFT_ARM "ldr x17, [x16, 8]\n\tldr #B, [x17]\n\t"
#define NAME_ARM(to) "adrp " to ", #N\n\tadd " to ", " to ", :lo12:#N+#K\n\t"
#define NAME_REGISTER_ARM(to) "add " to ", #N, #K\n\t"

// As BUMP_X86.
#define BUMP_ARM                                                                           \
	"add x17, x15, 8\n\tstr x17, [x16]\n\tldr x17, [x16, 32]\n\tsub x17, x17, x15\n\t" \
	"sub x17, x17, 8\n\tlsr x17, x17, 16\n\tcbnz x17, 1f\n\tldr x17, [x15]\n\t"        \
	"cbnz x17, 1f\n\t"

#define GATE_ARM(gate, label) \
	"adrp x17, " gate "\n\tldrb w17, [x17, :lo12:" gate "]\n\tcbz w17, " label "\n\t"
#define ON_ARM "mov #P, 1\n\t" GATE_ARM("#O", "2f")
#define BETWEEN_ARM                                                           \
	"#T7:\tldr x15, [x16, 24]\n\tldr #P, [x16]\n\tldr x17, [x16, 24]\n\t" \
	"cmp x15, x17\n\tb.ne 7b\n\tadd #P, #P, x15\n\tsub #P, #P, 4\n\t"

static void end_arm(struct tp_text *text, const struct tp_text_names *n, bool position)
{
	tp_text_append(
	    text, n, position ? "mov #P, x16\n\tb 2f\n6:\t" BETWEEN_ARM "\n2:" : "\n6:\n2:");
}

static void write_arm(struct tp_text *text, const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	unsigned operand = 0;
	struct tp_text_names n = {
	    .b32 = "", .thread = request->one_thread ? ONLY_THREAD_ARM : THREAD_ARM};
	if (request->position) {
		snprintf(n.position, sizeof(n.position), "$%u", operand++);
		tp_text_constrain(text, "=&r");
	}
	const bool call = request->shape == TP_SHAPE_CALL;
	if (!call) {
		snprintf(n.b64, sizeof(n.b64), "$%u", operand++);
		tp_text_constrain(text, "=&r");
	}
	text->output_count = operand;
	snprintf(n.on, sizeof(n.on), "$%u+%u", operand, TEEPERF_GATE_OFFSET);
	snprintf(n.gate, sizeof(n.gate), "$%u+%u", operand++, request->gate);
	snprintf(n.name, sizeof(n.name), "$%u", operand++);
	snprintf(n.sampled, sizeof(n.sampled), "$%u", operand);
	snprintf(n.kind, sizeof(n.kind), "%d", (int)request->kind);
	tp_text_constrain(text, request->name_in_register ? "S,r" : "S,S");
	if (request->sampled)
		tp_text_constrain(text, "r");
	tp_text_constrain(text, "~{x15},~{x16},~{x17},~{memory},~{cc}");

	if (request->position)
		tp_text_append(text, &n, ON_ARM);
	if (request->sampled)
		tp_text_append(text, &n, "cbz #S, 6f\n\t");
	tp_text_append(text, &n, GATE_ARM("#G", "6f"));
	if (call) {
		// The link register is one of the clobbered: a frame, so that unwinding stays right.
		tp_text_constrain(text, "~{lr},~{x9}");
		tp_text_append(text, &n,
		    request->name_in_register ? NAME_REGISTER_ARM("x16") : NAME_ARM("x16"));
		const char *symbol = untimed             ? TEEPERF_SYMBOL_RECORD_UNTIMED
				     : request->position ? TEEPERF_SYMBOL_RECORD_POSITION
							 : TEEPERF_SYMBOL_RECORD;
		tp_text_append(text, &n, "adrp x17, :got:");
		tp_text_append(text, &n, symbol);
		tp_text_append(text, &n, "\n\tldr x17, [x17, :got_lo12:");
		tp_text_append(text, &n, symbol);
		tp_text_append(text, &n, "]\n\tblr x17\n\t");
		end_arm(text, &n, request->position);
		return;
	}
	const bool is_auto = !untimed && request->clock == TEEPERF_COMPILED_AUTO;
	tp_text_append(text, &n, "#T");
	if (is_auto)
		tp_text_append(text, &n, "cmp w17, 1\n\tb.ne 3f\n\t" SOFT_ARM "4:\t");
	else if (!untimed && request->clock == TEEPERF_COMPILED_SOFT)
		tp_text_append(text, &n, SOFT_ARM);
	else if (!untimed)
		tp_text_append(text, &n, "mrs #B, cntvct_el0\n\t");
	tp_text_append(text, &n,
	    untimed ? "ldr w17, [x16, 16]\n\tcmn w17, 1\n\tb.eq 1f\n\t"
		    : "ldr w17, [x16, 16]\n\tcmp x17, #B, lsr 32\n\tb.ne 1f\n\t");
	tp_text_append(text, &n,
	    request->position
		? "ldr x15, [x16]\n\ttst x15, 0xffff\n\tb.eq 1f\n\tldr #P, [x16, 24]\n\t" BUMP_ARM
		  "add #P, #P, x15\n\t"
		: "ldr x15, [x16]\n\ttst x15, 0xffff\n\tb.eq 1f\n\t" BUMP_ARM);
	tp_text_append(
	    text, &n, request->name_in_register ? NAME_REGISTER_ARM("x17") : NAME_ARM("x17"));
	tp_text_append(text, &n,
	    untimed ? "lsl x17, x17, 32\n\tstr x17, [x15]\n\tb 2f\n"
		    : "bfi #B, x17, 32, 32\n\tstr #B, [x15]\n\tb 2f\n");
	if (is_auto)
		tp_text_append(text, &n, "3:\tmrs #B, cntvct_el0\n\tb 4b\n");
	tp_text_append(text, &n, "1:\t");
	tp_text_append(
	    text, &n, request->name_in_register ? NAME_REGISTER_ARM("x16") : NAME_ARM("x16"));
	tp_text_append(text, &n,
	    "adr x15, 5f\n\tadrp x17, :got:" TEEPERF_SYMBOL_SLOW
	    "\n\tldr x17, [x17, :got_lo12:" TEEPERF_SYMBOL_SLOW "]\n\tbr x17\n5:\t");
	end_arm(text, &n, request->position);
}

static void write_between_arm(struct tp_text *text, bool one_thread)
{
	struct tp_text_names n = {
	    .position = "$0", .thread = one_thread ? ONLY_THREAD_ARM : THREAD_ARM};
	snprintf(n.on, sizeof(n.on), "$1+%u", TEEPERF_GATE_OFFSET);
	text->output_count = 1;
	tp_text_constrain(text, "=&r,S,~{x15},~{x16},~{x17},~{memory},~{cc}");
	tp_text_append(text, &n, ON_ARM BETWEEN_ARM "\n2:");
}

static void write_count_arm(struct tp_text *text, const struct tp_text_count *request)
{
	const unsigned first = request->wants_count; // number of the first input
	const unsigned offset = request->offset;
	if (request->wants_count) {
		tp_text_constrain(text, "=&r");
		text->output_count = 1;
	}
	tp_text_constrain(text, "r,S,S,~{x15},~{x16},~{x17},~{memory},~{cc}");
	const char *take = request->wants_count ? "mov $0, x17\n\t" : "";
	snprintf(text->assembly, sizeof(text->assembly),
	    "%sadrp x17, $%u+%u\n\tldrb w17, [x17, :lo12:$%u+%u]\n\tcbz w17, 2f\n\tcbz $%u, 1f\n\t"
	    "ldr x17, [$%u, %u]\n\tadd x17, x17, 1\n\tstr x17, [$%u, %u]\n\t%sb 2f\n"
	    "1:\tadrp x16, $%u\n\tadd x16, x16, :lo12:$%u\n\tadr x15, 3f\n\t"
	    "adrp x17, :got:" TEEPERF_SYMBOL_COUNT
	    "\n\tldr x17, [x17, :got_lo12:" TEEPERF_SYMBOL_COUNT "]\n\tbr x17\n3:\tcbz x16, 2f\n\t"
	    "ldr x17, [x16, %u]\n\tadd x17, x17, 1\n\tstr x17, [x16, %u]\n\t%s\n2:",
	    request->wants_count ? "mov $0, 0\n\t" : "", first + 1, request->gate, first + 1,
	    request->gate, first, first, offset, first, offset, take, first + 2, first + 2, offset,
	    offset, take);
}

static const struct tp_text_machine x86_64 = {.prefix = "x86_64",
    .write = write_x86,
    .write_between = write_between_x86,
    .write_count = write_count_x86,
    .needs_no_red_zone = true};
static const struct tp_text_machine aarch64 = {.prefix = "aarch64",
    .write = write_arm,
    .write_between = write_between_arm,
    .write_count = write_count_arm};
static const struct tp_text_machine *const machines[] = {&x86_64, &aarch64, &tp_text_riscv64};

const struct tp_text_machine *tp_text_find(const char *triple)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strncmp(triple, machines[i]->prefix, strlen(machines[i]->prefix)))
			return machines[i];
	return NULL;
}
