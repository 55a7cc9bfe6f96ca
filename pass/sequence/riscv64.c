// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly for riscv64.
#include "text.h"

/*
 * t1 holds the thread block, t0 the cursor, B the time. The cold path is a jump with t0 as link
 * register, which the architecture keeps for that, so ra stays as it is and LLVM need not know.
 * Symbols are loaded from the global offset table: the linkage table's code changes t0 to t3.
 */
#define CHANGED "~{t0},~{t1},~{t2},~{memory}"
#define HARDWARE "rdtime #B\n\t"
#define NAME(to) "lla " to ", #N+#K\n\t"
#define NAME_REGISTER(to) "addi " to ", #N, #K\n\t"
#define CALL(symbol) \
	"8:\tauipc t2, %got_pcrel_hi(" symbol ")\n\tld t2, %pcrel_lo(8b)(t2)\n\tjalr t0, t2\n"
#define ON "li #P, 1\n\tlbu t2, #O\n\tbeqz t2, 2f\n\t"
#define GATE "lbu t2, #G\n\tbeqz t2, 6f\n\t"
#define BETWEEN                                                                  \
	"#T7:\tld t0, 24(t1)\n\tld #P, 0(t1)\n\tld t2, 24(t1)\n\tbne t0, t2, 7b" \
	"\n\tadd #P, #P, t0\n\taddi #P, #P, -4\n"
/*
 * One instruction counts, so that no signal handler's calls in between are lost. It wants an
 * address without offset.
 */
#define COUNT(zero, take)                                                                          \
	zero "lbu t2, #G\n\tbeqz t2, 2f\n\tmv t1, #C\n\tbnez t1, 3f\n\tlla t1, #D\n" CALL(         \
	    TEEPERF_SYMBOL_COUNT) "\tbeqz t1, 2f\n3:\tli t0, #I\n\tadd t1, t1, t0\n\tli t2, 1\n\t" \
				  "amoadd.d t2, t2, (t1)\n\t" take "\n2:"

static const char *take_registers(
    struct tp_text *text, struct tp_text_names *names, const struct tp_text_request *request)
{
	if (request->shape == TP_SHAPE_CALL)
		return CHANGED ",~{t3},~{t4},~{t5}";
	if (request->kind != TEEPERF_KIND_UNTIMED) {
		tp_text_name(names, 'B', "$%u", text->output_count);
		tp_text_take(text);
	}
	return CHANGED;
}

const struct tp_text_machine tp_text_riscv64 = {
    .prefix = "riscv64",
    .symbol = "S",
    .changed = CHANGED,
    .take_registers = take_registers,
    .thread = {"la.tls.ie t1, " TEEPERF_SYMBOL_THREAD "\n\tadd t1, t1, tp\n\t",
	"9:\tauipc t1, %got_pcrel_hi(" TEEPERF_SYMBOL_ONLY_THREAD
	")\n\tld t1, %pcrel_lo(9b)(t1)\n\t"},
    .on = ON,
    .sampled = "beqz #S, 6f\n\t",
    .gate = {GATE, GATE},
    .call = {NAME("t1") CALL("#R"), NAME_REGISTER("t1") CALL("#R")},
    .choose = {"addi t2, t2, -1\n\tbnez t2, 3f\n\t"},
    .soft = "ld t2, 8(t1)\n\tld #B, 0(t2)\n\t",
    .hardware = HARDWARE,
    .high = {"lwu t2, 16(t1)\n\tsrli t0, #B, 32\n\tbne t0, t2, 1f\n\t",
	"lw t2, 16(t1)\n\taddi t2, t2, 1\n\tbeqz t2, 1f\n\t"},
    .cursor = "ld t0, 0(t1)\n\t",
    // Read before the cursor is stored: so it is of the same chunk, if the place was free.
    .bias = "ld #P, 24(t1)\n\t",
    // As in x86_64.c: the cursor is in the thread's chunk, which is not full, and the place is
    // free.
    .bump = "ld t2, 32(t1)\n\tbgeu t0, t2, 1f\n\tld t2, 40(t1)\n\tbltu t0, t2, 1f\n\t"
	    "addi t2, t0, 8\n\tsd t2, 0(t1)\n\tld t1, 0(t0)\n\tbnez t1, 1f\n\t",
    .place = "add #P, #P, t0\n\t",
    .take_name = {NAME("t2"), NAME_REGISTER("t2")},
    .store = {"slli t2, t2, 32\n\tslli #B, #B, 32\n\tsrli #B, #B, 32\n\tor t2, t2, #B\n\t"
	      "sd t2, 0(t0)\n\t",
	"slli t2, t2, 32\n\tsd t2, 0(t0)\n\t"},
    .done = "j 2f\n",
    .chosen_hardware = {"3:\t" HARDWARE "j 4b\n"},
    .cold = {"1:\t" NAME("t1") CALL(TEEPERF_SYMBOL_SLOW),
	"1:\t" NAME_REGISTER("t1") CALL(TEEPERF_SYMBOL_SLOW)},
    .end = {"6:\n2:", "\tmv #P, t1\n\tj 2f\n6:\t" BETWEEN "2:"},
    .between = ON BETWEEN "2:",
    .count = {COUNT("", ""), COUNT("li #P, 0\n\t", "addi #P, t2, 1")},
};
