// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly for riscv64.
#include "parts.h"

#include <stdio.h>

/*
 * t1 holds the thread block, t0 the cursor, B the time. The cold path is a jump with t0 as link register,
 * which the architecture keeps for that, so ra stays as it is and LLVM need not know. Symbols are loaded from
 * the global offset table: the linkage table's code changes t0 to t3.
 */
#define THREAD "la.tls.ie t1, " TEEPERF_SYMBOL_THREAD "\n\tadd t1, t1, tp\n\t"
#define ONLY_THREAD                                               \
	"9:\tauipc t1, %got_pcrel_hi(" TEEPERF_SYMBOL_ONLY_THREAD \
	")\n\tld t1, %pcrel_lo(9b)(t1)\n\t"
#define SOFT "ld t2, 8(t1)\n\tld #B, 0(t2)\n\t"
#define HARDWARE "rdtime #B\n\t"
#define HIGH "lwu t2, 16(t1)\n\tsrli t0, #B, 32\n\tbne t0, t2, 1f\n\t"
#define HIGH_UNTIMED "lw t2, 16(t1)\n\taddi t2, t2, 1\n\tbeqz t2, 1f\n\t"
#define CURSOR "ld t0, 0(t1)\n\tslli t2, t0, 48\n\tbeqz t2, 1f\n\t"
// Read before the cursor is stored: so it is of the same chunk, if the place was free.
#define BIAS "ld #P, 24(t1)\n\t"
// As in sequence_x86_64.c: the place must be in the thread's chunk still, and free.
#define BUMP                                                                    \
	"addi t2, t0, 8\n\tsd t2, 0(t1)\n\tld t1, 32(t1)\n\tsub t1, t1, t2\n\t" \
	"srli t1, t1, 16\n\tbnez t1, 1f\n\tld t1, 0(t0)\n\tbnez t1, 1f\n\t"
#define NAME(to) "lla " to ", #N+#K\n\t"
#define NAME_REGISTER(to) "addi " to ", #N, #K\n\t"
#define STORE                                                                           \
	"slli t2, t2, 32\n\tslli #B, #B, 32\n\tsrli #B, #B, 32\n\tor t2, t2, #B\n\tsd " \
	"t2, 0(t0)\n\t"
#define STORE_UNTIMED "slli t2, t2, 32\n\tsd t2, 0(t0)\n\t"
#define CALL(symbol) \
	"8:\tauipc t2, %got_pcrel_hi(" symbol ")\n\tld t2, %pcrel_lo(8b)(t2)\n\tjalr t0, t2\n"

#define ON "li #P, 1\n\tlbu t2, #O\n\tbeqz t2, 2f\n\t"
#define BETWEEN                                                                  \
	"#T7:\tld t0, 24(t1)\n\tld #P, 0(t1)\n\tld t2, 24(t1)\n\tbne t0, t2, 7b" \
	"\n\tadd #P, #P, t0\n\taddi #P, #P, -4\n"

static void end(struct tp_text *text, const struct tp_text_names *n, bool position)
{
	tp_text_append(text, n, position ? "\tmv #P, t1\n\tj 2f\n6:\t" BETWEEN "2:" : "6:\n2:");
}

static void write_call(
    struct tp_text *text, const struct tp_text_request *request, const struct tp_text_names *n)
{
	tp_text_constrain(text, "~{t3},~{t4},~{t5}");
	tp_text_append(text, n, request->name_in_register ? NAME_REGISTER("t1") : NAME("t1"));
	tp_text_append(text, n,
	    request->kind == TEEPERF_KIND_UNTIMED ? CALL(TEEPERF_SYMBOL_RECORD_UNTIMED)
	    : request->position                   ? CALL(TEEPERF_SYMBOL_RECORD_POSITION)
						  : CALL(TEEPERF_SYMBOL_RECORD));
	end(text, n, request->position);
}

static void write(struct tp_text *text, const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	const bool call = request->shape == TP_SHAPE_CALL;
	struct tp_text_names n = {.b32 = "", .thread = request->one_thread ? ONLY_THREAD : THREAD};
	tp_text_operands(text, &n, request, !call && !untimed);
	tp_text_constrain(text, "~{t0},~{t1},~{t2},~{memory}");

	if (request->position)
		tp_text_append(text, &n, ON);
	if (request->sampled)
		tp_text_append(text, &n, "beqz #S, 6f\n\t");
	tp_text_append(text, &n, "lbu t2, #G\n\tbeqz t2, 6f\n\t");
	if (call) {
		write_call(text, request, &n);
		return;
	}
	const bool is_auto = !untimed && request->clock == TEEPERF_COMPILED_AUTO;
	tp_text_append(text, &n, "#T");
	if (is_auto)
		tp_text_append(text, &n, "addi t2, t2, -1\n\tbnez t2, 3f\n\t" SOFT "4:\t" HIGH);
	else
		tp_text_append(text, &n,
		    untimed                                   ? HIGH_UNTIMED
		    : request->clock == TEEPERF_COMPILED_SOFT ? SOFT HIGH
							      : HARDWARE HIGH);
	tp_text_append(
	    text, &n, request->position ? CURSOR BIAS BUMP "add #P, #P, t0\n\t" : CURSOR BUMP);
	tp_text_append(text, &n, request->name_in_register ? NAME_REGISTER("t2") : NAME("t2"));
	tp_text_append(text, &n, untimed ? STORE_UNTIMED "j 2f\n" : STORE "j 2f\n");
	if (is_auto)
		tp_text_append(text, &n, "3:\t" HARDWARE "j 4b\n");
	tp_text_append(text, &n, "1:\t");
	tp_text_append(text, &n, request->name_in_register ? NAME_REGISTER("t1") : NAME("t1"));
	tp_text_append(text, &n, CALL(TEEPERF_SYMBOL_SLOW));
	end(text, &n, request->position);
}

static void write_between(struct tp_text *text, bool one_thread)
{
	struct tp_text_names n = {.position = "$0", .thread = one_thread ? ONLY_THREAD : THREAD};
	snprintf(n.on, sizeof(n.on), "$1+%u", TEEPERF_GATE_OFFSET);
	text->output_count = 1;
	tp_text_constrain(text, "=&r,S,~{t0},~{t1},~{t2},~{memory}");
	tp_text_append(text, &n, ON BETWEEN "2:");
}

/*
 * One instruction counts, so that no signal handler's calls in between are lost. It wants an address
 * without offset.
 */
static void write_count(struct tp_text *text, const struct tp_text_count *request)
{
	const unsigned first = request->wants_count; // number of the first input
	struct tp_text_names n = {.b32 = ""};
	if (request->wants_count) {
		tp_text_constrain(text, "=&r");
		text->output_count = 1;
	}
	tp_text_constrain(text, "r,S,S,~{t0},~{t1},~{t2},~{memory}");
	snprintf(text->assembly, sizeof(text->assembly),
	    "%slbu t2, $%u+%u\n\tbeqz t2, 2f\n\tmv t1, $%u\n\tbnez t1, 3f\n\tlla t1, $%u\n",
	    request->wants_count ? "li $0, 0\n\t" : "", first + 1, request->gate, first, first + 2);
	tp_text_append(text, &n, CALL(TEEPERF_SYMBOL_COUNT));
	char count[160];
	snprintf(count, sizeof(count),
	    "\tbeqz t1, 2f\n3:\tli t0, %u\n\tadd t1, t1, t0\n\tli t2, 1\n\t"
	    "amoadd.d t2, t2, (t1)\n\t%s\n2:",
	    request->offset, request->wants_count ? "addi $0, t2, 1" : "");
	tp_text_append(text, &n, count);
}

const struct tp_text_machine tp_text_riscv64 = {.prefix = "riscv64",
    .write = write,
    .write_between = write_between,
    .write_count = write_count};
