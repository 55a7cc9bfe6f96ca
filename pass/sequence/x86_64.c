// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as inline assembly for x86-64.
#include "text.h"

/*
 * r10 holds the name, r11 the thread block, A the cursor, B the time. A call in the cold path
 * leaves the fast path as it is, for LLVM sees none of it; all that it takes is that nobody uses
 * the red zone. (A jump with an alternate link register spares that and costs 7 bytes a record.)
 */
#define CHANGED "~{r10},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"
#define GATE(value, jump) "cmpb $$" value ", #G(%rip)\n\t" jump " 6f\n\t"
#define NAME "leal #N+#K(%rip), %r10d\n\t"
// leal takes the low half of an address, whichever way that is given.
#define NAME_REGISTER "leal #K(#N), %r10d\n\t"
#define CALL(symbol) "callq *" symbol "@GOTPCREL(%rip)\n\t"
#define COLD(symbol) "#L" CALL(symbol) "#l"
#define ON "movl $$1, ${0:k}\n\tcmpb $$0, #O(%rip)\n\tje 2f\n\t"
// A signal handler may change chunks between the two loads.
#define BETWEEN                                                           \
	"#T7:\tmovq #F24(%r11), %r10\n\tmovq #F(%r11), #P\n\tcmpq %r10, " \
	"#F24(%r11)\n\tjne 7b\n\tleaq -4(#P,%r10), #P\n\t"
#define COUNT(zero, take, take_cold)                                                          \
	zero "cmpb $$0, #G(%rip)\n\tje 2f\n\ttestq #C, #C\n\tje 1f\n\tincq #I(#C)\n\t" take   \
	     "jmp 2f\n1:\tleaq #D(%rip), %r10\n\t" COLD(                                      \
		 TEEPERF_SYMBOL_COUNT) "testq %r10, %r10\n\tje 2f\n\tincq #I(%r10)" take_cold \
				       "\n2:"

#define HARDWARE "jnp 8f\n\tlfence\n8:\trdtsc\n\tjnp 4b\n\tlfence\n\tjmp 4b\n"

// rdtsc names its registers; without it the allocator knows which are free here.
static const char *take_registers(
    struct tp_text *text, struct tp_text_names *names, const struct tp_text_request *request)
{
	const bool untimed = request->kind == TEEPERF_KIND_UNTIMED;
	if (request->shape == TP_SHAPE_CALL ||
	    (!untimed && request->clock != TEEPERF_COMPILED_SOFT)) {
		names->of['A'] = "%rdx";
		names->of['a'] = "%edx";
		names->of['B'] = "%rax";
		names->of['b'] = "%eax";
		return "~{rax},~{rdx}," CHANGED;
	}
	tp_text_name(names, 'A', "${%u:q}", text->output_count);
	tp_text_name(names, 'a', "${%u:k}", text->output_count);
	tp_text_take(text);
	if (!untimed) {
		tp_text_name(names, 'B', "${%u:q}", text->output_count);
		tp_text_name(names, 'b', "${%u:k}", text->output_count);
		tp_text_take(text);
	}
	return CHANGED;
}

const struct tp_text_machine tp_text_x86_64 = {
    .prefix = "x86_64",
    .needs_no_red_zone = true,
    .has_modifiers = true,
    .symbol = "i",
    .changed = CHANGED,
    .take_registers = take_registers,
    .thread = {"movq " TEEPERF_SYMBOL_THREAD "@gottpoff(%rip), %r11\n\t",
	"movq " TEEPERF_SYMBOL_ONLY_THREAD "@GOTPCREL(%rip), %r11\n\t",
	"movq " TEEPERF_SYMBOL_THREAD_APART
	"@gottpoff(%rip), %r11\n\tmovq %fs:0, %r10\n\tmovq (%r11,%r10), %r11\n\t"},
    .segment = "%fs:",
    .lower = "leaq -128(%rsp), %rsp\n\t",
    .raise = "leaq 128(%rsp), %rsp\n\t",
    .on = ON,
    .sampled = "testq #S, #S\n\tje 6f\n\t",
    .gate = {GATE("0", "je"), GATE("1", "jb"), "cmpb $$1, #G(%rip)\n\t"},
    .call = {NAME CALL("#R"), NAME_REGISTER CALL("#R")},
    .begin = {NAME, NAME_REGISTER},
    .choose = {"ja 3f\n\t", "jne 3f\n\t"},
    // The low half first: if the upper half then still agrees, the low half belongs to it.
    .soft = "movq #F8(%r11), #A\n\tmovl (#A), #b\n\tmovl 4(#A), #a\n\t",
    .hardware = "rdtsc\n\t",
    .high = {"cmpl #a, #F16(%r11)\n\tjne 1f\n\t", "cmpl $$-1, #F16(%r11)\n\tje 1f\n\t"},
    /*
     * Two looks say that there is a chunk, that it is not full, and that the cursor is in it,
     * whichever chunk a signal handler may have gone on in since it was loaded. Nothing has been
     * stored before. The end comes first: that of a full chunk may lie before the end of one that a
     * handler takes between the two looks.
     */
    .cursor = "movq #F(%r11), #A\n\taddq $$8, #A\n\tcmpq #A, #F32(%r11)\n\tjb 1f\n\t"
	      "cmpq #A, #F40(%r11)\n\tjae 1f\n\t",
    // Read before the cursor is stored: so it is of the same chunk, if the place was free.
    .bias = "movq #F24(%r11), #P\n\t",
    /*
     * A signal handler that comes between load and store of the cursor writes from the same place
     * on, and the store then takes the cursor back. So the word there must be 0; the cold path
     * finds the way again. (One xadd instead costs 1.8 ns more a call with the counter word.)
     */
    .bump = "movq #A, #F(%r11)\n\tcmpq $$0, -8(#A)\n\tjne 1f\n\t",
    .place = "leaq -8(#A,#P), #P\n\t",
    .store = {"shlq $$32, %r10\n\torq %r10, #B\n\tmovq #B, -8(#A)\n\t",
	"shlq $$32, %r10\n\tmovq %r10, -8(#A)\n\t"},
    // The log streams through memory: fetch the next lines early, for writing. Without this a log
    // larger than the second-level cache costs 1 ns more a call. (movnti instead makes the next
    // locked instruction wait for memory.) Behind a chunk's end it touches foreign memory, but
    // changes nothing.
    .ahead = "prefetchw 1024(#A)\n\t",
    .done = "jmp 2f\n",
    // The flags are still those of the gate. rdtsc waits for nothing, and nothing for it, but where
    // the gate is TEEPERF_GATE_ORDERED.
    .chosen_hardware = {"3:\t" HARDWARE, "3:\tjb 6f\n\t" HARDWARE},
    .cold = {"1:\t" COLD(TEEPERF_SYMBOL_SLOW), "1:\t" COLD(TEEPERF_SYMBOL_SLOW)},
    .end = {"\n6:\n2:", "movq %r10, #P\n\tjmp 2f\n6:\t" BETWEEN "\n2:"},
    .between = ON BETWEEN "\n2:",
    .count = {COUNT("", "", ""),
	COUNT("xorl ${0:k}, ${0:k}\n\t", "movq #I(#C), #P\n\t", "\n\tmovq #I(%r10), #P")},
};
