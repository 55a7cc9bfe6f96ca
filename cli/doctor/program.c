// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf doctor PROGRAM: whether it is instrumented for this runtime, and what its functions can
// be named by.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teeperf/abi.h>

#include "analyzer/symbols/elf/file.h"
#include "analyzer/symbols/build_faults.h"
#include "analyzer/symbols/release_mark.h"
#include "analyzer/symbols/module.h"
#include "cli/doctor/doctor.h"
#include "common/clean.h"

// "auto, tsc" of the module's constructors (abi.h), empty if the symbols are not there.
static void list_clocks(const struct tp_elf_file *elf, char *text, size_t size)
{
	static const char prefix[] = TEEPERF_SYMBOL_CONSTRUCTOR;
	text[0] = '\0';
	for (uint32_t i = 0; i < elf->symbol_count; i++) {
		const char *name = elf->symbols[i].name;
		if (strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		const char *clock = name + strlen(prefix);
		const size_t used = strlen(text);
		if (strstr(text, clock) || used + strlen(clock) + 3 > size)
			continue;
		snprintf(text + used, size - used, "%s%s", used ? ", " : "", clock);
	}
	tp_clean(text, strlen(text));
}

static bool show_mark(const struct tp_release_mark *mark, const char *clocks)
{
	if (!mark->notes && !mark->symbol[0]) {
		tp_doctor_show("missing", "events",
		    "the program is not instrumented: compile and link it with 'teeperf cc' or "
		    "'teeperf c++'");
		return false;
	}
	if (!mark->notes) {
		tp_doctor_show("wrong", "events",
		    "it has '%s' but no note of TeePerf: compile it again with this version",
		    mark->symbol);
		return false;
	}
	if (mark->abi != TEEPERF_ABI) {
		tp_doctor_show("wrong", "events",
		    "compiled for ABI %u of the runtime, this one has %u: compile it again",
		    (unsigned)mark->abi, (unsigned)TEEPERF_ABI);
		return false;
	}
	tp_doctor_show("ok", "events", "instrumented, ABI %u%s%s", (unsigned)mark->abi,
	    clocks[0] ? ", clock chosen when compiled: " : "", clocks);
	if (!strcmp(clocks, "hardware"))
		tp_doctor_show("-", "clock",
		    "compiled for the processor's counter only: "
		    "where a TEE forbids it (SGX1, stock "
		    "OP-TEE), compile with --clock=auto or --clock=soft");
	return true;
}

// What a build did without a word. True if it did nothing.
static bool show_faults(const char *file)
{
	static const char *const subjects[TP_BUILD_FAULTS] = {"bitcode", "addresses"};
	struct tp_build_faults faults;
	bool good = true;
	tp_build_faults_read(&faults, file);
	for (int i = 0; i < TP_BUILD_FAULTS; i++) {
		char *text = tp_build_faults_text(&faults, i);
		if (!text)
			continue;
		tp_doctor_show("wrong", subjects[i], "%s", text);
		good = false;
		free(text);
	}
	return good;
}

static void show_names(const struct tp_elf_file *elf)
{
	uint32_t local = 0;
	for (uint32_t i = 0; i < elf->symbol_count; i++)
		local += elf->symbols[i].rank == 0;
	if (local)
		tp_doctor_show(
		    "ok", "names", "%" PRIu32 " functions in the symbol table", elf->symbol_count);
	else
		tp_doctor_show("-", "names",
		    "stripped, only %" PRIu32
		    " exported functions have names: give the folder of its debug files as "
		    "--debug-dir",
		    elf->symbol_count);
	if (elf->build_id_size)
		tp_doctor_show(
		    "ok", "build ID", "a trace can tell this program from another build");
	else
		tp_doctor_show("-", "build ID",
		    "none: a trace may be shown with the names of another build; link with "
		    "-Wl,--build-id");
}

// Whether the source is known of main, whose debug information is the program's own and not the
// runtime's; where there is no main, of any function.
static bool has_lines(const struct tp_elf_file *elf, const char *file)
{
	static struct tp_problems notes;
	const struct tp_symbol_options how = {0};
	struct teeperf_module module = {.end = UINT64_MAX};
	struct tp_arena arena;
	uint32_t count = 0;
	bool found = false;
	tp_arena_init(&arena);
	struct tp_module_symbol *symbols =
	    tp_arena_alloc(&arena, (elf->symbol_count + (size_t)1) * sizeof(*symbols));
	char *path = realpath(file, NULL);
	for (uint32_t i = 0; symbols && i < elf->symbol_count; i++) {
		const bool is_main = !strcmp(elf->symbols[i].name, "main");
		symbols[is_main ? 0 : count++].address = elf->symbols[i].address;
		if (!is_main)
			continue;
		count = 1;
		break;
	}
	if (symbols && path && strlen(path) < sizeof(module.path)) {
		strcpy(module.path, path);
		if (!tp_symbol_module_find(&module, &how, symbols, count, &arena, &notes))
			for (uint32_t i = 0; i < count; i++)
				found = found || symbols[i].file;
	}
	free(path);
	tp_arena_release(&arena);
	return found;
}

static void show_lines(const struct tp_elf_file *elf, const char *file)
{
	char link[sizeof(elf->debug_link)];
	memcpy(link, elf->debug_link, sizeof(link));
	tp_clean(link, strlen(link));
	if (has_lines(elf, file))
		tp_doctor_show(
		    "ok", "lines", "debug information names the functions' source files");
	else if (link[0])
		tp_doctor_show("-", "lines",
		    "debug information is in '%s': next to the program, in its .debug, or in a "
		    "--debug-dir",
		    link);
	else
		tp_doctor_show(
		    "-", "lines", "no debug information: compile with -g for source lines");
}

bool tp_doctor_program(const char *file)
{
	struct tp_elf_file elf;
	struct tp_release_mark mark;
	struct tp_err err;
	char text[TP_ERR_TEXT_SIZE];
	char clocks[64];
	bool good = false;
	if (tp_elf_file_read(&elf, file, &err) || tp_release_mark_read(&mark, file, &err)) {
		tp_doctor_show("wrong", "program", "%s", tp_err_format(&err, text, sizeof(text)));
	} else {
		list_clocks(&elf, clocks, sizeof(clocks));
		tp_clean(mark.symbol, strlen(mark.symbol));
		good = show_mark(&mark, clocks);
		good = show_faults(file) && good;
		show_names(&elf);
		show_lines(&elf, file);
	}
	tp_elf_file_release(&elf);
	return good;
}
