// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compiler command lines ask for.
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/driver/driver.h"

static struct tp_driver_plan plan_of(const char *line)
{
	static char text[256];
	char *argv[32];
	int argc = 0;
	assert_in_range(strlen(line), 0, sizeof(text) - 1);
	strcpy(text, line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return tp_driver_plan(argc, argv);
}

static void check(const char *line, bool compiles, bool links)
{
	const struct tp_driver_plan plan = plan_of(line);
	if (plan.compiles != compiles || plan.links != links)
		fail_msg("'%s': compiles %d, links %d", line, plan.compiles, plan.links);
}

static void stages(void **state)
{
	(void)state;
	check("a.c", true, true);
	check("-c a.c", true, false);
	check("a.c -S -o -", true, false);
	check("-c -o x.o a.cpp", true, false);
	check("a.o b.o -o app", false, true);
	check("a.o /lib/libm.so.6 libz.a x.lo -o app", false, true);
	check("-shared a.o", false, true);
	check("-lfoo", false, true);
	check("-r a.o b.o -o c.o", false, false);
	check("-E a.c", false, false);
	check("-M a.c", false, false);
	check("-MD -MF a.d -c a.c", true, false);
	check("-fsyntax-only a.c", false, false);
	check("-x c -", true, true);
	check("-xc++ -c -", true, false);
	check("-x c a.o -x none", true, true);
	check("a.c -x none b.o", true, true);
}

// Headers are precompiled, and that is the end of it.
static void headers(void **state)
{
	(void)state;
	check("a.h", true, false);
	check("include/a.hpp -o a.pch", true, false);
	check("-x c-header a.h -o a.pch", true, false);
	check("-xc++-header a -o a.pch", true, false);
	check("-x c a.h -o app", true, true);
	check("a.h b.c", true, true);
	check("-x c-header a.h -x none b.o", true, true);
	check("-include a.h b.c", true, true);
	check("a.x/h", false, true);
}

static void probes(void **state)
{
	(void)state;
	check("", false, false);
	check("-v", false, false);
	check("--version", false, false);
	check("-dumpmachine", false, false);
	check("-print-prog-name=ld", false, false);
	check("-O2 -Wall -I include", false, false);
	check("-Wl,--as-needed -L lib", false, false);
	check("--version a.c", false, false);
}

// The values of options are not inputs.
static void values(void **state)
{
	(void)state;
	check("-o a.c b.o", false, true);
	check("-include a.c b.o -Xlinker c.c", false, true);
	check("-isystem x.c -MT y.c -c z.c", true, false);
	check("-o -c a.o", false, true);
}

static void kinds(void **state)
{
	(void)state;
	assert_true(plan_of("-shared a.o").shared);
	assert_true(plan_of("-static a.o").is_static);
	assert_true(plan_of("-static-pie a.o").is_static);
	assert_true(plan_of("-flto=thin a.o").lto);
	assert_true(!plan_of("-flto -fno-lto a.o").lto);
	assert_true(plan_of("-O2 -O0 a.o").zero);
	assert_true(!plan_of("-O0 -Os a.o").zero && !plan_of("a.o").zero);
	assert_int_equal(plan_of("-fuse-ld=mold a.o").linker, TP_LINKER_NO_PLUGIN);
	assert_int_equal(plan_of("-fuse-ld=gold a.o").linker, TP_LINKER_NO_PLUGIN);
	assert_int_equal(plan_of("-fuse-ld=bfd a.o").linker, TP_LINKER_NO_PLUGIN);
	assert_int_equal(plan_of("-fuse-ld=lld-19 a.o").linker, TP_LINKER_LLD);
	assert_int_equal(plan_of("--ld-path=/x/ld.lld -fuse-ld=gold a.o").linker, TP_LINKER_LLD);
	assert_int_equal(plan_of("--ld-path=/lld/ld a.o").linker, TP_LINKER_OTHER);
	assert_string_equal(
	    plan_of("--ld-path=/x/ld.lld -fuse-ld=gold a.o").linker_name, "/x/ld.lld");
	assert_true(plan_of("-femulated-tls a.c").emulated_tls);
	assert_true(!plan_of("-femulated-tls -fno-emulated-tls a.c").emulated_tls);
	const struct tp_driver_plan plain = plan_of("a.o");
	assert_true(!plain.shared && !plain.is_static && !plain.lto && !plain.linker &&
		    !plain.emulated_tls);
}

// What leaves the plugin out, or asks for another way to it.
static void ways(void **state)
{
	(void)state;
	static const char *const partial[] = {"-r a.o", "-Wl,-r a.o", "-Wl,-x,--relocatable a.o",
	    "-Xlinker -r a.o", "-Wl,-i -flto a.o"};
	for (size_t i = 0; i < sizeof(partial) / sizeof(partial[0]); i++)
		assert_true(plan_of(partial[i]).combines && !plan_of(partial[i]).links);
	assert_true(!plan_of("-r -c a.c").combines && !plan_of("-Wl,-rpath,/r a.o").combines);
	assert_true(plan_of("-Wl,-x,--lto-partitions=4 a.o").partitions);
	assert_true(plan_of("-Xlinker -lto-partitions=4 a.o").partitions);
	assert_true(!plan_of("-Xlinker --lto-O2 a.o").partitions);
	assert_true(plan_of("-Xclang -disable-llvm-passes -c a.c").no_passes);
	assert_true(plan_of("-flegacy-pass-manager -c a.c").no_passes);
	assert_true(!plan_of("-Xclang -disable-llvm-passes -c -flto a.c").no_passes);
	assert_true(!plan_of("-Xclang -disable-llvm-passes -c -emit-llvm a.c").no_passes);
	assert_true(!plan_of("-Xclang -disable-llvm-passes a.o").no_passes);
	assert_true(plan_of("-c -fthinlto-index=a.bc -x ir a.o").thin_backend);
	assert_true(plan_of("-nodefaultlibs a.o -lc").libc_again);
	assert_true(plan_of("-nostdlib a.o -lgcc -lc").libc_again);
	assert_true(!plan_of("-nostdlib a.o own.a").libc_again && !plan_of("a.o -lc").libc_again);
	assert_true(plan_of("-E a.c").preprocesses && !plan_of("-c a.c").preprocesses);
	assert_true(plan_of("-c a.i").preprocessed && plan_of("-x cpp-output a").preprocessed);
	assert_true(!plan_of("-c a.c").preprocessed && !plan_of("-x c a.i").preprocessed);
}

static void targets(void **state)
{
	(void)state;
	assert_string_equal(plan_of("a.o").machine, "");
	assert_string_equal(plan_of("--target=riscv64-linux-gnu a.o").machine, "riscv64");
	assert_string_equal(plan_of("-target arm64-linux a.o").machine, "aarch64");
	assert_string_equal(plan_of("--target amd64-pc-linux-gnu a.o").machine, "x86_64");
	assert_string_equal(plan_of("-target").machine, "");
	assert_string_equal(plan_of("--target=a-name-of-a-very-long-processor a.o").machine, "a");
	assert_string_equal(plan_of("--target=averylongprocessorindeed a.o").machine,
	    "averylongproces"); // not one that there is
	assert_true(plan_of("--target=riscv64-linux-gnu a.o").links);
	const struct tp_driver_plan none = {.machine = ""};
	const struct tp_driver_plan other = {.machine = "vax"};
	assert_true(!tp_driver_is_foreign(&none) && tp_driver_is_foreign(&other));
	char path[TP_DRIVER_PATH_SIZE];
	struct tp_err err;
	assert_int_equal(tp_driver_runtime("/nowhere/lib", &none, path, &err), 0);
	assert_string_equal(path, "/nowhere/lib");
	assert_int_equal(tp_driver_runtime("/nowhere/lib", &other, path, &err), TP_ERR_NOT_FOUND);
	assert_string_equal(path, "/nowhere/lib/teeperf/vax");
}

// The words of BUF, which are NUL-ended, with commas between them.
static const char *words_of(const struct tp_buf *buf)
{
	static char text[256];
	assert_in_range(buf->size, 0, sizeof(text) - 1);
	memcpy(text, buf->data, buf->size);
	for (size_t i = 0; i + 1 < buf->size; i++)
		if (!text[i])
			text[i] = ',';
	text[buf->size] = '\0';
	return text;
}

static void inputs(void **state)
{
	(void)state;
	char words[][16] = {"-L", "one", "-Ltwo", "a.o", "-lfoo", "-l", "bar", "-o", "first",
	    "./libx.so", "libz.so.1", "-Xlinker", "-lnot", "-osecond"};
	enum { COUNT = sizeof(words) / sizeof(words[0]) };
	char *argv[COUNT];
	for (int i = 0; i < COUNT; i++)
		argv[i] = words[i];
	struct tp_driver_inputs inputs;
	tp_driver_inputs_read(&inputs, COUNT, argv);
	assert_string_equal(inputs.output, "second");
	assert_string_equal(words_of(&inputs.folders), "one,two");
	assert_string_equal(words_of(&inputs.libraries), "foo,bar,./libx.so,libz.so.1");
	tp_driver_inputs_release(&inputs);
	tp_driver_inputs_read(&inputs, 1, argv + 3);
	assert_string_equal(inputs.output, "a.out");
	tp_driver_inputs_release(&inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stages),
	    cmocka_unit_test(headers),
	    cmocka_unit_test(probes),
	    cmocka_unit_test(ways),
	    cmocka_unit_test(targets),
	    cmocka_unit_test(inputs),
	    cmocka_unit_test(values),
	    cmocka_unit_test(kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
