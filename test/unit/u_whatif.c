// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a run takes with other pieces: by hand, and random runs against a simulation without
// heaps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trace/text/dump_text.h"
#include "analyzer/whatif/run.h"

enum { THREADS = 5, PIECES = 40 };

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

struct made {
	struct tp_run run;
	struct tp_analysis analysis; // one tick is a nanosecond
	struct tp_run_thread threads[THREADS];
	struct tp_piece pieces[THREADS][PIECES];
};

static void begin(struct made *made, uint32_t threads, uint32_t processors)
{
	memset(made, 0, sizeof(*made));
	made->analysis.time = (struct tp_timebase){.ns = 1, .ticks = 1, .known = true};
	made->run.analysis = &made->analysis;
	made->run.threads = made->threads;
	made->run.thread_count = threads;
	made->run.processors = processors;
	for (uint32_t i = 0; i < threads; i++)
		made->threads[i].pieces = made->pieces[i];
}

static void add(struct made *made, uint32_t thread, enum tp_piece_kind kind, uint64_t ticks)
{
	struct tp_run_thread *to = &made->threads[thread];
	const uint64_t from = to->count ? to->pieces[to->count - 1].to : 0;
	assert_true(to->count < PIECES);
	to->pieces[to->count++] = (struct tp_piece){
	    .from = from, .to = from + ticks, .length = (double)ticks, .kind = kind};
}

static void wait_for(
    struct made *made, uint32_t thread, uint32_t other, uint64_t piece, uint64_t latency)
{
	add(made, thread, TP_PIECE_WAIT, latency);
	made->pieces[thread][made->threads[thread].count - 1].thread = other;
	made->pieces[thread][made->threads[thread].count - 1].piece = piece;
}

static void number(struct made *made)
{
	made->run.piece_count = 0;
	for (uint32_t i = 0; i < made->run.thread_count; i++) {
		made->threads[i].first = made->run.piece_count;
		made->run.piece_count += made->threads[i].count;
	}
}

static double simulate(struct made *made, const double *in, double part)
{
	double ticks = -1;
	number(made);
	assert_int_equal(tp_run_simulate(&made->run, in, part, &ticks), 0);
	return ticks;
}

#define assert_near(a, b) assert_true((a) - (b) < 1e-6 && (b) - (a) < 1e-6)

static void test_processors_are_shared(void **state)
{
	(void)state;
	struct made made;
	begin(&made, 3, 2);
	for (uint32_t i = 0; i < 3; i++)
		add(&made, i, TP_PIECE_RUN, 300);
	assert_near(simulate(&made, NULL, 0), 450);
	made.run.processors = 3;
	assert_near(simulate(&made, NULL, 0), 300);
	// Two of them are short: 3 at the rate 2/3 until 150, then the last one alone.
	made.pieces[0][0].length = made.pieces[1][0].length = 100;
	made.run.processors = 2;
	assert_near(simulate(&made, NULL, 0), 350);
}

static void test_waits(void **state)
{
	(void)state;
	struct made made;
	double in[8] = {0};
	begin(&made, 2, 2);
	// 100, then until the other one has run 500, which takes 10 to notice, then 100.
	add(&made, 0, TP_PIECE_RUN, 100);
	wait_for(&made, 0, 1, 1, 10);
	add(&made, 0, TP_PIECE_RUN, 100);
	add(&made, 1, TP_PIECE_RUN, 200);
	add(&made, 1, TP_PIECE_RUN, 300);
	add(&made, 1, TP_PIECE_STAND, 50);
	add(&made, 1, TP_PIECE_RUN, 1);
	assert_near(simulate(&made, NULL, 0), 610);
	// Half of the other's second piece goes.
	in[made.threads[1].first + 1] = 300;
	assert_near(simulate(&made, in, 0.5), 460);
	// All of it, and of its first: no wait at all, and nothing to notice.
	in[made.threads[1].first] = 200;
	assert_near(simulate(&made, in, 1), 200);
	// Slower.
	assert_near(simulate(&made, in, -1), 1110);
	// What waits is not made faster.
	in[1] = 10;
	assert_near(simulate(&made, in, 0), 610);
}

// The part that others took of the processor shrinks with the time around it: of pieces that
// together ran for 20 ms, and of no others.
static void test_preempted(void **state)
{
	(void)state;
	enum { MS = 1000000 };
	struct made made;
	double in[8] = {20 * MS, 0, 20 * MS};
	begin(&made, 1, 1);
	for (uint32_t i = 0; i < 3; i++) {
		add(&made, 0, TP_PIECE_RUN, 20 * MS);
		made.pieces[0][i].length = 30 * MS;
	}
	assert_near(simulate(&made, NULL, 0), 90 * MS);
	assert_near(simulate(&made, in, 0.5), (15 + 30 + 15) * MS);
	// Four short ones are one such window: an eighth of it goes.
	begin(&made, 1, 1);
	for (uint32_t i = 0; i < 4; i++) {
		add(&made, 0, TP_PIECE_RUN, 5 * MS);
		made.pieces[0][i].length = 7 * MS;
	}
	in[0] = 5 * MS;
	in[2] = 0;
	assert_near(simulate(&made, in, 0.5), (20 - 2.5 + 4 * 2 * 0.875) * MS);
}

// ---- in which pieces functions ran

// main calls f, which calls itself, and that g: f and all that it calls take 1000 to 5000, its own
// code 1000 to 2000, 4000 to 5000 and, of the inner one, 2000 to 3000. Two pieces: the thread was
// blocked from 2500 to 2600 by the trace's clock.
static const char recursive[] =
    "clock kind=tsc hz=1000000000\n\tpoint 0 5000\n\tpoint 100000 105000\n"
    "host\n\tline \"sched=perf\"\n\tline \"cores=2\"\n"
    "symbols\n\tsymbol 0x401000 main\n\tsymbol 0x401010 f\n\tsymbol 0x401020 g\n"
    "threads\n\tthread tid=100 chunks=1\n"
    "sched from=5000 lost=0\n\tswitch 7500 tid=100 kind=1\n\tswitch 7600 tid=100 kind=0\n"
    "system groups=1\n"
    "chunk tid=100\n\t500 enter main\n\t1000 enter f\n\t2000 enter f\n\t3000 enter g\n"
    "\t4000 exit g\n\t4000 exit f\n\t5000 exit f\n\t6000 exit main\n"
    "end chunks=1 chunk-draws=1 threads=1 start=5000 end=12500\n";

static struct tp_buf file;
static struct tp_tracefile trace;
static struct tp_analysis analysis;
static struct tp_run run;
static struct tp_err err;

static void open_run(const char *text, uint32_t processors)
{
	const struct tp_analysis_options options = {.workers = 1, .compensate = true};
	tp_buf_init(&file);
	if (tp_dump_assemble(text, strlen(text), "text", &file, &err))
		fail_msg("line %u: %s", err.line, err.what);
	assert_int_equal(tp_tracefile_from_memory(&trace, "trace", file.data, file.size, &err), 0);
	assert_int_equal(tp_analysis_init(&analysis, &trace, &options, &err), 0);
	if (tp_run_init(&run, &analysis, processors, &err))
		fail_msg("%s", err.what);
}

static void close_run(void)
{
	tp_run_release(&run);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	tp_buf_release(&file);
}

static void test_recursion_counts_once(void **state)
{
	(void)state;
	open_run(recursive, 0);
	uint32_t f = 0;
	while (f < analysis.function_count && strcmp(analysis.functions[f].symbol.name, "f") != 0)
		f++;
	assert_true(f < analysis.function_count);
	for (int callees = 0; callees < 2; callees++) {
		double in[16] = {0};
		double sum = 0;
		assert_true(run.piece_count <= 16);
		assert_int_equal(tp_run_shares(&run, &f, 1, callees, in, &err), 0);
		for (uint64_t i = 0; i < run.piece_count; i++)
			sum += in[i];
		assert_near(sum, callees ? 4000 - 100 : 3000 - 100);
	}
	close_run();
}

// A call costs 3 ns in itself and 4 in its caller. main calls f, in which the thread is blocked
// twice, and the second time another thread wakes it; g runs in a context of its own, is left in
// the middle, and costs more than it lasts when it is resumed. h is nothing but cost.
static const char costly[] =
    "clock kind=tsc hz=1000000000\n\tpoint 0 5000\n\tpoint 100000 105000\n"
    "host\n\tline \"sched=perf\"\n\tline \"cores=2\"\n\tline \"cost_in_ps=3000\"\n"
    "\tline \"cost_out_ps=4000\"\n\tline \"cost_untimed_ps=2000\"\n"
    "symbols\n\tsymbol 0x401000 main\n\tsymbol 0x401010 f\n\tsymbol 0x401020 g\n"
    "\tsymbol 0x401030 h\n\tsymbol 0x401040 next\n"
    "threads\n\tthread tid=100 chunks=1\n\tthread tid=101 chunks=1\n"
    "sched from=5000 lost=0\n\tswitch 5500 tid=100 kind=0\n\tswitch 6030 tid=100 kind=1\n"
    "\tswitch 6040 tid=100 kind=0\n\tswitch 6060 tid=100 kind=1\n"
    "\tswitch 6101 tid=100 kind=0\n\tswitch 5500 tid=101 kind=0\n"
    "system groups=1\n"
    "\tevent 1 start=900 duration=201 tid=100 pid=100 number=202 result=0 argument=0x6000 "
    "detail=0 waker=101 woken=6095\n"
    "chunk tid=100\n\t1000 enter main\n\t1010 enter f @f\n\t1020 enter h\n\t1023 exit h\n"
    "\t1110 exit f\n\t1120 enter next @next\n\t1125 leave next @next\n"
    "\t1130 enter g\n\t1150 enter next @yield\n\t1155 leave next @yield\n"
    "\t1160 resync next @next\n\t1165 exit next\n\t1170 enter next @again\n"
    "\t1172 leave next @again\n\t1175 resync next @yield\n\t1177 exit next\n\t1178 exit g\n"
    "\t1180 resync next @again\n\t1185 exit next\n\t1300 exit main\n"
    "chunk thread=1 tid=101\n\t1000 enter f\n\t1050 enter f\n\t1090 exit f\n"
    "\t1180 exit f\n"
    "end chunks=2 chunk-draws=2 threads=2 start=5000 end=12500\n";

static void test_costs_are_those_of_the_analysis(void **state)
{
	(void)state;
	open_run(costly, 0);
	assert_true(analysis.compensation.taken > 30);
	uint32_t functions[8];
	const uint32_t count = analysis.function_count;
	assert_int_equal(count, 5);
	for (uint32_t i = 0; i < count; i++)
		functions[i] = i;
	for (int callees = 0; callees < 2; callees++) {
		double in[8 * 16] = {0};
		assert_true(run.piece_count <= 16);
		assert_int_equal(tp_run_shares(&run, functions, count, callees, in, &err), 0);
		for (uint32_t i = 0; i < count; i++) {
			const struct tp_node_parts *parts = &analysis.functions[i].parts;
			double sum = 0;
			for (uint64_t j = 0; j < run.piece_count; j++)
				sum += in[i * run.piece_count + j];
			assert_near(
			    sum, (double)(callees ? parts->inclusive_cpu : parts->self_cpu));
		}
	}
	double costs = 0;
	for (uint32_t t = 0; t < run.thread_count; t++)
		for (uint64_t i = 0; i < run.threads[t].count; i++)
			costs += run.threads[t].pieces[i].cost;
	assert_near(costs, (double)analysis.compensation.taken);
	close_run();
}

// What recording took of the first thread's time, and of that until it wakes the other one, goes.
static void test_costs_go(void **state)
{
	(void)state;
	struct made made;
	double in[8] = {0};
	begin(&made, 2, 2);
	add(&made, 0, TP_PIECE_RUN, 300);
	add(&made, 0, TP_PIECE_RUN, 100);
	wait_for(&made, 1, 0, 0, 10);
	add(&made, 1, TP_PIECE_RUN, 200);
	assert_near(simulate(&made, NULL, 0), 510);
	made.pieces[0][0].cost = 50;
	made.pieces[1][1].cost = 20;
	assert_near(simulate(&made, NULL, 0), 440);
	in[0] = 100;
	assert_near(simulate(&made, in, 0.5), 390);
	// And the time in which all waited for good stays.
	made.run.idle = 1000;
	assert_near(simulate(&made, in, 0.5), 1390);
}

// ---- a run's pieces

#define RUN_HEAD                                                                      \
	"clock kind=tsc hz=1000000000\n\tpoint 0 5000\n\tpoint 100000000 100005000\n" \
	"host\n\tline \"sched=perf\"\nsymbols\n\tsymbol 0x401000 main\n"              \
	"threads\n\tthread tid=100 chunks=1\nsched from=5000 lost=0\n"
#define RUN_END                                                 \
	"chunk tid=100\n\t0 enter main\n\t10000000 exit main\n" \
	"end chunks=1 chunk-draws=1 threads=1 start=5000 end=10005000\n"

// Thread 100 waits twice: 101 wakes it at 1.5 ms and 102 at 2 ms, the last of which counts, and
// nobody near its second wait. The two others have no processor from 4 to 4.2 ms.
static const char woken_twice[] = RUN_HEAD
    "\tswitch 5000 tid=100 kind=0\n\tswitch 1005000 tid=100 kind=1\n"
    "\tswitch 2105000 tid=100 kind=0\n\tswitch 3005000 tid=100 kind=1\n"
    "\tswitch 3505000 tid=100 kind=0\n"
    "\tswitch 5000 tid=101 kind=0\n\tswitch 4005000 tid=101 kind=2\n"
    "\tswitch 4205000 tid=101 kind=0\n"
    "\tswitch 5000 tid=102 kind=0\n\tswitch 4005000 tid=102 kind=2\n"
    "\tswitch 4205000 tid=102 kind=0\n"
    "system groups=1\n"
    "\tevent 1 start=900000 duration=1300000 tid=100 pid=100 number=202 result=0 argument=0x6000 "
    "detail=0 waker=%s woken=%s\n"
    "\tevent 1 start=900000 duration=1300000 tid=100 pid=100 number=202 result=0 argument=0x6000 "
    "detail=0 waker=%s woken=%s\n"
    "\tevent 1 start=2700000 duration=900000 tid=100 pid=100 number=202 result=0 argument=0x6000 "
    "detail=0 waker=101 woken=2805000\n" RUN_END;

static void check_piece(uint32_t thread, uint64_t index, enum tp_piece_kind kind, uint64_t from,
    uint64_t to, double length)
{
	assert_true(index < run.threads[thread].count);
	const struct tp_piece *piece = &run.threads[thread].pieces[index];
	assert_int_equal(piece->kind, kind);
	assert_int_equal(piece->from, from);
	assert_int_equal(piece->to, to);
	assert_near(piece->length, length);
}

static void test_pieces(void **state)
{
	(void)state;
	// Whichever of the two wakes comes first.
	for (int turned = 0; turned < 2; turned++) {
		char text[3000];
		const char *first[] = {"101", "1505000"};
		const char *second[] = {"102", "2005000"};
		const char **one = turned ? second : first;
		const char **other = turned ? first : second;
		snprintf(text, sizeof(text), woken_twice, one[0], one[1], other[0], other[1]);
		open_run(text, 2);
		assert_int_equal(run.thread_count, 3);
		assert_int_equal(run.threads[0].count, 5);
		check_piece(0, 0, TP_PIECE_RUN, 0, 1000000, 1000000);
		check_piece(0, 1, TP_PIECE_WAIT, 1000000, 2100000, 0);
		assert_int_equal(run.threads[0].pieces[1].thread, 2);
		assert_int_equal(run.threads[0].pieces[1].piece, 0);
		check_piece(0, 3, TP_PIECE_STAND, 3000000, 3500000, 500000);
		// One processor of two is taken by others, and two threads lack half of it each.
		check_piece(1, 0, TP_PIECE_RUN, 0, 4000000, 4000000 + 100000);
		check_piece(2, 0, TP_PIECE_RUN, 0, 2000000, 2000000);
		check_piece(2, 1, TP_PIECE_RUN, 2000000, 4000000, 2000000 + 100000);
		close_run();
	}
}

// Where one thread begins when another one ends, they never run at once.
static void test_processors_that_were_used(void **state)
{
	(void)state;
	open_run(RUN_HEAD "\tswitch 3005000 tid=100 kind=0\n"
			  "\tswitch 5000 tid=101 kind=0\n\tswitch 3005000 tid=101 kind=1\n" RUN_END,
	    0);
	assert_int_equal(run.processors, 1);
	close_run();
	open_run(RUN_HEAD "\tswitch 3005000 tid=100 kind=0\n"
			  "\tswitch 5000 tid=101 kind=0\n\tswitch 3005001 tid=101 kind=1\n" RUN_END,
	    0);
	assert_int_equal(run.processors, 2);
	close_run();
}

// A deadlock: both threads wait when the recorder leaves. That lasts as long as it did, whatever is
// faster before.
static void test_deadlock(void **state)
{
	(void)state;
	open_run("clock kind=tsc hz=1000000000\n\tpoint 0 5000\n\tpoint 1000000 1005000\n"
		 "host\n\tline \"sched=perf\"\n\tline \"cores=2\"\n"
		 "symbols\n\tsymbol 0x401000 main\n\tsymbol 0x401010 lock\n"
		 "threads\n\tthread tid=100 ended=0\n\tthread tid=101 ended=0\n"
		 "sched from=5000 lost=0\n\tswitch 5500 tid=100 kind=0\n"
		 "\tswitch 8000 tid=100 kind=1\n\tswitch 6000 tid=101 kind=0\n"
		 "\tswitch 7000 tid=101 kind=1\nsystem groups=1\n"
		 "chunk tid=100\n\t1000 enter main\n\t2600 enter lock\n"
		 "chunk thread=1 tid=101\n\t1900 enter lock\n"
		 "end start=5000 end=95000 threads=2 exit-kind=0\n",
	    0);
	assert_int_equal(run.to, 90000);
	assert_int_equal(run.idle, 90000 - 3000);
	double ticks;
	assert_int_equal(tp_run_simulate(&run, NULL, 0, &ticks), 0);
	assert_near(ticks, 90000 - 1000);
	close_run();
}

// ---- the same without heaps and without a clock of work: what ends next, looked for among all

struct slow {
	const struct made *made;
	uint64_t at[THREADS];
	double left[THREADS];
	bool blocked[THREADS]; // in a wait that is not over
};

static bool is_over(const struct slow *slow, uint32_t i)
{
	return slow->at[i] == slow->made->threads[i].count;
}

static void arrive(struct slow *slow, uint32_t i)
{
	for (; !is_over(slow, i); slow->at[i]++) {
		const struct tp_piece *piece = &slow->made->pieces[i][slow->at[i]];
		slow->left[i] = piece->length;
		slow->blocked[i] =
		    piece->kind == TP_PIECE_WAIT && slow->at[piece->thread] <= piece->piece;
		if (piece->kind != TP_PIECE_WAIT || slow->blocked[i])
			return;
	}
}

static double simulate_slowly(const struct made *made)
{
	struct slow slow = {.made = made};
	double now = 0;
	double last = 0;
	for (uint32_t i = 0; i < made->run.thread_count; i++)
		arrive(&slow, i);
	for (;;) {
		uint32_t running = 0;
		uint32_t next = THREADS;
		double soonest = 0;
		for (uint32_t i = 0; i < made->run.thread_count; i++)
			running +=
			    !is_over(&slow, i) && made->pieces[i][slow.at[i]].kind == TP_PIECE_RUN;
		const double rate =
		    running > made->run.processors ? (double)made->run.processors / running : 1;
		double rates[THREADS];
		for (uint32_t i = 0; i < made->run.thread_count; i++) {
			rates[i] = 0;
			if (is_over(&slow, i) || slow.blocked[i])
				continue;
			rates[i] = made->pieces[i][slow.at[i]].kind == TP_PIECE_RUN ? rate : 1;
			if (next == THREADS || slow.left[i] / rates[i] < soonest) {
				next = i;
				soonest = slow.left[i] / rates[i];
			}
		}
		if (next == THREADS)
			return last;
		now += soonest;
		for (uint32_t i = 0; i < made->run.thread_count; i++)
			slow.left[i] -= rates[i] * soonest;
		if (made->pieces[next][slow.at[next]].kind == TP_PIECE_RUN)
			last = now;
		slow.at[next]++;
		for (uint32_t i = 0; i < made->run.thread_count; i++) {
			if (is_over(&slow, i) || !slow.blocked[i])
				continue;
			const struct tp_piece *piece = &made->pieces[i][slow.at[i]];
			slow.blocked[i] = slow.at[piece->thread] <= piece->piece;
			slow.left[i] = piece->length;
		}
		arrive(&slow, next);
	}
}

static void test_random_runs(void **state)
{
	(void)state;
	uint32_t waits = 0;
	for (uint32_t number_of_run = 1; number_of_run <= 2000; number_of_run++) {
		seed = number_of_run;
		struct made made;
		begin(&made, 1 + pick(THREADS), 1 + pick(3));
		for (uint32_t k = 0; k < PIECES - 1; k++)
			for (uint32_t i = 0; i < made.run.thread_count; i++) {
				const uint32_t other = pick(made.run.thread_count);
				// Of the pieces before, so that there are no circles.
				const uint64_t piece = k ? pick(k) : 0;
				const bool runs =
				    k && made.pieces[other][piece].kind == TP_PIECE_RUN;
				if (!pick(3) && other != i && runs) {
					wait_for(&made, i, other, piece, pick(20));
					waits++;
				} else {
					const uint32_t length = 1 + pick(1000);
					add(&made, i, pick(4) ? TP_PIECE_RUN : TP_PIECE_STAND,
					    length);
					// Fractions, so that no two things happen at once: whether
					// one has to wait would depend on how sums are rounded.
					made.pieces[i][made.threads[i].count - 1].length +=
					    (double)pick(1u << 20) / (1u << 20);
				}
			}
		for (uint32_t i = 0; i < made.run.thread_count; i++)
			add(&made, i, TP_PIECE_RUN, 1);
		const double ticks = simulate(&made, NULL, 0);
		const double slowly = simulate_slowly(&made);
		if (ticks - slowly > 1e-3 || slowly - ticks > 1e-3)
			fail_msg("run %u: %f, not %f", number_of_run, ticks, slowly);
	}
	assert_true(waits > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_processors_are_shared),
	    cmocka_unit_test(test_waits),
	    cmocka_unit_test(test_preempted),
	    cmocka_unit_test(test_recursion_counts_once),
	    cmocka_unit_test(test_costs_are_those_of_the_analysis),
	    cmocka_unit_test(test_costs_go),
	    cmocka_unit_test(test_pieces),
	    cmocka_unit_test(test_processors_that_were_used),
	    cmocka_unit_test(test_deadlock),
	    cmocka_unit_test(test_random_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
