// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly for aarch64.
#include "text.h"

#define CHANGED "~{x15},~{x16},~{x17},~{memory},~{cc}"
#define GOT(symbol) "adrp x17, :got:" symbol "\n\tldr x17, [x17, :got_lo12:" symbol "]\n\t"
#define HARDWARE "mrs #B, cntvct_el0\n\t"
#define NAME(to) "adrp " to ", #N\n\tadd " to ", " to ", :lo12:#N+#K\n\t"
#define NAME_REGISTER(to) "add " to ", #N, #K\n\t"
#define GATE(gate, label) \
	"adrp x17, " gate "\n\tldrb w17, [x17, :lo12:" gate "]\n\tcbz w17, " label "\n\t"
#define COLD(symbol) "adr x15, 5f\n\t" GOT(symbol) "br x17\n5:\t"
#define ON "mov #P, 1\n\t" GATE("#O", "2f")
#define BETWEEN                                                               \
	"#T7:\tldr x15, [x16, 24]\n\tldr #P, [x16]\n\tldr x17, [x16, 24]\n\t" \
	"cmp x15, x17\n\tb.ne 7b\n\tadd #P, #P, x15\n\tsub #P, #P, 4\n\t"
#define COUNT(zero, take)                                                                         \
	zero GATE("#G", "2f") "cbz #C, 1f\n\t"                                                    \
			      "ldr x17, [#C, #I]\n\tadd x17, x17, 1\n"                            \
			      "\tstr x17, [#C, #I]\n\t" take                                      \
			      "b 2f\n1:\tadrp x16, #D\n\tadd x16, x16, :lo12:#D\n"                \
			      "\tadr x15, 3f\n\t" GOT(                                            \
				  TEEPERF_SYMBOL_COUNT) "br x17\n3:\tcbz "                        \
							"x16, 2f\n\t"                             \
							"ldr x17, [x16, #I]\n\tadd x17, x17, 1\n" \
							"\tstr x17, [x16, #I]\n\t" take "\n2:"

static const char *take_registers(
    struct tp_text *text, struct tp_text_names *names, const struct tp_text_request *request)
{
	// The link register is one of the changed: a frame, so that unwinding stays right.
	if (request->shape == TP_SHAPE_CALL)
		return CHANGED ",~{lr},~{x9}";
	tp_text_name(names, 'B', "$%u", text->output_count);
	tp_text_take(text);
	return CHANGED;
}

const struct tp_text_machine tp_text_aarch64 = {
    .prefix = "aarch64",
    .symbol = "S",
    .changed = CHANGED,
    .take_registers = take_registers,
    .thread = {"adrp x16, :gottprel:" TEEPERF_SYMBOL_THREAD
	       "\n\tldr x16, [x16, :gottprel_lo12:" TEEPERF_SYMBOL_THREAD
	       "]\n\tmrs x15, tpidr_el0\n\tadd x16, x16, x15\n\t",
	"adrp x16, :got:" TEEPERF_SYMBOL_ONLY_THREAD
	"\n\tldr x16, [x16, :got_lo12:" TEEPERF_SYMBOL_ONLY_THREAD "]\n\t"},
    .on = ON,
    .sampled = "cbz #S, 6f\n\t",
    .gate = {GATE("#G", "6f"), GATE("#G", "6f")},
    .call = {NAME("x16") GOT("#R") "blr x17\n\t", NAME_REGISTER("x16") GOT("#R") "blr x17\n\t"},
    .choose = {"cmp w17, 1\n\tb.ne 3f\n\t"},
    .soft = "ldr x17, [x16, 8]\n\tldr #B, [x17]\n\t",
    .hardware = HARDWARE,
    .high = {"ldr w17, [x16, 16]\n\tcmp x17, #B, lsr 32\n\tb.ne 1f\n\t",
	"ldr w17, [x16, 16]\n\tcmn w17, 1\n\tb.eq 1f\n\t"},
    .cursor = "ldr x15, [x16]\n\t",
    .bias = "ldr #P, [x16, 24]\n\t",
    // As in x86_64.c: the cursor is in the thread's chunk, which is not full, and the place is
    // free.
    .bump = "ldr x17, [x16, 32]\n\tcmp x15, x17\n\tb.hs 1f\n\tldr x17, [x16, 40]\n\tcmp x15, x17\n"
	    "\tb.lo 1f\n\t"
	    "add x17, x15, 8\n\tstr x17, [x16]\n\tldr x17, [x15]\n\tcbnz x17, 1f\n\t",
    .place = "add #P, #P, x15\n\t",
    .take_name = {NAME("x17"), NAME_REGISTER("x17")},
    .store = {"bfi #B, x17, 32, 32\n\tstr #B, [x15]\n\t", "lsl x17, x17, 32\n\tstr x17, [x15]\n\t"},
    .done = "b 2f\n",
    .chosen_hardware = {"3:\t" HARDWARE "b 4b\n"},
    .cold = {"1:\t" NAME("x16") COLD(TEEPERF_SYMBOL_SLOW),
	"1:\t" NAME_REGISTER("x16") COLD(TEEPERF_SYMBOL_SLOW)},
    .end = {"\n6:\n2:", "mov #P, x16\n\tb 2f\n6:\t" BETWEEN "\n2:"},
    .between = ON BETWEEN "\n2:",
    .count = {COUNT("", ""), COUNT("mov #P, 0\n\t", "mov #P, x17\n\t")},
};
