// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What recording has cost comes off the times: the same whatever the stack did, never more than
// there is, and so that the parts make up the whole. The costs of a trace are believed if they can
// be true.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/analysis.h"
#include "analyzer/trace/text/dump_text.h"
#include "common/chunks/event_cost.h"

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_err err;

static void analyse_as(const char *text, struct tp_analysis_options options)
{
	options.workers = 1;
	tp_buf_init(&file);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
}

static void analyse(const char *text, bool compensate)
{
	analyse_as(text, (struct tp_analysis_options){.compensate = compensate});
}

static void end(void)
{
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static uint32_t random_below(uint32_t *state, uint32_t limit)
{
	*state = *state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(*state >> 8) * limit >> 24);
}

// Calls and returns as they come, some without a time, some never; two threads.
static void random_text(struct tp_buf *text, uint32_t seed)
{
	static const char *const names[] = {"0x1000", "0x2000", "0x3000", "0x4000", "0x5000"};
	uint32_t state = seed;
	tp_buf_addf(text,
	    "clock kind=tsc hz=%u\nhost\n\tline \"cost_in_ps=%u\"\n"
	    "\tline \"cost_out_ps=%u\"\n\tline \"cost_untimed_ps=%u\"\n",
	    1000000 * (1 + random_below(&state, 5000)), random_below(&state, 40000),
	    random_below(&state, 40000), random_below(&state, 40000));
	for (int thread = 0; thread < 2; thread++) {
		uint32_t open[20];
		uint32_t depth = 0;
		uint64_t time = 1000;
		tp_buf_addf(text, "chunk thread=%d time=1000\n", thread);
		for (int i = 0; i < 300; i++) {
			time += random_below(&state, random_below(&state, 4) ? 60 : 3);
			const bool call = !depth || (depth < 20 && random_below(&state, 2));
			if (call) {
				open[depth++] = random_below(&state, 5);
				tp_buf_addf(text, "\t%llu enter %s\n", (unsigned long long)time,
				    names[open[depth - 1]]);
			} else if (random_below(&state, 5)) {
				depth--;
				tp_buf_addf(text, "\t%llu exit %s\n", (unsigned long long)time,
				    names[open[depth]]);
			} else {
				depth--;
				tp_buf_addf(text, "\texit %s\n", names[open[depth]]);
			}
		}
	}
	tp_buf_add_string(text, "end\n");
}

// The sums of one analysis that do not depend on what was taken off, and those that do.
struct sums {
	uint64_t self;
	uint64_t calls;
	uint64_t busy;
	uint64_t self_of[16];
	uint64_t max_of[16];
	uint32_t count;
};

static struct sums add_up(void)
{
	struct sums sums = {.self = analysis.self, .count = analysis.function_count};
	uint64_t functions = 0;
	for (uint32_t i = 0; i < analysis.function_count; i++) {
		const struct tp_function *function = &analysis.functions[i];
		functions += function->self;
		sums.calls += function->calls;
		sums.self_of[i] = function->self;
		sums.max_of[i] = function->max;
		assert_true(function->self <= function->inclusive);
		assert_true(function->min <= function->max);
		assert_true(function->inclusive <= function->total);
	}
	for (uint32_t i = 0; i < analysis.thread_count; i++) {
		const struct tp_profile *profile = &analysis.threads[i].profile;
		uint64_t roots = 0;
		for (uint32_t j = 1; j < profile->node_count; j++) {
			const struct tp_node *node = &profile->nodes[j];
			uint64_t parts = node->self;
			for (uint32_t k = profile->first_child[j]; k; k = profile->next_sibling[k])
				parts += profile->nodes[k].inclusive;
			assert_int_equal(node->inclusive, parts);
			roots += node->parent ? 0 : node->inclusive;
		}
		assert_int_equal(analysis.threads[i].busy, roots);
		sums.busy += roots;
	}
	assert_int_equal(functions, sums.self);
	assert_int_equal(sums.busy, sums.self);
	return sums;
}

static void parts_make_up_the_whole(void **state)
{
	(void)state;
	uint64_t taken = 0;
	uint64_t missing = 0;
	for (uint32_t seed = 1; seed <= 200; seed++) {
		struct tp_buf text;
		tp_buf_init(&text);
		random_text(&text, seed);
		analyse(text.data, false);
		assert_true(analysis.compensation.known && !analysis.compensation.applied);
		const struct sums raw = add_up();
		end();
		analyse(text.data, true);
		assert_true(analysis.compensation.applied);
		const struct sums net = add_up();
		taken += analysis.compensation.taken;
		missing += analysis.compensation.missing;
		assert_int_equal(raw.self - net.self, analysis.compensation.taken);
		assert_int_equal(raw.calls, net.calls);
		assert_int_equal(raw.count, net.count);
		for (uint32_t i = 0; i < raw.count; i++) {
			assert_true(net.self_of[i] <= raw.self_of[i]);
			assert_true(net.max_of[i] <= raw.max_of[i]);
		}
		end();
		tp_buf_release(&text);
	}
	// Both happened, or these traces show little.
	assert_true(taken && missing);
}

// Behind another one.
#define LEAST(least) "\"\n\tline \"cost_least_ps=" least
#define COSTS(in, out, untimed)                                                 \
	"clock kind=tsc hz=1000000000\nhost\n\tline \"cost_in_ps=" in           \
	"\"\n\tline \"cost_out_ps=" out "\"\n\tline \"cost_untimed_ps=" untimed \
	"\"\nsymbols\n\tsymbol 0x1000 f\nchunk\n\t100 enter 0x1000\n\t300 exit 0x1000\nend\n"

static void only_what_can_be_true(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool known;
		uint64_t problems;
		uint64_t self;
	} cases[] = {
	    {COSTS("10000", "0", "0"), true, 0, 190},
	    {COSTS("0", "0", "0"), true, 0, 200},
	    // No time is left, and that is said.
	    {COSTS("100000000", "100000000", "100000000" LEAST("100000000")), true, 1, 0},
	    {COSTS("100000001", "0", "0"), false, 1, 200},
	    {COSTS("18446744073709551626", "0", "0"), false, 1, 200},
	    {COSTS("1e3", "-1", "nan"), false, 3, 200},
	    {COSTS("", " 1", "0x10"), false, 3, 200},
	    // Without a rate nothing tells how many ticks that is.
	    {"clock kind=soft-count\nhost\n\tline \"cost_in_ps=10000\"\n\tline \"cost_out_ps=1\"\n"
	     "\tline \"cost_untimed_ps=1\"\nsymbols\n\tsymbol 0x1000 f\nchunk\n\t100 enter 0x1000\n"
	     "\t300 exit 0x1000\nend\n",
		false, 0, 200},
	    {"clock kind=tsc hz=1000000000\nhost\n\tline \"cost_in_ps=10000\"\n"
	     "symbols\n\tsymbol 0x1000 f\nchunk\n\t100 enter 0x1000\n\t300 exit 0x1000\nend\n",
		false, 0, 200},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		analyse(cases[i].text, true);
		if (analysis.compensation.known != cases[i].known ||
		    analysis.notes.count != cases[i].problems || analysis.self != cases[i].self)
			fail_msg("case %zu: known %d, %llu notes, self %llu", i,
			    analysis.compensation.known, (unsigned long long)analysis.notes.count,
			    (unsigned long long)analysis.self);
		assert_int_equal(analysis.compensation.applied, analysis.compensation.known);
		end();
	}
}

#define BOUNDS(kind, in, out)                                                               \
	"clock kind=" kind " hz=1000000000 period=2000\nhost\n\tline \"cost_in_ps=1000\"\n" \
	"\tline \"cost_out_ps=1000\"\n\tline \"cost_untimed_ps=1000\"\n"                    \
	"\tline \"cost_in_off_ps=" in "\"\n\tline \"cost_out_off_ps=" out "\"\n"
#define CALLS                                                                       \
	"symbols\n\tsymbol 0x1000 f\n\tsymbol 0x2000 g\n\tsymbol 0x3000 h\nchunk\n" \
	"\t1000 enter 0x1000\n\t2000 enter 0x2000\n\t3000 exit 0x2000\n"            \
	"\t4000 enter 0x2000\n\t5000 exit 0x2000\n\t6000 enter 0x3000\n"            \
	"\texit 0x3000\n\t9000 exit 0x1000\nend\n"

static uint64_t uncertainty_of(const char *name)
{
	for (uint32_t i = 0; i < analysis.function_count; i++)
		if (!strcmp(analysis.functions[i].symbol.name, name))
			return analysis.functions[i].uncertainty;
	return UINT64_MAX;
}

static uint64_t self_of(const char *name)
{
	for (uint32_t i = 0; i < analysis.function_count; i++)
		if (!strcmp(analysis.functions[i].symbol.name, name))
			return analysis.functions[i].self;
	return UINT64_MAX;
}

// f calls g twice, and h, of which all that recording costs lies in h.
static void uncertainty_follows_the_costs(void **state)
{
	(void)state;
	analyse(BOUNDS("tsc", "30000", "7000") CALLS, true);
	assert_int_equal(uncertainty_of("f"), 30 + 2 * 7);
	assert_int_equal(uncertainty_of("g"), 2 * 30);
	assert_int_equal(uncertainty_of("h"), 30 + 7);
	end();
	// A period of 2 us for each look at the clock, as steps of a random walk.
	analyse(BOUNDS("soft-tsc", "30000", "7000") CALLS, true);
	assert_int_equal(uncertainty_of("f"), 30 + 2 * 7 + 3464);
	assert_int_equal(uncertainty_of("g"), 2 * 30 + 2828);
	end();
	// Of f's own time, three stretches of half a period, half of a wait comes off for each
	// period; so much it may be off, too.
	analyse(BOUNDS("soft-tsc", "0", "0") "\tline \"cost_wait_ps=1000000\"\n" CALLS, true);
	assert_int_equal(self_of("f"), 2997 - 750);
	assert_int_equal(uncertainty_of("f"), 3464 + 750);
	end();
	// A hardware clock has no such waits, whatever a trace says.
	analyse(BOUNDS("tsc", "0", "0") "\tline \"cost_wait_ps=1000000\"\n" CALLS, true);
	assert_int_equal(self_of("f"), 2997);
	end();
	// But not more than one for each stretch.
	analyse(BOUNDS("soft-tsc", "0", "0") "\tline \"cost_wait_ps=1000000\"\n"
					     "symbols\n\tsymbol 0x1000 f\nchunk\n"
					     "\t1000 enter 0x1000\n\t99000 exit 0x1000\nend\n",
	    true);
	assert_int_equal(self_of("f"), 98000 - 1 - 500);
	assert_int_equal(uncertainty_of("f"), 2000 + 500);
	end();
	// As recorded, nothing was taken off that could have been too much.
	analyse(BOUNDS("tsc", "30000", "7000") CALLS, false);
	assert_int_equal(uncertainty_of("f"), UINT64_MAX);
	end();
	analyse(BOUNDS("tsc", "nan", "7000") CALLS, true);
	assert_int_equal(uncertainty_of("f"), UINT64_MAX);
	assert_true(analysis.compensation.applied);
	assert_int_equal(analysis.notes.count, 1);
	end();
}

static uint64_t inclusive_of(const char *name)
{
	for (uint32_t i = 0; i < analysis.function_count; i++)
		if (!strcmp(analysis.functions[i].symbol.name, name))
			return analysis.functions[i].inclusive;
	return UINT64_MAX;
}

// What was running when the recorder came calls a twice. Nothing was recorded of its own code, and
// the cost of recording a outside of it does not belong to it.
static void attached_has_no_cost(void **state)
{
	(void)state;
	static const char text[] =
	    "clock kind=tsc hz=1000000000\nswitches\n\ton 500\nhost\n\tline \"attached=12,10\"\n"
	    "\tline \"cost_in_ps=2000\"\n\tline \"cost_out_ps=7000\"\n"
	    "\tline \"cost_untimed_ps=0\"\nthreads\n\tthread tid=10\n"
	    "symbols\n\tsymbol 0x1000 a\n\tsymbol 0x2000 b\nchunk time=0 tid=10\n"
	    "\t600 enter 0x1000\n\t620 enter 0x2000\n\t640 exit 0x2000\n\t700 exit 0x1000\n"
	    "\t800 enter 0x1000\n\t900 exit 0x1000\n\tthread-end\nend start=0 end=1000\n";
	for (int compensate = 0; compensate < 2; compensate++) {
		const uint64_t taken = compensate ? 2 * 2 + 2 + 7 : 0;
		analyse(text, compensate);
		assert_int_equal(inclusive_of("a"), 200 - taken);
		assert_int_equal(inclusive_of("[attached]"), 200 - taken);
		assert_int_equal(analysis.compensation.taken, taken);
		// Nor is it said that so much could not be taken off.
		assert_int_equal(analysis.compensation.missing, 0);
		end();
	}
}

// A call whose exit has no time, as a leaf's, costs what such calls cost, and its caller nothing.
static void untimed_calls_cost_less(void **state)
{
	(void)state;
	analyse("clock kind=tsc hz=1000000000\nhost\n\tline \"cost_in_ps=10000\"\n"
		"\tline \"cost_out_ps=20000\"\n\tline \"cost_untimed_ps=7000\"\n" CALLS,
	    true);
	// Two calls of g cost 20 each outside of them, and f itself 10.
	assert_int_equal(self_of("f"), 3000 - 10 - 2 * 20);
	assert_int_equal(self_of("g"), 2000 - 2 * 10);
	assert_int_equal(self_of("h"), 3000 - 7);
	end();
}

#define WAITS                                                                            \
	"clock kind=soft-tsc hz=1000000000 period=1000\nhost\n\tline \"cost_in_ps=0\"\n" \
	"\tline \"cost_out_ps=0\"\n\tline \"cost_untimed_ps=0\"\n"                       \
	"\tline \"cost_in_off_ps=0\"\n\tline \"cost_out_off_ps=0\"\n"                    \
	"\tline \"cost_wait_ps=200000\"\n"

// A call that ends without a look has the time to the next one: its caller has no stretch behind
// it.
static void waits_are_for_looks(void **state)
{
	(void)state;
	analyse(WAITS "symbols\n\tsymbol 0x1000 f\n\tsymbol 0x3000 h\nchunk\n\t0 enter 0x1000\n"
		      "\t10000 enter 0x3000\n\texit 0x3000\n\t20000 enter 0x3000\n"
		      "\texit 0x3000\n\t30000 exit 0x1000\nend\n",
	    true);
	assert_int_equal(self_of("f"), 10000 - 100);
	assert_int_equal(self_of("h"), 20000 - 2 * 100);
	assert_int_equal(uncertainty_of("f"), 1000 + 100);
	assert_int_equal(uncertainty_of("h"), 1414 + 2 * 100);
	end();
}

// Many short stretches and one long one: each of the short ones has its share, the long one has one
// wait.
static void waits_are_for_each_stretch(void **state)
{
	(void)state;
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_addf(&text,
	    WAITS "symbols\n\tsymbol 0x1000 f\n\tsymbol 0x2000 g\nchunk\n\t0 enter 0x1000\n");
	for (int i = 0; i < 100; i++)
		tp_buf_addf(
		    &text, "\t%d enter 0x2000\n\t%d exit 0x2000\n", 10 + 20 * i, 20 + 20 * i);
	tp_buf_addf(&text, "\t1000000 exit 0x1000\nend\n");
	tp_buf_add_char(&text, '\0');
	analyse((const char *)text.data, true);
	assert_int_equal(self_of("f"), 1000000 - 1000 - 100 - 100);
	assert_int_equal(self_of("g"), 1000 - 100);
	end();
	tp_buf_release(&text);
}

// Calls that are too short to be seen are part of their caller, and so are their looks; what was
// taken off is the same.
static void short_calls_bring_their_looks(void **state)
{
	(void)state;
	static const char text[] =
	    WAITS "symbols\n\tsymbol 0x1000 f\n\tsymbol 0x2000 g\nchunk\n\t0 enter 0x1000\n"
		  "\t1000 enter 0x2000\n\t2000 exit 0x2000\n\t3000 enter 0x2000\n"
		  "\t4000 exit 0x2000\n\t5000 exit 0x1000\nend\n";
	analyse(text, true);
	assert_int_equal(self_of("f"), 3000 - 3 * 100);
	assert_int_equal(self_of("g"), 2000 - 2 * 100);
	end();
	analyse_as(text, (struct tp_analysis_options){.compensate = true, .least_ns = 1500});
	assert_int_equal(self_of("f"), 5000 - 5 * 100);
	assert_int_equal(uncertainty_of("f"), UINT64_MAX);
	end();
	// Other functions that are left out or part of their callers have costs that are not
	// separate any more.
	analyse_as(text, (struct tp_analysis_options){.compensate = true, .depth = 1});
	assert_int_equal(self_of("f"), 5000 - 5 * 100);
	assert_int_equal(uncertainty_of("f"), UINT64_MAX);
	end();
}

// COSTS are lines of a host; a thousand calls of 20 ns, and whether times are as recorded.
static bool is_raw(const char *clock, const char *costs, bool *far)
{
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_addf(&text,
	    "clock kind=%s hz=1000000000\nhost\n\tline \"cost_untimed_ps=1000\"\n%s\"\nchunk\n",
	    clock, costs);
	for (unsigned i = 0; i < 1000; i++)
		tp_buf_addf(
		    &text, "\t%u enter 0x1000\n\t%u exit 0x1000\n", 100 + i * 30, 120 + i * 30);
	tp_buf_add_string(&text, "end start=0 end=100000\n");
	assert_false(text.failed);
	tp_buf_add_char(&text, '\0');
	analyse(text.data, true);
	const bool raw = !analysis.compensation.applied;
	assert_int_equal(analysis.functions[0].self, raw ? 20000 : 0);
	assert_int_equal(analysis.compensation.absurd, raw);
	*far = tp_compensation_is_far(&analysis.compensation, &analysis.time);
	end();
	tp_buf_release(&text);
	return raw;
}

#define PAIR(in, out) "\tline \"cost_in_ps=" in "\"\n\tline \"cost_out_ps=" out

// A cost that no call has takes nothing off; one that these calls cannot have is said to be wrong.
static void no_call_costs_so_much(void **state)
{
	(void)state;
	bool far;
	assert_true(is_raw("tsc", PAIR("1787000", "1777000"), &far));
	assert_false(far);
	assert_true(is_raw("tsc", PAIR("400000", "1000"), &far));
	assert_false(is_raw("tsc", PAIR("399000", "1000"), &far));
	// 379 ns are missing in each of 1000 calls: it would be reported from 1 ms on.
	assert_false(far);
	// The shortest call shows whether a look at the clock traps.
	assert_false(is_raw("tsc", PAIR("1787000", "1777000") LEAST("3000000"), &far));
	assert_true(far);
	assert_true(is_raw("tsc", PAIR("183000", "183000") LEAST("21000"), &far));
	assert_true(is_raw("soft-tsc", PAIR("183000", "183000") LEAST("21000"), &far));
	// Without it the waits of a soft clock are not known.
	assert_false(is_raw("soft-tsc", PAIR("400000", "400000"), &far));
}

// The measured cost is a time, which no test can predict; but its parts are predictable.
static void a_cost_has_parts(void **state)
{
	(void)state;
	struct tp_event_cost cost;
	const volatile uint64_t stopped = 7;
	assert_false(tp_event_cost_measure(&cost, TEEPERF_CLOCK_NONE, NULL));
	assert_false(tp_event_cost_measure(&cost, TEEPERF_CLOCK_SOFT_TSC, NULL));
	if (tp_event_cost_measure(&cost, TEEPERF_CLOCK_SOFT_TSC, &stopped))
		assert_true(cost.in_ns > 0 && cost.in_ns == cost.out_ns);
#if defined(__x86_64__)
	assert_false(tp_event_cost_measure(&cost, TEEPERF_CLOCK_CNTVCT, NULL));
	assert_true(
	    tp_event_cost_measure(&cost, TEEPERF_CLOCK_TSC_ORDERED, NULL) || cost.in_ns == 0);
	const bool measured = tp_event_cost_measure(&cost, TEEPERF_CLOCK_TSC, NULL);
#elif defined(__aarch64__)
	const bool measured = tp_event_cost_measure(&cost, TEEPERF_CLOCK_CNTVCT, NULL);
#elif defined(__riscv)
	const bool measured = tp_event_cost_measure(&cost, TEEPERF_CLOCK_RDTIME, NULL);
#else
	const bool measured = false;
#endif
	if (measured) {
		assert_true(cost.in_ns >= 0);
		assert_true(cost.out_ns >= 0);
		assert_true(cost.in_ns + cost.out_ns > 0);
		assert_true(cost.untimed_ns >= 0);
		assert_true(cost.least_ns > 0);
		assert_true(cost.in_off_ns >= cost.in_ns / 10 && cost.in_off_ns < 1e6);
		assert_true(cost.out_off_ns >= cost.out_ns / 10 && cost.out_off_ns < 1e6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parts_make_up_the_whole),
	    cmocka_unit_test(only_what_can_be_true),
	    cmocka_unit_test(uncertainty_follows_the_costs),
	    cmocka_unit_test(attached_has_no_cost),
	    cmocka_unit_test(untimed_calls_cost_less),
	    cmocka_unit_test(waits_are_for_looks),
	    cmocka_unit_test(waits_are_for_each_stretch),
	    cmocka_unit_test(short_calls_bring_their_looks),
	    cmocka_unit_test(no_call_costs_so_much),
	    cmocka_unit_test(a_cost_has_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
