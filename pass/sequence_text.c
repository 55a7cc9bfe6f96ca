// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly for x86-64 and aarch64.
#include "sequence_text.h"

#include <stdio.h>
#include <string.h>

/*
 * In the parts below `#` and a letter stand for an operand:
 *   #G gate   #N name   #K kind   #P position   #B, #b and #X, #x scratch registers, 64 and 32 bits
 * and `$` is doubled, as LLVM wants it. Local labels: 1 the cold path, 2 the end.
 */
struct names {
	char gate[16], name[32], kind[4], position[16];
	const char *b64, *b32, *x64, *x32;
	char b64_text[16], b32_text[16], x64_text[16], x32_text[16];
};

static void append(struct tp_text *text, const struct names *names, const char *part)
{
	size_t length = strlen(text->assembly);
	for (const char *at = part; *at; at++) {
		char one[2] = {*at, '\0'};
		const char *piece = one;
		if (*at == '#') {
			at++;
			piece = *at == 'G'   ? names->gate
				: *at == 'N' ? names->name
				: *at == 'K' ? names->kind
				: *at == 'P' ? names->position
				: *at == 'B' ? names->b64
				: *at == 'b' ? names->b32
				: *at == 'X' ? names->x64
					     : names->x32;
		}
		const size_t more = strlen(piece);
		if (length + more >= sizeof(text->assembly))
			return; // the texts are ours: a test compiles each of them
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

/* ---- x86-64 ---------------------------------------------------------------------------------- */

#define THREAD_X86 "movq " TEEPERF_SYMBOL_THREAD "@gottpoff(%rip), %r11\n\t"
// The low half first: if the upper half then still agrees, the low half belongs to it.
#define SOFT_X86(pointer, pointer32)                                                 \
	"movq %fs:8(%r11), " pointer "\n\tmovl (" pointer "), #b\n\tmovl 4(" pointer \
	"), " pointer32 "\n\t"
#define HIGH_X86(high) "cmpl " high ", %fs:16(%r11)\n\tjne 1f\n\t"
#define CURSOR_X86                                                 \
	"movq %fs:(%r11), %r10\n\ttestw %r10w, %r10w\n\tje 1f\n\t" \
	"leaq 8(%r10), #X\n\tmovq #X, %fs:(%r11)\n\t"
#define POSITION_X86 "movq %r10, #P\n\taddq %fs:24(%r11), #P\n\t"

static void write_x86(struct tp_text *text, const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	const bool call = request->shape == TP_SHAPE_CALL;
	const bool halves = !untimed && !call && request->clock != TEEPERF_COMPILED_SOFT;
	unsigned operand = 0;
	struct names n = {.b64 = "%rax", .b32 = "%eax", .x64 = "%rdx", .x32 = "%edx"};
	if (request->position) {
		snprintf(n.position, sizeof(n.position), "${%u:q}", operand);
		constrain(text, "=&r");
		operand++;
	}
	// rdtsc names its registers; without it the allocator knows which two are free here.
	if (!halves && !call) {
		snprintf(n.b64_text, sizeof(n.b64_text), "${%u:q}", operand);
		snprintf(n.b32_text, sizeof(n.b32_text), "${%u:k}", operand++);
		snprintf(n.x64_text, sizeof(n.x64_text), "${%u:q}", operand);
		snprintf(n.x32_text, sizeof(n.x32_text), "${%u:k}", operand++);
		n.b64 = n.b64_text, n.b32 = n.b32_text;
		n.x64 = n.x64_text, n.x32 = n.x32_text;
		constrain(text, "=&r,=&r");
	}
	text->output_count = operand;
	snprintf(n.gate, sizeof(n.gate), "${%u:c}", operand++);
	snprintf(n.kind, sizeof(n.kind), "%d", (int)request->kind);
	// leal takes the low half of an address, whichever way that is given.
	if (request->name_in_register)
		snprintf(n.name, sizeof(n.name), "%d(${%u:q})", (int)request->kind, operand);
	else
		snprintf(n.name, sizeof(n.name), "${%u:c}+%d(%%rip)", operand, (int)request->kind);
	constrain(text, request->name_in_register ? "i,r" : "i,i");
	constrain(text, halves || call ? "~{rax},~{rdx},~{r10},~{r11}" : "~{r10},~{r11}");
	constrain(text, "~{memory},~{dirflag},~{fpsr},~{flags}");

	if (request->position)
		append(text, &n, "movl $$1, ${0:k}\n\t");
	if (call) {
		append(text, &n, "cmpb $$0, #G(%rip)\n\tje 2f\n\tleal #N, %r10d\n\t");
		append(text, &n,
		    untimed ? "callq *" TEEPERF_SYMBOL_RECORD_UNTIMED "@GOTPCREL(%rip)\n\t"
		    : request->position ? "callq *" TEEPERF_SYMBOL_RECORD_POSITION
					  "@GOTPCREL(%rip)\n\t"
					: "callq *" TEEPERF_SYMBOL_RECORD "@GOTPCREL(%rip)\n\t");
		append(text, &n, request->position ? "movq %r10, #P\n2:" : "\n2:");
		return;
	}
	const bool is_auto = !untimed && request->clock == TEEPERF_COMPILED_AUTO;
	append(text, &n,
	    is_auto ? "cmpb $$1, #G(%rip)\n\tjb 2f\n\t" : "cmpb $$0, #G(%rip)\n\tje 2f\n\t");
	append(text, &n, THREAD_X86);
	if (is_auto)
		append(text, &n, "ja 3f\n\t" SOFT_X86("%rdx", "%edx") "4:" HIGH_X86("%edx"));
	else if (halves)
		append(text, &n, "rdtsc\n\t" HIGH_X86("%edx"));
	else if (untimed)
		append(text, &n, "cmpl $$-1, %fs:16(%r11)\n\tje 1f\n\t");
	else
		append(text, &n, SOFT_X86("%r10", "%r10d") HIGH_X86("%r10d"));
	append(text, &n, CURSOR_X86);
	if (request->position)
		append(text, &n, POSITION_X86);
	append(text, &n, "leal #N, #x\n\tshlq $$32, #X\n\t");
	append(text, &n,
	    untimed ? "movq #X, (%r10)\n\tjmp 2f\n" : "orq #X, #B\n\tmovq #B, (%r10)\n\tjmp 2f\n");
	if (is_auto)
		append(text, &n, "3:\trdtsc\n\tjmp 4b\n");
	append(text, &n,
	    "1:\tleal #N, %r10d\n\tleaq 5f(%rip), %r11\n\tjmpq *" TEEPERF_SYMBOL_SLOW
	    "@GOTPCREL(%rip)\n5:\t");
	append(text, &n, request->position ? "movq %r10, #P\n2:" : "\n2:");
}

/* ---- aarch64 --------------------------------------------------------------------------------- */

#define THREAD_ARM                                                 \
	"adrp x16, :gottprel:" TEEPERF_SYMBOL_THREAD               \
	"\n\tldr x16, [x16, :gottprel_lo12:" TEEPERF_SYMBOL_THREAD \
	"]\n\tmrs x15, tpidr_el0\n\tadd x16, x16, x15\n\t"
#define SOFT_ARM "ldr x17, [x16, 8]\n\tldr #B, [x17]\n\t"
#define NAME_ARM(to) "adrp " to ", #N\n\tadd " to ", " to ", :lo12:#N+#K\n\t"
#define NAME_REGISTER_ARM(to) "add " to ", #N, #K\n\t"

static void write_arm(struct tp_text *text, const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	unsigned operand = 0;
	struct names n = {.b32 = "", .x64 = "", .x32 = ""};
	if (request->position) {
		snprintf(n.position, sizeof(n.position), "$%u", operand++);
		constrain(text, "=&r");
	}
	const bool call = request->shape == TP_SHAPE_CALL;
	if (!call) {
		snprintf(n.b64_text, sizeof(n.b64_text), "$%u", operand++);
		n.b64 = n.b64_text;
		constrain(text, "=&r");
	}
	text->output_count = operand;
	snprintf(n.gate, sizeof(n.gate), "$%u", operand++);
	snprintf(n.name, sizeof(n.name), "$%u", operand);
	snprintf(n.kind, sizeof(n.kind), "%d", (int)request->kind);
	constrain(text, request->name_in_register ? "S,r" : "S,S");
	constrain(text, "~{x15},~{x16},~{x17},~{memory},~{cc}");

	if (request->position)
		append(text, &n, "mov #P, 1\n\t");
	append(text, &n, "adrp x17, #G\n\tldrb w17, [x17, :lo12:#G]\n\tcbz w17, 2f\n\t");
	if (call) {
		// The link register is one of the clobbered: a frame, so that unwinding stays right.
		constrain(text, "~{lr},~{x9}");
		append(text, &n,
		    request->name_in_register ? NAME_REGISTER_ARM("x16") : NAME_ARM("x16"));
		const char *symbol = untimed             ? TEEPERF_SYMBOL_RECORD_UNTIMED
				     : request->position ? TEEPERF_SYMBOL_RECORD_POSITION
							 : TEEPERF_SYMBOL_RECORD;
		append(text, &n, "adrp x17, :got:");
		append(text, &n, symbol);
		append(text, &n, "\n\tldr x17, [x17, :got_lo12:");
		append(text, &n, symbol);
		append(text, &n, "]\n\tblr x17\n\t");
		append(text, &n, request->position ? "mov #P, x16\n2:" : "\n2:");
		return;
	}
	const bool is_auto = !untimed && request->clock == TEEPERF_COMPILED_AUTO;
	append(text, &n, THREAD_ARM);
	if (is_auto)
		append(text, &n, "cmp w17, 1\n\tb.ne 3f\n\t" SOFT_ARM "4:\t");
	else if (!untimed && request->clock == TEEPERF_COMPILED_SOFT)
		append(text, &n, SOFT_ARM);
	else if (!untimed)
		append(text, &n, "mrs #B, cntvct_el0\n\t");
	append(text, &n,
	    untimed ? "ldr w17, [x16, 16]\n\tcmn w17, 1\n\tb.eq 1f\n\t"
		    : "ldr w17, [x16, 16]\n\tcmp x17, #B, lsr 32\n\tb.ne 1f\n\t");
	append(text, &n,
	    "ldr x15, [x16]\n\ttst x15, 0xffff\n\tb.eq 1f\n\t"
	    "add x17, x15, 8\n\tstr x17, [x16]\n\t");
	if (request->position)
		append(text, &n, "ldr x17, [x16, 24]\n\tadd #P, x15, x17\n\t");
	append(text, &n, request->name_in_register ? NAME_REGISTER_ARM("x17") : NAME_ARM("x17"));
	append(text, &n,
	    untimed ? "lsl x17, x17, 32\n\tstr x17, [x15]\n\tb 2f\n"
		    : "bfi #B, x17, 32, 32\n\tstr #B, [x15]\n\tb 2f\n");
	if (is_auto)
		append(text, &n, "3:\tmrs #B, cntvct_el0\n\tb 4b\n");
	append(text, &n, "1:\t");
	append(text, &n, request->name_in_register ? NAME_REGISTER_ARM("x16") : NAME_ARM("x16"));
	append(text, &n,
	    "adr x15, 5f\n\tadrp x17, :got:" TEEPERF_SYMBOL_SLOW
	    "\n\tldr x17, [x17, :got_lo12:" TEEPERF_SYMBOL_SLOW "]\n\tbr x17\n5:\t");
	append(text, &n, request->position ? "mov #P, x16\n2:" : "\n2:");
}

static const struct tp_text_machine machines[] = {
    {.prefix = "x86_64", .write = write_x86, .call_needs_no_red_zone = true},
    {.prefix = "aarch64", .write = write_arm},
};

const struct tp_text_machine *tp_text_find(const char *triple)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strncmp(triple, machines[i].prefix, strlen(machines[i].prefix)))
			return &machines[i];
	return NULL;
}
