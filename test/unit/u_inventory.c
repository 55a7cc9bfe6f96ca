// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inventories: the contents of the text, the result of merging, and refused texts with their
// messages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allowlists/inventory/build.h"

#define HEAD "teeperf-inventory\t1\n"

static int read_bytes(
    struct tp_inventory *inventory, const void *bytes, size_t size, struct tp_err *err)
{
	struct tp_inventory_builder builder;
	tp_inventory_builder_init(&builder, inventory);
	int code = tp_inventory_add_memory(&builder, bytes, size, "test", err);
	if (!code)
		code = tp_inventory_merge(&builder, err);
	tp_inventory_builder_release(&builder);
	return code;
}

static struct tp_inventory read_text(const char *text)
{
	struct tp_inventory inventory;
	struct tp_err err = {0};
	const int code = read_bytes(&inventory, text, strlen(text), &err);
	if (code)
		print_message("%s\n", err.what);
	assert_int_equal(code, 0);
	return inventory;
}

static void refuse(const char *text, int code, uint32_t line, const char *what)
{
	struct tp_inventory inventory;
	struct tp_err err = {0};
	assert_int_equal(read_bytes(&inventory, text, strlen(text), &err), code);
	assert_int_equal(err.line, line);
	if (!strstr(err.what, what))
		fail_msg("'%s' is not in '%s'", what, err.what);
	tp_inventory_release(&inventory);
}

static void test_fields(void **state)
{
	(void)state;
	struct tp_inventory inventory = read_text(
	    HEAD "unit\tsrc/a.c\tcompiler=clang 19\tlevel=count\tlists=0f\tmodule=app\n"
		 "# a remark\n\nfuture\tsomething\n"
		 "file\tsrc/a.c\nfile\ta b\\tc\\\\.h\n"
		 "fun\t_ZN1A3putEi\texternal\temitted\tfile=#0\tline=12\tstart=96\tinstrs=81\t"
		 "blocks=14\tloops=2\tdepth=1\tcalls=3\tindirect=1\ttrips=1\tdid=sample/16\t"
		 "by=x:y.allow:3\tlater=7\n"
		 "call\t#1\tsites=2\tfreq=31.5\ncall\t#2\ncall\tunknown\n"
		 "fun\ttiny\tinternal\tinlined\tfile=#1\tline=4\tstart=11\tby=l:1\n"
		 "into\t#0\tsites=3\tguessed=1\n"
		 "ext\tstrtol\n");
	assert_int_equal(inventory.function_count, 2);
	assert_int_equal(inventory.unit_count, 1);
	const struct tp_inventory_unit *unit = &inventory.units[0];
	assert_string_equal(unit->main_file, "src/a.c");
	assert_string_equal(unit->compiler, "clang 19");
	assert_string_equal(unit->level, "count");
	assert_string_equal(unit->lists, "0f");
	assert_string_equal(unit->module, "app");
	const struct tp_inventory_function *put = tp_inventory_find(&inventory, "_ZN1A3putEi");
	const struct tp_inventory_function *tiny = tp_inventory_find(&inventory, "tiny");
	assert_non_null(put);
	assert_non_null(tiny);
	assert_null(tp_inventory_find(&inventory, "strtol"));
	assert_string_equal(put->demangled, "A::put(int)");
	assert_string_equal(put->linkage, "external");
	assert_string_equal(put->facts.linkage, "external");
	assert_string_equal(put->file, "src/a.c");
	assert_string_equal(put->main_file, "src/a.c");
	assert_string_equal(put->module, "app");
	assert_int_equal(put->line, 12);
	assert_int_equal(put->presence, TP_PRESENCE_EMITTED);
	assert_int_equal(put->definitions, 1);
	assert_false(put->ambiguous);
	assert_false(put->system);
	assert_int_equal(put->instrs_start, 96);
	assert_int_equal(put->facts.instrs, 81);
	assert_int_equal(put->facts.blocks, 14);
	assert_int_equal(put->facts.loops, 2);
	assert_int_equal(put->facts.depth, 1);
	assert_int_equal(put->facts.calls, 3);
	assert_int_equal(put->indirect_calls, 1);
	assert_int_equal(put->constant_trips, 1);
	assert_int_equal(put->decision, TP_CATEGORY_SAMPLE);
	assert_int_equal(put->sample, 16);
	assert_string_equal(put->by_file, "x:y.allow");
	assert_int_equal(put->by_line, 3);
	assert_int_equal(put->call_count, 1); // only callees in the inventory
	assert_ptr_equal(&inventory.functions[put->calls[0].function], tiny);
	assert_int_equal(put->calls[0].sites, 2);
	assert_true(put->calls[0].frequency > 31 && put->calls[0].frequency < 32);
	assert_int_equal(put->into_count, 0);
	assert_string_equal(tiny->file, "a b\tc\\.h");
	assert_string_equal(tiny->demangled, "tiny");
	assert_int_equal(tiny->presence, TP_PRESENCE_INLINED);
	assert_int_equal(tiny->decision, TP_CATEGORY_SKIP);
	assert_string_equal(tiny->by_file, "l");
	assert_int_equal(tiny->into_count, 1);
	assert_ptr_equal(&inventory.functions[tiny->into[0].function], put);
	assert_int_equal(tiny->into[0].sites, 3);
	assert_true(tiny->into[0].guessed);
	const struct tp_subject subject = tp_inventory_subject(put);
	assert_string_equal(subject.function, "_ZN1A3putEi");
	assert_string_equal(subject.demangled, "A::put(int)");
	assert_string_equal(subject.source, "src/a.c");
	assert_string_equal(subject.main_file, "src/a.c");
	assert_string_equal(subject.module, "app");
	assert_ptr_equal(subject.facts, &put->facts);
	assert_null(tp_inventory_subject(tiny).facts);
	tp_inventory_release(&inventory);
}

// What the linker merges is one function; copies that two files hold of it are not added up.
static void test_inline_functions(void **state)
{
	(void)state;
	struct tp_inventory inventory = read_text(
	    HEAD "unit\ta.cc\nfun\tf\tlinkonce_odr\tinlined\tstart=5\n"
		 "into\tg\tsites=2\ninto\tg\ninto\tmain\n"
		 "fun\tmain\texternal\temitted\ncall\tf\nfun\tg\tlinkonce_odr\temitted\n" HEAD
		 "unit\tb.cc\nfun\tf\tlinkonce_odr\temitted\tinstrs=7\tdid=allow\n"
		 "into\tg\tsites=2\ncall\th\nfun\tg\tlinkonce_odr\temitted\n"
		 "fun\th\tlinkonce_odr\tremoved\tby=l:9\n");
	assert_int_equal(inventory.function_count, 4);
	assert_int_equal(inventory.unit_count, 2);
	const struct tp_inventory_function *f = tp_inventory_find(&inventory, "f");
	assert_int_equal(f->presence, TP_PRESENCE_PARTLY);
	assert_int_equal(f->definitions, 2);
	assert_false(f->ambiguous);
	assert_int_equal(f->facts.instrs, 7);
	assert_int_equal(f->decision, TP_CATEGORY_ALLOW);
	assert_string_equal(f->main_file, "b.cc");
	assert_int_equal(f->into_count, 2);
	assert_string_equal(inventory.functions[f->into[0].function].name, "g");
	assert_int_equal(f->into[0].sites, 3);
	assert_string_equal(inventory.functions[f->into[1].function].name, "main");
	assert_int_equal(f->call_count, 1);
	const struct tp_inventory_function *h = tp_inventory_find(&inventory, "h");
	assert_int_equal(h->presence, TP_PRESENCE_REMOVED);
	assert_int_equal(h->by_line, 9);
	assert_int_equal(tp_inventory_find(&inventory, "main")->call_count, 1);
	tp_inventory_release(&inventory);
}

// Internal functions of different files are different ones, and so are those of two files that have
// the same name in different folders; a file that is read twice is one file.
static void test_internal_functions(void **state)
{
	(void)state;
#define UNIT_A                                                                                 \
	HEAD "unit\ta.c\nfun\tinit\tinternal\temitted\tinstrs=1\nfun\tma\texternal\temitted\n" \
	     "call\tinit\nfun\tonly\texternal\temitted\n"
	struct tp_inventory inventory =
	    read_text(UNIT_A HEAD "unit\tb.c\nfun\tmb\texternal\temitted\ncall\t#1\n"
				  "fun\tinit\tinternal\tinlined\n" UNIT_A HEAD
				  "unit\ta.c\nfun\tinit\tinternal\temitted\tinstrs=3\n");
	assert_int_equal(inventory.unit_count, 3);
	assert_int_equal(inventory.function_count, 6);
	const struct tp_inventory_function *init = tp_inventory_find(&inventory, "init");
	for (int i = 0; i < 3; i++) {
		assert_string_equal(init[i].name, "init");
		assert_true(init[i].ambiguous);
		assert_int_equal(init[i].definitions, 3);
	}
	assert_string_equal(init[0].main_file, "a.c");
	assert_string_equal(init[1].main_file, "a.c");
	assert_string_equal(init[2].main_file, "b.c");
	const struct tp_inventory_function *only = tp_inventory_find(&inventory, "only");
	assert_false(only->ambiguous);
	assert_int_equal(only->definitions, 1);
	const struct tp_inventory_function *mb = tp_inventory_find(&inventory, "mb");
	assert_int_equal(mb->call_count, 1);
	assert_ptr_equal(&inventory.functions[mb->calls[0].function], &init[2]);
	const struct tp_inventory_function *ma = tp_inventory_find(&inventory, "ma");
	assert_string_equal(inventory.functions[ma->calls[0].function].main_file, "a.c");
	tp_inventory_release(&inventory);
}

// A file that does not define a function may hold copies of it.
static void test_copies_elsewhere(void **state)
{
	(void)state;
	struct tp_inventory inventory =
	    read_text(HEAD "unit\ta.c\nfun\tf\texternal\temitted\nfun\tg\texternal\temitted\n" HEAD
			   "unit\tb.c\nfun\tmain\texternal\temitted\next\tf\ninto\t#0\tsites=2\n"
			   "ext\tg\next\tlibrary\ninto\t#0\n");
	const struct tp_inventory_function *f = tp_inventory_find(&inventory, "f");
	assert_int_equal(inventory.function_count, 3);
	assert_int_equal(f->presence, TP_PRESENCE_PARTLY);
	assert_int_equal(f->into_count, 1);
	assert_int_equal(f->into[0].sites, 2);
	assert_string_equal(inventory.functions[f->into[0].function].name, "main");
	assert_int_equal(tp_inventory_find(&inventory, "g")->presence, TP_PRESENCE_EMITTED);
	tp_inventory_release(&inventory);
}

static void test_source_only(void **state)
{
	(void)state;
	struct tp_inventory inventory = read_text(
	    HEAD "unit\ta.c\nfun\tf\texternal\tsource\tline=3\nfun\tg\texternal\tsource\n" HEAD
		 "unit\t/x/a.c\nfun\tf\texternal\temitted\tinstrs=2\n");
	assert_int_equal(inventory.function_count, 2);
	assert_int_equal(tp_inventory_find(&inventory, "f")->presence, TP_PRESENCE_EMITTED);
	assert_int_equal(tp_inventory_find(&inventory, "f")->facts.instrs, 2);
	assert_int_equal(tp_inventory_find(&inventory, "g")->presence, TP_PRESENCE_SOURCE);
	tp_inventory_release(&inventory);
}

static void test_system(void **state)
{
	(void)state;
	struct tp_inventory inventory =
	    read_text(HEAD "unit\ta.cc\nfun\ta\texternal\temitted\tfile=/usr/include/x.h\n"
			   "fun\tb\texternal\temitted\tfile=/a/../include/c++/12/bits/x.h\n"
			   "fun\tc\texternal\temitted\tfile=/home2/a.h\n"
			   "fun\t_ZSt4sortv\texternal\temitted\n"
			   "fun\t_ZSt5mine_v\texternal\temitted\tfile=my.h\n");
	assert_true(tp_inventory_find(&inventory, "a")->system);
	assert_true(tp_inventory_find(&inventory, "b")->system);
	assert_false(tp_inventory_find(&inventory, "c")->system);
	assert_true(tp_inventory_find(&inventory, "_ZSt4sortv")->system);
	assert_false(tp_inventory_find(&inventory, "_ZSt5mine_v")->system);
	tp_inventory_release(&inventory);
}

// Written and read again it is the same, and from then on to the byte.
static void test_write(void **state)
{
	(void)state;
	struct tp_inventory first = read_text(HEAD
	    "unit\ta.c\tcompiler=clang 19\tlists=0f\tmodule=m\nfile\t\\x23x\n"
	    "fun\tinit\tinternal\temitted\tfile=#0\tinstrs=1\tdid=force\tby=#l:4\n"
	    "fun\tma\texternal\tpartly\tline=3\nfun\tin\tlinkonce_odr\tinlined\tstart=4\n"
	    "call\t#0\ninto\t#1\tsites=4\tguessed=1\n" HEAD
	    "unit\ta.c\nfun\tinit\tinternal\temitted\tinstrs=2\tdid=sample/9\n"
	    "fun\tin\tlinkonce_odr\tremoved\n"
	    "fun\tmb\texternal\temitted\tblocks=3\tloops=1\tdepth=1\tcalls=4\tindirect=2\ttrips=1\n"
	    "call\tinit\tfreq=0.125\n");
	struct tp_buf text;
	struct tp_buf again;
	tp_buf_init(&text);
	tp_buf_init(&again);
	tp_inventory_write(&first, &text);
	struct tp_inventory second = read_text(text.data);
	tp_inventory_write(&second, &again);
	assert_string_equal(text.data, again.data);
	assert_int_equal(first.function_count, 5);
	assert_int_equal(second.function_count, 5);
	assert_int_equal(first.unit_count, second.unit_count);
	assert_true(first.hash == second.hash);
	for (uint32_t i = 0; i < 5; i++) {
		const struct tp_inventory_function *a = &first.functions[i];
		const struct tp_inventory_function *b = &second.functions[i];
		assert_string_equal(a->name, b->name);
		assert_string_equal(a->file, b->file);
		assert_string_equal(a->linkage, b->linkage);
		assert_int_equal(a->presence, b->presence);
		assert_int_equal(a->definitions, b->definitions);
		assert_int_equal(a->ambiguous, b->ambiguous);
		assert_int_equal(a->decision, b->decision);
		assert_int_equal(a->sample, b->sample);
		assert_int_equal(a->by_line, b->by_line);
		assert_int_equal(a->call_count, b->call_count);
		assert_int_equal(a->into_count, b->into_count);
		assert_int_equal(a->constant_trips, b->constant_trips);
		for (uint32_t j = 0; j < a->into_count; j++)
			assert_int_equal(a->into[j].function, b->into[j].function);
	}
	assert_string_equal(tp_inventory_find(&second, "init")->file, "#x");
	assert_string_equal(tp_inventory_find(&second, "init")->by_file, "#l");
	tp_buf_release(&text);
	tp_buf_release(&again);
	tp_inventory_release(&first);
	tp_inventory_release(&second);
}

static void test_hash(void **state)
{
	(void)state;
	struct tp_inventory a = read_text(HEAD "unit\ta.c\nfun\tf\texternal\temitted\tinstrs=1\n");
	struct tp_inventory b = read_text(HEAD "unit\ta.c\nfun\tf\texternal\temitted\tinstrs=2\n");
	assert_true(a.hash != b.hash);
	tp_inventory_release(&a);
	tp_inventory_release(&b);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("teeperf-inventory\t2\n", TP_ERR_VERSION, 1, "version '2'");
	refuse(HEAD "unit\n", TP_ERR_FORMAT, 2, "needs the name of a source file");
	refuse(
	    HEAD "fun\tf\texternal\temitted\n", TP_ERR_FORMAT, 2, "before the first line 'unit'");
	refuse(HEAD "ext\tf\n", TP_ERR_FORMAT, 2, "before the first line 'unit'");
	refuse(HEAD "unit\ta\ncall\tf\n", TP_ERR_FORMAT, 3, "before the first function");
	refuse(HEAD "unit\ta\nfun\tf\texternal\n", TP_ERR_FORMAT, 3, "needs a name, a linkage");
	refuse(HEAD "unit\ta\nfun\tf\texternal\tgone\n", TP_ERR_FORMAT, 3, "'gone' is not a state");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\tline=-1\n", TP_ERR_FORMAT, 3,
	    "'line' of '-1' is not a number");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\tline=18446744073709551616\n",
	    TP_ERR_FORMAT, 3, "too large");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\tdid=often\n", TP_ERR_FORMAT, 3,
	    "'often' is not a decision");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\tdid=sample/0\n", TP_ERR_FORMAT, 3,
	    "'sample/0' is not a decision");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\tby=list\n", TP_ERR_FORMAT, 3,
	    "'list' is not a place");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\tfile=#0\n", TP_ERR_FORMAT, 3,
	    "'file' line #0 does not exist");
	refuse(HEAD "unit\ta\nfun\tf\\q\texternal\temitted\n", TP_ERR_FORMAT, 3, "bad escape");
	refuse(HEAD "unit\ta\nfun\tf\\x00\texternal\temitted\n", TP_ERR_FORMAT, 3, "bad escape");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\ncall\t#1\n\n", TP_ERR_FORMAT, 4,
	    "function #1 does not exist");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\ncall\t#x\n", TP_ERR_FORMAT, 4,
	    "'#x' is not the number of a function");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\ncall\tf\tfreq=nan\n", TP_ERR_FORMAT, 4,
	    "'freq' of 'nan'");
	refuse(HEAD "unit\ta\nfun\tf\texternal\temitted\n" HEAD "call\tf\n", TP_ERR_FORMAT, 5,
	    "before the first function");
}

static void test_no_inventory(void **state)
{
	(void)state;
	struct tp_inventory inventory;
	struct tp_err err = {0};
	const char *const self = "/proc/self/exe";
	assert_int_equal(tp_inventory_open(&inventory, &self, 1, &err), TP_ERR_NOT_FOUND);
	assert_non_null(strstr(err.what, "teeperf cc"));
	const char *const missing = "no-such-file";
	assert_int_equal(tp_inventory_open(&inventory, &missing, 1, &err), TP_ERR_SYSTEM);
	assert_string_equal(err.file, "no-such-file");
	const char *const device = "/dev/null";
	assert_int_equal(tp_inventory_open(&inventory, &device, 1, &err), TP_ERR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_inline_functions),
	    cmocka_unit_test(test_internal_functions),
	    cmocka_unit_test(test_copies_elsewhere),
	    cmocka_unit_test(test_source_only),
	    cmocka_unit_test(test_system),
	    cmocka_unit_test(test_write),
	    cmocka_unit_test(test_hash),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_no_inventory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
