// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly for aarch64.
#include "parts.h"

#include <stdio.h>

#define THREAD                                                     \
	"adrp x16, :gottprel:" TEEPERF_SYMBOL_THREAD               \
	"\n\tldr x16, [x16, :gottprel_lo12:" TEEPERF_SYMBOL_THREAD \
	"]\n\tmrs x15, tpidr_el0\n\tadd x16, x16, x15\n\t"
#define ONLY_THREAD                                  \
	"adrp x16, :got:" TEEPERF_SYMBOL_ONLY_THREAD \
	"\n\tldr x16, [x16, :got_lo12:" TEEPERF_SYMBOL_ONLY_THREAD "]\n\t"
#define SOFT "ldr x17, [x16, 8]\n\tldr #B, [x17]\n\t"
#define NAME(to) "adrp " to ", #N\n\tadd " to ", " to ", :lo12:#N+#K\n\t"
#define NAME_REGISTER(to) "add " to ", #N, #K\n\t"

// As in sequence_x86_64.c: the place must be in the thread's chunk still, and free.
#define BUMP                                                                               \
	"add x17, x15, 8\n\tstr x17, [x16]\n\tldr x17, [x16, 32]\n\tsub x17, x17, x15\n\t" \
	"sub x17, x17, 8\n\tlsr x17, x17, 16\n\tcbnz x17, 1f\n\tldr x17, [x15]\n\t"        \
	"cbnz x17, 1f\n\t"

#define GATE(gate, label) \
	"adrp x17, " gate "\n\tldrb w17, [x17, :lo12:" gate "]\n\tcbz w17, " label "\n\t"
#define ON "mov #P, 1\n\t" GATE("#O", "2f")
#define BETWEEN                                                               \
	"#T7:\tldr x15, [x16, 24]\n\tldr #P, [x16]\n\tldr x17, [x16, 24]\n\t" \
	"cmp x15, x17\n\tb.ne 7b\n\tadd #P, #P, x15\n\tsub #P, #P, 4\n\t"

static void end(struct tp_text *text, const struct tp_text_names *n, bool position)
{
	tp_text_append(text, n, position ? "mov #P, x16\n\tb 2f\n6:\t" BETWEEN "\n2:" : "\n6:\n2:");
}

static void write(struct tp_text *text, const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	struct tp_text_names n = {.b32 = "", .thread = request->one_thread ? ONLY_THREAD : THREAD};
	const bool call = request->shape == TP_SHAPE_CALL;
	tp_text_operands(text, &n, request, !call);
	tp_text_constrain(text, "~{x15},~{x16},~{x17},~{memory},~{cc}");

	if (request->position)
		tp_text_append(text, &n, ON);
	if (request->sampled)
		tp_text_append(text, &n, "cbz #S, 6f\n\t");
	tp_text_append(text, &n, GATE("#G", "6f"));
	if (call) {
		// The link register is one of the clobbered: a frame, so that unwinding stays right.
		tp_text_constrain(text, "~{lr},~{x9}");
		tp_text_append(
		    text, &n, request->name_in_register ? NAME_REGISTER("x16") : NAME("x16"));
		const char *symbol = untimed             ? TEEPERF_SYMBOL_RECORD_UNTIMED
				     : request->position ? TEEPERF_SYMBOL_RECORD_POSITION
							 : TEEPERF_SYMBOL_RECORD;
		tp_text_append(text, &n, "adrp x17, :got:");
		tp_text_append(text, &n, symbol);
		tp_text_append(text, &n, "\n\tldr x17, [x17, :got_lo12:");
		tp_text_append(text, &n, symbol);
		tp_text_append(text, &n, "]\n\tblr x17\n\t");
		end(text, &n, request->position);
		return;
	}
	const bool is_auto = !untimed && request->clock == TEEPERF_COMPILED_AUTO;
	tp_text_append(text, &n, "#T");
	if (is_auto)
		tp_text_append(text, &n, "cmp w17, 1\n\tb.ne 3f\n\t" SOFT "4:\t");
	else if (!untimed && request->clock == TEEPERF_COMPILED_SOFT)
		tp_text_append(text, &n, SOFT);
	else if (!untimed)
		tp_text_append(text, &n, "mrs #B, cntvct_el0\n\t");
	tp_text_append(text, &n,
	    untimed ? "ldr w17, [x16, 16]\n\tcmn w17, 1\n\tb.eq 1f\n\t"
		    : "ldr w17, [x16, 16]\n\tcmp x17, #B, lsr 32\n\tb.ne 1f\n\t");
	tp_text_append(text, &n,
	    request->position
		? "ldr x15, [x16]\n\ttst x15, 0xffff\n\tb.eq 1f\n\tldr #P, [x16, 24]\n\t" BUMP
		  "add #P, #P, x15\n\t"
		: "ldr x15, [x16]\n\ttst x15, 0xffff\n\tb.eq 1f\n\t" BUMP);
	tp_text_append(text, &n, request->name_in_register ? NAME_REGISTER("x17") : NAME("x17"));
	tp_text_append(text, &n,
	    untimed ? "lsl x17, x17, 32\n\tstr x17, [x15]\n\tb 2f\n"
		    : "bfi #B, x17, 32, 32\n\tstr #B, [x15]\n\tb 2f\n");
	if (is_auto)
		tp_text_append(text, &n, "3:\tmrs #B, cntvct_el0\n\tb 4b\n");
	tp_text_append(text, &n, "1:\t");
	tp_text_append(text, &n, request->name_in_register ? NAME_REGISTER("x16") : NAME("x16"));
	tp_text_append(text, &n,
	    "adr x15, 5f\n\tadrp x17, :got:" TEEPERF_SYMBOL_SLOW
	    "\n\tldr x17, [x17, :got_lo12:" TEEPERF_SYMBOL_SLOW "]\n\tbr x17\n5:\t");
	end(text, &n, request->position);
}

static void write_between(struct tp_text *text, bool one_thread)
{
	struct tp_text_names n = {.position = "$0", .thread = one_thread ? ONLY_THREAD : THREAD};
	snprintf(n.on, sizeof(n.on), "$1+%u", TEEPERF_GATE_OFFSET);
	text->output_count = 1;
	tp_text_constrain(text, "=&r,S,~{x15},~{x16},~{x17},~{memory},~{cc}");
	tp_text_append(text, &n, ON BETWEEN "\n2:");
}

static void write_count(struct tp_text *text, const struct tp_text_count *request)
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

const struct tp_text_machine tp_text_aarch64 = {.prefix = "aarch64",
    .write = write,
    .write_between = write_between,
    .write_count = write_count};
