// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The differences between two lists, and the cost of a list.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "list_fixture.h"
#include "allowlists/check/use.h"

static const struct tp_cost cost = {.event_ns = 10, .count_ns = 1};

static void add_calls(
    struct tp_workload *workload, const char *name, uint64_t calls, double self_ns)
{
	const uint32_t at = tp_workload_add(workload, name);
	assert_int_not_equal(at, UINT32_MAX);
	workload->functions[at].calls = calls;
	workload->functions[at].self_ns = workload->functions[at].sure_ns = self_ns;
}

static void make_workload(struct tp_workload *workload, const struct tp_inventory *inventory)
{
	tp_workload_init(workload);
	add_calls(workload, "parse", 100, 5000);
	add_calls(workload, "parse_line", 1000, 3000);
	add_calls(workload, "_Z3runv", 64, 2000);
	workload->time_ns = 10000;
	assert_int_equal(tp_workload_add_inventory(workload, inventory, NULL), 0);
}

static void costs(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tp_workload workload;
	struct tp_list_cost sum;
	fixture_init(
	    &fixture, FIXTURE_PROGRAM, "fun:parse\nfun:parse_line=count\nname:run=sample/64\n");
	make_workload(&workload, &fixture.inventory);
	tp_list_cost(&sum, &fixture.use, &workload, &cost);
	assert_int_equal(sum.calls, 1164);
	assert_int_equal(sum.counted, 1000);
	assert_true(sum.events == 101);
	assert_true(sum.log_bytes == 101 * TP_COST_PAIR_BYTES);
	assert_true(sum.overhead_ns ==
		    100 * 10 + 1000 * 1 + 64 * tp_cost_call_ns(&cost, TP_CATEGORY_SAMPLE, 64));
	assert_true(sum.named_ns == 5000 && sum.sampled_ns == 2000 && sum.all_ns == 10000);
	assert_true(sum.time_ns == 10000);
	tp_workload_release(&workload);
	fixture_release(&fixture);
}

/* The differences as "+parse 100 1000.0, ...": kind, function, calls, nanoseconds. */
static void check(const char *a, const char *b, const char *wanted)
{
	struct fixture from;
	struct fixture to;
	struct tp_list_use use;
	struct tp_workload workload;
	struct tp_list_diff diff;
	struct tp_buf text;
	fixture_init(&from, FIXTURE_PROGRAM, a);
	fixture_init(&to, "", b);
	make_workload(&workload, &from.inventory);
	assert_int_equal(tp_list_use_init(&use, to.list, &from.inventory, NULL), 0);
	assert_int_equal(tp_list_diff_init(&diff, &from.use, &use, &workload, &cost, NULL), 0);
	tp_buf_init(&text);
	uint32_t counts[TP_CHANGE_KIND_COUNT + 1] = {0};
	for (uint32_t i = 0; i < diff.count; i++) {
		const struct tp_change *change = &diff.changes[i];
		tp_buf_addf(&text, "%s%c%s %u %.0f", i ? ", " : "",
		    change->effective ? "+-~"[change->kind] : '?',
		    from.inventory.functions[change->function].name, (unsigned)change->calls,
		    change->delta_ns);
		counts[change->effective ? change->kind : TP_CHANGE_KIND_COUNT]++;
	}
	assert_memory_equal(counts, diff.effective, sizeof(diff.effective));
	assert_int_equal(counts[TP_CHANGE_KIND_COUNT], diff.without_effect);
	if (strcmp(text.data, wanted) != 0)
		fail_msg("from\n%sto\n%sit says '%s', not '%s'", a, b, text.data, wanted);
	tp_buf_release(&text);
	tp_list_diff_release(&diff);
	tp_list_use_release(&use);
	tp_workload_release(&workload);
	fixture_release(&to);
	fixture_release(&from);
}

static void differences(void **state)
{
	(void)state;
	check("fun:parse\n", "src:*\nsrc:*=skip\nname:parse\n", "");
	check("fun:parse\n", "fun:parse_line\n", "+parse_line 1000 10000, -parse 100 -1000");
	check("fun:parse\n", "fun:parse=count\nfun:unused\nfun:digit\n",
	    "~parse 100 -900, ?digit 0 0, ?unused 0 0");
	check("fun:parse=sample/16\n", "fun:parse=sample/16\nfun:digit=force\n", "+digit 0 0");
	check("fun:_Z3runv=sample/16\n", "fun:_Z3runv=sample/64\n", "~_Z3runv 64 -30");
	check("fun:parse=skip\n", "fun:parse=forbid\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(costs),
	    cmocka_unit_test(differences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
