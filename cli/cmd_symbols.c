// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf symbols: names and places of the functions of a program, as analyze finds them.
#include "analyzer/symbol_inlines.h"
#include "analyzer/symbol_module.h"
#include "analyzer/text.h"
#include "cli/command.h"
#include "cli/open_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *dirs[TP_OPEN_LIST_MAX];
static struct tp_option_list debug_dirs = {.items = dirs, .capacity = TP_OPEN_LIST_MAX};
static bool symbol_cache = true;
static bool debuginfod;
static bool inlines;

static const struct tp_option options[] = {
    {TP_OPTION_LIST, 0, "debug-dir", "DIR", "look for debug files in DIR first; may be repeated",
	&debug_dirs, NULL},
    {TP_OPTION_BOOL, 0, "debuginfod", NULL,
	"fetch debug files that are not here from the servers in DEBUGINFOD_URLS", &debuginfod,
	NULL},
    {TP_OPTION_BOOL, 0, "inlines", NULL,
	"show the functions that were inlined at each ADDRESS, innermost first, and where each was "
	"called",
	&inlines, NULL},
    {TP_OPTION_BOOL, 0, "symbol-cache", NULL,
	"keep names and source lines for the next time (default; --no-symbol-cache does not)",
	&symbol_cache, NULL},
    {.type = TP_OPTION_END},
};

extern const struct tp_command tp_cmd_symbols;

// The functions that are asked for; grows.
struct wanted {
	struct tp_module_symbol *symbols;
	uint32_t count;
	uint32_t room;
};

static bool add(struct wanted *wanted, uint64_t address)
{
	if (wanted->count == wanted->room) {
		const uint32_t room = wanted->room ? 2 * wanted->room : 1024;
		void *more = room > wanted->room
				 ? realloc(wanted->symbols, room * sizeof(*wanted->symbols))
				 : NULL;
		if (!more)
			return false;
		wanted->symbols = more;
		wanted->room = room;
	}
	wanted->symbols[wanted->count++] = (struct tp_module_symbol){.address = address};
	return true;
}

static bool parse_address(const char *text, uint64_t *address)
{
	char *end;
	errno = 0;
	*address = strtoull(text, &end, 16);
	return !errno && end != text && text[0] != '-' && text[strcspn(text, " \t")] == '\0' &&
	       (*end == '\0' || *end == '\n');
}

static int add_text(struct wanted *wanted, const char *text)
{
	uint64_t address;
	if (!parse_address(text, &address))
		return tp_options_usage(&tp_cmd_symbols, "'%.*s' is not a hexadecimal address",
		    (int)strcspn(text, "\n"), text);
	if (add(wanted, address))
		return TP_EXIT_DONE;
	struct tp_err err;
	tp_err_set(&err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "no memory for the addresses");
	return tp_command_fail(&tp_cmd_symbols, &err);
}

static int add_lines(struct wanted *wanted)
{
	char line[64];
	int status = TP_EXIT_DONE;
	while (!status && fgets(line, sizeof(line), stdin))
		status = add_text(wanted, line);
	return status;
}

static bool add_table(struct wanted *wanted, const struct tp_elf_file *elf)
{
	for (uint32_t i = 0; i < elf->symbol_count; i++)
		if (!add(wanted, elf->symbols[i].address))
			return false;
	return true;
}

// All functions in the symbol tables of the module's files.
static int add_all(
    struct wanted *wanted, const struct teeperf_module *module, const struct tp_symbol_options *how)
{
	struct tp_symbol_files files;
	struct tp_problems unused = {0}; // they will be told when the names are looked up
	struct tp_err err;
	tp_symbol_files_find(&files, module, how, &unused);
	const bool added = add_table(wanted, &files.elf) && add_table(wanted, &files.debug);
	tp_symbol_files_release(&files);
	if (added && wanted->count)
		return TP_EXIT_DONE;
	if (added)
		tp_err_set(&err, TP_ERR_NOT_FOUND, module->path, TP_ERR_NO_OFFSET,
		    "no functions are in its symbol table, nor in a debug file's; name the folder of "
		    "that with --debug-dir");
	else
		tp_err_set(
		    &err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "no memory for the addresses");
	return tp_command_fail(&tp_cmd_symbols, &err);
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = ((const struct tp_module_symbol *)a)->address;
	const uint64_t y = ((const struct tp_module_symbol *)b)->address;
	return x < y ? -1 : x > y;
}

static void sort_once(struct wanted *wanted)
{
	uint32_t kept = 0;
	qsort(wanted->symbols, wanted->count, sizeof(*wanted->symbols), compare);
	for (uint32_t i = 0; i < wanted->count; i++)
		if (!kept || wanted->symbols[kept - 1].address != wanted->symbols[i].address)
			wanted->symbols[kept++] = wanted->symbols[i];
	wanted->count = kept;
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

static void write_table(const struct wanted *wanted, struct tp_buf *out)
{
	tp_buf_add_string(out, "address,function,linkage,file,line\n");
	for (uint32_t i = 0; i < wanted->count; i++) {
		const struct tp_module_symbol *symbol = &wanted->symbols[i];
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
	struct tp_elf_file elf;
	struct tp_err err;
	memset(module, 0, sizeof(*module));
	char *real = realpath(path, NULL);
	if (!real)
		tp_err_system(&err, errno, path, "cannot open it");
	else if (strlen(real) >= sizeof(module->path))
		tp_err_set(&err, TP_ERR_LIMIT, path, TP_ERR_NO_OFFSET, "its path is too long");
	else if (tp_elf_file_identify(&elf, path, &err) == 0) {
		strcpy(module->path, real);
		if (elf.build_id_size <= sizeof(module->build_id)) {
			memcpy(module->build_id, elf.build_id, elf.build_id_size);
			module->build_id_size = elf.build_id_size;
		}
	} else
		tp_elf_file_release(&elf);
	free(real);
	if (!module->path[0])
		return tp_command_fail(&tp_cmd_symbols, &err);
	module->end = UINT64_MAX;
	tp_elf_file_release(&elf);
	return TP_EXIT_DONE;
}

static int show(
    const struct teeperf_module *module, const struct tp_symbol_options *how, struct wanted *wanted)
{
	static struct tp_problems notes;
	struct tp_arena arena;
	struct tp_buf out;
	struct tp_err err;
	char text[1024];
	tp_arena_init(&arena);
	tp_buf_init(&out);
	sort_once(wanted);
	int status = TP_EXIT_DONE;
	if (tp_symbol_module_find(module, how, wanted->symbols, wanted->count, &arena, &notes)) {
		tp_err_set(&err, TP_ERR_MEMORY, module->path, TP_ERR_NO_OFFSET,
		    "no memory for the names of %u functions", wanted->count);
		status = tp_command_fail(&tp_cmd_symbols, &err);
	}
	for (uint32_t i = 0; i < tp_problems_kept(&notes); i++)
		tp_command_warn(
		    &tp_cmd_symbols, "%s", tp_err_format(&notes.kept[i], text, sizeof(text)));
	if (!status) {
		write_table(wanted, &out);
		status = tp_write_out(&tp_cmd_symbols, &out, NULL);
	}
	tp_buf_release(&out);
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

static int show_inlines(
    const struct teeperf_module *module, const struct tp_symbol_options *how, struct wanted *wanted)
{
	struct tp_problems unused = {0};
	struct tp_symbol_files files;
	struct tp_arena arena;
	struct tp_buf out;
	struct tp_err err;
	sort_once(wanted);
	struct tp_inline_chain *chains = calloc(wanted->count + (size_t)1, sizeof(*chains));
	tp_arena_init(&arena);
	tp_buf_init(&out);
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
		code = tp_err_set(&err, TP_ERR_NOT_FOUND, module->path, TP_ERR_NO_OFFSET,
		    "no debug information: compile with -g, or name its debug file with --debug-dir");
	else if (!chains)
		code = tp_err_set(&err, TP_ERR_MEMORY, module->path, TP_ERR_NO_OFFSET,
		    "no memory for %u addresses", wanted->count);
	else {
		for (uint32_t i = 0; i < wanted->count; i++)
			chains[i].address = wanted->symbols[i].address;
		code = tp_symbol_inlines_find(&request, chains, wanted->count, &arena, &err);
	}
	int status = code < 0 ? tp_command_fail(&tp_cmd_symbols, &err) : TP_EXIT_DONE;
	tp_buf_add_string(&out, "address,function,call_file,call_line\n");
	for (uint32_t i = 0; i < wanted->count && !status; i++)
		write_chain(&chains[i], &out);
	if (!status)
		status = tp_write_out(&tp_cmd_symbols, &out, NULL);
	tp_symbol_files_release(&files);
	tp_buf_release(&out);
	tp_arena_release(&arena);
	free(chains);
	return status;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	struct teeperf_module module;
	struct wanted wanted = {0};
	if (!tp_options_parse(&tp_cmd_symbols, &argc, &argv, true, &status))
		return status;
	if (argc < 1)
		return tp_options_usage(
		    &tp_cmd_symbols, "whose functions? name a program or library");
	if (inlines && argc == 1)
		return tp_options_usage(&tp_cmd_symbols, "--inlines: at which addresses?");
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
		status = add_lines(&wanted);
	else
		for (int i = 1; i < argc && !status; i++)
			status = add_text(&wanted, argv[i]);
	if (!status && inlines)
		status = show_inlines(&module, &how, &wanted);
	else if (!status)
		status = show(&module, &how, &wanted);
	free(wanted.symbols);
	return status;
}

const struct tp_command tp_cmd_symbols = {
    .name = "symbols",
    .summary = "show names and source lines of the functions of a program",
    .usage = "[options] FILE [ADDRESS... | -]",
    .description =
	"Show, as CSV, what the functions of the program or library FILE are called and where their\n"
	"source is, found as 'teeperf analyze' does: all that are in its symbol table, or those at\n"
	"each ADDRESS (hexadecimal, as in the file); '-' reads addresses from standard input.\n",
    .examples = "  teeperf symbols app > functions.csv\n"
		"  teeperf symbols --debug-dir debug libparse.so 0x12f0 0x1410\n",
    .options = options,
    .run = run,
};
