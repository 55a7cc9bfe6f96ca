// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf symbols: names and places of the functions of a program, as analyze finds them.
#include "analyzer/symbols/lines.h"
#include "analyzer/symbols/module.h"
#include "analyzer/output/text.h"
#include "cli/command/address_list.h"
#include "cli/command/command.h"
#include "cli/analyze/open_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tp_option_list debug_dirs;
static bool symbol_cache = true;
static bool debuginfod;
static bool inlines;

static const struct tp_option options[] = {
    TP_OPEN_DEBUG_DIRS(debug_dirs),
    TP_OPT_BOOL(0, "debuginfod", &debuginfod,
	"fetch missing debug files from the servers in DEBUGINFOD_URLS"),
    TP_OPT_BOOL(0, "inlines", &inlines,
	"show the functions inlined at each ADDRESS, innermost first, and their call sites"),
    TP_OPT_BOOL(0, "symbol-cache", &symbol_cache,
	"cache names and source lines (default; --no-symbol-cache turns it off)"),
    TP_OPT_END,
};

static int fail(const struct tp_err *err)
{
	if (err->code == TP_ERR_SYNTAX)
		return tp_options_usage("%s", err->what);
	return tp_command_fail(err);
}

static bool add_table(struct tp_address_list *wanted, const struct tp_elf_file *elf)
{
	for (uint32_t i = 0; i < elf->symbol_count; i++)
		if (!tp_address_list_add(wanted, elf->symbols[i].address))
			return false;
	return true;
}

// All functions in the symbol tables of the module's files.
static int add_all(struct tp_address_list *wanted, const struct teeperf_module *module,
    const struct tp_symbol_options *how)
{
	struct tp_symbol_files files;
	struct tp_problems unused = {0}; // reported when the names are looked up
	tp_symbol_files_find(&files, module, how, &unused);
	const bool added = add_table(wanted, &files.elf) && add_table(wanted, &files.debug);
	tp_symbol_files_release(&files);
	if (added && wanted->count)
		return TP_EXIT_DONE;
	if (!added)
		return tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory for the addresses");
	return tp_command_refuse(TP_ERR_NOT_FOUND, module->path,
	    "neither its symbol table nor a debug file has functions; name the folder of the "
	    "debug file with --debug-dir");
}

// A number in front of which PREFIX stands; printf takes longer than finding the names.
static void add_number(struct tp_buf *out, const char *prefix, uint64_t value, unsigned base)
{
	char text[32];
	char *at = text + sizeof(text);
	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	tp_buf_add_string(out, prefix);
	tp_buf_add(out, at, (size_t)(text + sizeof(text) - at));
}

static void add_field(struct tp_buf *out, const char *text)
{
	tp_buf_add_char(out, ',');
	if (text)
		tp_text_add_csv(out, text);
}

static void write_table(const struct tp_module_symbol *symbols, uint32_t count, struct tp_buf *out)
{
	tp_buf_add_string(out, "address,function,linkage,file,line\n");
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_module_symbol *symbol = &symbols[i];
		add_number(out, "0x", symbol->address, 16);
		add_field(out, symbol->name);
		add_field(out, symbol->linkage);
		add_field(out, symbol->file);
		add_number(out, ",", symbol->line, 10);
		tp_buf_add_char(out, '\n');
	}
}

static int open_module(struct teeperf_module *module, const char *path)
{
	struct tp_elf_file elf = {0};
	struct tp_err err;
	char *real = realpath(path, NULL);
	int code = 0;
	*module = (struct teeperf_module){.end = UINT64_MAX};
	if (!real)
		code = tp_err_system(&err, errno, path, "cannot open it");
	else if (strlen(real) >= sizeof(module->path))
		code = tp_err_set(&err, TP_ERR_LIMIT, path, "its path is too long");
	else
		code = tp_elf_file_identify(&elf, path, &err);
	if (!code)
		strcpy(module->path, real);
	if (!code && elf.build_id_size <= sizeof(module->build_id)) {
		memcpy(module->build_id, elf.build_id, elf.build_id_size);
		module->build_id_size = elf.build_id_size;
	}
	free(real);
	tp_elf_file_release(&elf);
	return code ? tp_command_fail(&err) : TP_EXIT_DONE;
}

static int show(const struct teeperf_module *module, const struct tp_symbol_options *how,
    const struct tp_address_list *wanted)
{
	static struct tp_problems notes;
	struct tp_arena arena;
	struct tp_err err;
	const uint32_t count = wanted->count;
	tp_arena_init(&arena);
	struct tp_module_symbol *symbols =
	    tp_arena_alloc(&arena, (count + (size_t)1) * sizeof(*symbols));
	for (uint32_t i = 0; symbols && i < count; i++)
		symbols[i].address = wanted->items[i];
	int status = TP_EXIT_DONE;
	if (!symbols || tp_symbol_module_find(module, how, symbols, count, &arena, &notes)) {
		tp_err_memory(&err, module->path);
		status = fail(&err);
	}
	tp_open_warn_all(&notes);
	if (!status) {
		// In pieces: fresh memory costs more than the output itself.
		struct tp_out_file out;
		tp_stdout_open(&out);
		write_table(symbols, count, &out.buf);
		status = tp_stdout_close(&out, 0, &err);
	}
	tp_arena_release(&arena);
	return status;
}

static void write_chain(const struct tp_inline_chain *chain, struct tp_buf *out)
{
	for (uint32_t i = 0; i < chain->count; i++) {
		add_number(out, "0x", chain->address, 16);
		add_field(out, chain->functions[i].function);
		add_field(out, chain->functions[i].call_file);
		add_number(out, ",", chain->functions[i].call_line, 10);
		tp_buf_add_char(out, '\n');
	}
}

static int show_inlines(const struct teeperf_module *module, const struct tp_symbol_options *how,
    const struct tp_address_list *wanted)
{
	struct tp_problems unused = {0};
	struct tp_symbol_files files;
	struct tp_arena arena;
	struct tp_out_file out;
	struct tp_err err;
	tp_arena_init(&arena);
	struct tp_inline_chain *chains =
	    tp_arena_alloc(&arena, (wanted->count + (size_t)1) * sizeof(*chains));
	tp_symbol_files_find(&files, module, how, &unused);
	const char *path = tp_symbol_files_dwarf(&files, module);
	const struct tp_dwarf_request request = {
	    .path = path,
	    .module = module->path,
	    .debug_dirs = how->debug_dirs,
	    .debug_dir_count = how->debug_dir_count,
	};
	int64_t code;
	if (!path)
		code = tp_err_set(&err, TP_ERR_NOT_FOUND, module->path,
		    "no debug information: compile with -g, or name its debug file with "
		    "--debug-dir");
	else if (!chains)
		code = tp_err_memory(&err, module->path);
	else {
		for (uint32_t i = 0; i < wanted->count; i++)
			chains[i].address = wanted->items[i];
		code = tp_symbol_inlines_find(&request, chains, wanted->count, &arena, &err);
	}
	int status = code < 0 ? tp_command_fail(&err) : TP_EXIT_DONE;
	if (!status) {
		tp_stdout_open(&out);
		tp_buf_add_string(&out.buf, "address,function,call_file,call_line\n");
		for (uint32_t i = 0; i < wanted->count; i++)
			write_chain(&chains[i], &out.buf);
		status = tp_stdout_close(&out, 0, &err);
	}
	tp_symbol_files_release(&files);
	tp_arena_release(&arena);
	return status;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	struct teeperf_module module;
	struct tp_address_list wanted = {0};
	struct tp_err err;
	if (argc < 1)
		return tp_options_usage("whose functions? Name a program or library");
	if (inlines && argc == 1)
		return tp_options_usage("--inlines: at which addresses?");
	const struct tp_symbol_options how = {
	    .debug_dirs = debug_dirs.items,
	    .debug_dir_count = debug_dirs.count,
	    .debuginfod = debuginfod,
	    .no_cache = !symbol_cache,
	};
	status = open_module(&module, argv[0]);
	if (!status && argc == 1)
		status = add_all(&wanted, &module, &how);
	else if (!status && argc == 2 && strcmp(argv[1], "-") == 0)
		status = tp_address_list_read(&wanted, STDIN_FILENO, &err) ? fail(&err) : 0;
	else
		for (int i = 1; i < argc && !status; i++)
			status = tp_address_list_add_text(&wanted, argv[i], &err) ? fail(&err) : 0;
	tp_address_list_sort(&wanted);
	if (!status && inlines)
		status = show_inlines(&module, &how, &wanted);
	else if (!status)
		status = show(&module, &how, &wanted);
	tp_address_list_release(&wanted);
	return status;
}

const struct tp_command tp_cmd_symbols = {
    .name = "symbols",
    .summary = "show names and source lines of a program's functions",
    .usage = "[options] FILE [ADDRESS... | -]",
    .description =
	"Print, as CSV, the names and source lines of functions in the program or library FILE, "
	"found\n"
	"as 'teeperf analyze' finds them: of all functions in its symbol table, or of those at "
	"each\n"
	"ADDRESS (hexadecimal, as in the file). '-' reads addresses from standard input.\n",
    .examples = "  teeperf symbols app > functions.csv\n"
		"  teeperf symbols --debug-dir debug libparse.so 0x12f0 0x1410\n",
    .options = options,
    .run = run,
};
