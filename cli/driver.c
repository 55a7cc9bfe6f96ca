// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler driver behind `teeperf cc` and `teeperf c++`.
#define _GNU_SOURCE
#include "driver_link.h"
#include "list_file.h"
#include "port_names.inc"

#include "allowlists/allowlist.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TEEPERF_DEFAULT_LLVM
#define TEEPERF_DEFAULT_LLVM 19
#endif
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

enum { ALLOWLISTS_MAX = 64 };
static const char *allowlist_items[ALLOWLISTS_MAX];
static struct tp_option_list allowlists = {allowlist_items, ALLOWLISTS_MAX, 0};
static const char *checking;
static const char *compiled_clock;
static const char *exits;
static const char *inventory;
static const char *level;
static const char *llvm;
static const char *module;
static const char *port_name;
static const char *shape;
static const char *switches;
static const char *tail_calls;
static bool is_off; // level off: nothing of ours but the runtime, for objects that ask for it

const struct tp_option tp_driver_options[] = {
    {TP_OPTION_LIST, 0, "allowlist", "FILE",
	"instrument only the functions that FILE lists, or shipped:NAME; of several the last that "
	"says anything of a function decides (default: TEEPERF_ALLOWLIST, with ':' between files, "
	"else all)",
	&allowlists, NULL},
    {TP_OPTION_STRING, 0, "check", "warn|off",
	"after a link with an allowlist, warn of its lines that record nothing in the program, or "
	"do not look (default: TEEPERF_CHECK, else warn)",
	&checking, NULL},
    {TP_OPTION_STRING, 0, "clock", "auto|soft|tsc",
	"compile for this clock; auto chooses when the program starts (default: TEEPERF_CLOCK, "
	"else auto)",
	&compiled_clock, NULL},
    {TP_OPTION_STRING, 0, "exits", "timed|untimed",
	"read the clock on entry and exit, or on entry only, which costs half as much: a call then ends "
	"when the thread's next one begins (default: TEEPERF_EXITS, else timed)",
	&exits, NULL},
    {TP_OPTION_STRING, 0, "inventory", "DIR|none",
	"also write what 'teeperf inventory' shows to files in DIR, or keep none of it, not even in object "
	"files (default: TEEPERF_INVENTORY, else in object files)",
	&inventory, NULL},
    {TP_OPTION_STRING, 0, "level", "event|sample[/N]|count|off",
	"record each call with its times, or one of N (default: 64) and count all, or only count, or "
	"compile as clang alone does (default: TEEPERF_LEVEL, else event)",
	&level, NULL},
    {TP_OPTION_STRING, 0, "llvm", "N",
	"use clang of LLVM major N (default: TEEPERF_LLVM, else the one chosen when teeperf was built)",
	&llvm, NULL},
    {TP_OPTION_STRING, 0, "module", "NAME",
	"program or library that this is for, which 'mod:' lines of allowlists look at (default: "
	"TEEPERF_MODULE)",
	&module, NULL},
    {TP_OPTION_STRING, 0, "port", "NAME",
	"compile, and link the runtime, for this platform: " TP_PORT_NAMES
	" (default: TEEPERF_PORT, else posix)",
	&port_name, NULL},
    {TP_OPTION_STRING, 0, "shape", "inline|call",
	"put the recording code in line, or call it: a quarter of the size, slower with a soft clock "
	"(default: TEEPERF_SHAPE, else inline)",
	&shape, NULL},
    {TP_OPTION_STRING, 0, "switches", "NAME[,NAME...]",
	"functions that switch to another stack, beside swapcontext, jump_fcontext and others that are "
	"known (default: TEEPERF_SWITCHES)",
	&switches, NULL},
    {TP_OPTION_STRING, 0, "tail-calls", "keep|call",
	"keep tail calls as jumps, or make calls of them so that each call has its own return "
	"(default: TEEPERF_TAIL_CALLS, else call)",
	&tail_calls, NULL},
    {0},
};

// The value in "--NAME=VALUE" if the argument is one of our options, else NULL.
static const char *joined_value(const char *argument, const struct tp_option *option)
{
	const size_t length = strlen(option->name);
	if (strncmp(argument, "--", 2) || strncmp(argument + 2, option->name, length) ||
	    argument[2 + length] != '=')
		return NULL;
	return argument + 3 + length;
}

/*
 * Take our options out of argv: in leading position in either spelling, elsewhere only as
 * --NAME=VALUE, so that nothing of clang's is mistaken for ours. 0 or an exit code.
 */
static int take_options(const struct tp_command *command, int *argc, char **argv)
{
	bool leading = true;
	int kept = 0;
	for (int i = 0; i < *argc; i++) {
		const struct tp_option *option = tp_driver_options;
		const char *value = NULL;
		for (; option->type && !value; option++) {
			value = joined_value(argv[i], option);
			if (!value && leading && !strncmp(argv[i], "--", 2) &&
			    !strcmp(argv[i] + 2, option->name)) {
				if (i + 1 == *argc)
					return tp_options_usage(
					    command, "option '%s' needs a value", argv[i]);
				value = argv[++i];
			}
			struct tp_option_list *list = option->value;
			if (value && option->type != TP_OPTION_LIST)
				*(const char **)option->value = value;
			else if (value && list->count == list->capacity)
				return tp_options_usage(command,
				    "option '--%s' may be given %u times", option->name,
				    list->capacity);
			else if (value)
				list->items[list->count++] = value;
		}
		if (!value) {
			leading = false;
			argv[kept++] = argv[i];
		}
	}
	argv[kept] = NULL;
	*argc = kept;
	return 0;
}

// Put `value`, else what the environment says, else `fallback` into the environment; 0 or usage.
static int pass_word(const struct tp_command *command, const char *option, const char *value,
    const char *variable, const char *const *words, const char *fallback)
{
	const char *source = value;
	if (!source)
		source = getenv(variable);
	if (!source || !*source)
		source = fallback;
	for (const char *const *word = words; *word; word++) {
		if (!strcmp(*word, source)) {
			setenv(variable, source, 1);
			return 0;
		}
	}
	return tp_options_usage(command, "%s%s takes %s, %s or %s, not '%s'",
	    value ? "option " : "", value ? option : variable, words[0], words[1],
	    words[2] ? words[2] : "nothing else", source);
}

// The level, whose word may have a number behind it; 0 or usage.
static int pass_level(const struct tp_command *command)
{
	const char *source = level ? level : getenv("TEEPERF_LEVEL");
	if (!source || !*source)
		source = "event";
	char *end = NULL;
	unsigned long number = 0;
	if (!strncmp(source, "sample/", 7))
		number = strtoul(source + 7, &end, 10);
	if (strcmp(source, "event") && strcmp(source, "count") && strcmp(source, "sample") &&
	    strcmp(source, "off") && (!end || *end || !number || number > TP_SAMPLE_MAX))
		return tp_options_usage(command,
		    "%s takes event, count, off, sample or sample/N with N from 1 to %u, not '%s'",
		    level ? "option '--level'" : "TEEPERF_LEVEL", TP_SAMPLE_MAX, source);
	setenv("TEEPERF_LEVEL", source, 1);
	is_off = !strcmp(source, "off");
	return 0;
}

// The allowlists' absolute paths: compilers run in other folders. 0 or an exit code.
static int pass_allowlists(const struct tp_command *command)
{
	const char *joined = getenv("TEEPERF_ALLOWLIST");
	struct tp_buf paths;
	struct tp_err err;
	tp_buf_init(&paths);
	int status = 0;
	if (allowlists.count)
		status = tp_list_files_resolve(
		    allowlists.items, allowlists.count, "option --allowlist", &paths, &err);
	else if (joined)
		status = tp_list_files_resolve_joined(joined, "TEEPERF_ALLOWLIST", &paths, &err);
	if (!status && paths.size)
		setenv("TEEPERF_ALLOWLIST", paths.data, 1);
	else
		unsetenv("TEEPERF_ALLOWLIST");
	tp_buf_release(&paths);
	return status ? tp_command_fail(command, &err) : 0;
}

// The folder for inventories, made if need be, as an absolute path. 0 or an exit code.
static int pass_inventory(const struct tp_command *command)
{
	const char *name = inventory ? inventory : getenv("TEEPERF_INVENTORY");
	if (!name || !*name) {
		unsetenv("TEEPERF_INVENTORY");
		return 0;
	}
	if (!strcmp(name, "none")) {
		setenv("TEEPERF_INVENTORY", name, 1);
		return 0;
	}
	struct tp_err err;
	const bool made = mkdir(name, 0777) == 0 || errno == EEXIST;
	char *path = made ? realpath(name, NULL) : NULL;
	if (path && access(path, W_OK | X_OK)) {
		free(path);
		path = NULL;
	}
	if (!path) {
		tp_err_system(&err, errno, name, "cannot write inventories there (from %s)",
		    inventory ? "option --inventory" : "TEEPERF_INVENTORY");
		return tp_command_fail(command, &err);
	}
	setenv("TEEPERF_INVENTORY", path, 1);
	free(path);
	return 0;
}

static int choose_major(const struct tp_command *command, uint32_t *major)
{
	const char *text = llvm ? llvm : getenv("TEEPERF_LLVM");
	if (!text || !*text)
		text = TEXT(TEEPERF_DEFAULT_LLVM);
	char *end;
	const unsigned long number = strtoul(text, &end, 10);
	if (*end || number < TP_DRIVER_FIRST_LLVM || number > TP_DRIVER_LAST_LLVM)
		return tp_options_usage(command, "%s takes an LLVM major such as %s, not '%s'",
		    llvm ? "option '--llvm'" : "TEEPERF_LLVM", TEXT(TEEPERF_DEFAULT_LLVM), text);
	*major = (uint32_t)number;
	return 0;
}

static int choose_port(const struct tp_command *command, struct tp_driver_port *port)
{
	const char *name = port_name ? port_name : getenv("TEEPERF_PORT");
	if (tp_driver_port_find(name, port)) {
		setenv("TEEPERF_THREADS", port->has_one_thread ? "one" : "many", 1);
		return 0;
	}
	return tp_options_usage(command, "%s takes " TP_PORT_NAMES ", not '%s'",
	    port_name ? "option '--port'" : "TEEPERF_PORT", name);
}

// "; installed: 14, 19", the majors for which all is there, appended to `text`.
static void add_installed(char *text, size_t size, const char *libraries, const char *name)
{
	char path[TP_DRIVER_PATH_SIZE];
	bool any = false;
	for (uint32_t major = TP_DRIVER_FIRST_LLVM; major <= TP_DRIVER_LAST_LLVM; major++) {
		if (!tp_driver_plugin(libraries, major, path) || !tp_driver_tool(name, major, path))
			continue;
		const size_t length = strlen(text);
		snprintf(text + length, size - length, "%s%u", any ? ", " : "", major);
		any = true;
	}
	if (!any)
		snprintf(text + strlen(text), size - strlen(text), "none");
}

// Everything that the new command line refers to.
struct toolchain {
	uint32_t major;
	char libraries[TP_DRIVER_PATH_SIZE];
	char plugin[TP_DRIVER_PATH_SIZE];
	char compiler[TP_DRIVER_PATH_SIZE];
	char linker[TP_DRIVER_PATH_SIZE];  /* lld, for LTO and for other processors, else "" */
	char runtime[TP_DRIVER_PATH_SIZE]; /* the folder of libteeperf, for links */
	struct tp_driver_port port;
	char archive[TP_DRIVER_PATH_SIZE]; /* the port's runtime; not for a shared library */
};

// For another processor lld, unless the linker that clang looks for is there. (lld 14 cannot do riscv64.)
static void find_foreign_linker(const struct tp_driver_plan *plan, struct toolchain *tools)
{
	char name[64];
	char path[TP_DRIVER_PATH_SIZE];
	snprintf(name, sizeof(name), "%s-linux-gnu-ld", plan->machine);
	if (!tp_driver_is_foreign(plan) || plan->has_linker || tp_driver_find(name, path))
		return;
	for (uint32_t major = tools->major < 15 ? 15 : tools->major; major <= TP_DRIVER_LAST_LLVM;
	     major++)
		if (tp_driver_tool("ld.lld", major, tools->linker))
			return;
	tools->linker[0] = '\0';
}

static int find_toolchain(const struct tp_command *command, const char *name,
    const struct tp_driver_plan *plan, struct toolchain *tools)
{
	struct tp_err err;
	if (!is_off && plan->emulated_tls && (plan->compiles || plan->links)) {
		tp_err_set(&err, TP_ERR_SYNTAX, NULL, TP_ERR_NO_OFFSET,
		    "-femulated-tls cannot be instrumented: counters are in thread-local storage as the "
		    "processor has it; compile without that option, or with --level off");
		return tp_command_fail(command, &err);
	}
	if (tp_driver_libraries(tools->libraries, &err))
		return tp_command_fail(command, &err);
	char installed[128] = "";
	if (!tp_driver_tool(name, tools->major, tools->compiler)) {
		add_installed(installed, sizeof(installed), tools->libraries, name);
		tp_err_set(&err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "%s of LLVM %u was not found: install clang-%u or choose another with --llvm N "
		    "(usable here: %s)",
		    name, tools->major, tools->major, installed);
		return tp_command_fail(command, &err);
	}
	if (!is_off && !tp_driver_plugin(tools->libraries, tools->major, tools->plugin)) {
		add_installed(installed, sizeof(installed), tools->libraries, name);
		tp_err_set(&err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "there is no plugin for LLVM %u in %s/teeperf: build it, or choose another with "
		    "--llvm N (usable here: %s)",
		    tools->major, tools->libraries, installed);
		return tp_command_fail(command, &err);
	}
	if (!plan->links)
		return 0;
	if (tp_driver_runtime(tools->libraries, plan, tools->runtime, &err) ||
	    tp_driver_port_archive(
		&tools->port, tools->runtime, tp_driver_is_foreign(plan), tools->archive, &err))
		return tp_command_fail(command, &err);
	if (!plan->lto) {
		find_foreign_linker(plan, tools);
		return 0;
	}
	if (tools->major < 15) {
		tp_err_set(&err, TP_ERR_VERSION, NULL, TP_ERR_NO_OFFSET,
		    "-flto needs LLVM 15 or newer, since the linker of LLVM %u loads no plugin: "
		    "choose another with --llvm N, or link without -flto",
		    tools->major);
		return tp_command_fail(command, &err);
	}
	if (!plan->has_linker && !tp_driver_tool("ld.lld", tools->major, tools->linker)) {
		tp_err_set(&err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "-flto needs ld.lld of LLVM %u, which was not found: install lld-%u",
		    tools->major, tools->major);
		return tp_command_fail(command, &err);
	}
	return 0;
}

// The command line under construction. Strings are kept until exec.
struct line {
	char **items;
	size_t count;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&line->items[line->count], format, arguments) < 0)
		line->items[line->count] = NULL;
	va_end(arguments);
	line->count += line->items[line->count] != NULL;
}

static void add_compile(struct line *line, const struct toolchain *tools)
{
	// Clang warns of options that a run has no use for, as -fpass-plugin for an assembler file.
	add(line, "--start-no-unused-arguments");
	add(line, "-fpass-plugin=%s", tools->plugin);
	// What a list cannot have is worth a warning, but must not end a build with -Werror.
	add(line, "-Wno-error=backend-plugin");
	add(line, "-Wno-error=source-mgr"); // those with a place in a list
	add(line, "--end-no-unused-arguments");
}

// What comes last: a library resolves what stands before it. -Xlinker, as -x would make a source
// of a plain name, and -Wl splits at commas.
static bool is_x86(const struct tp_driver_plan *plan)
{
#if defined(__x86_64__)
	return !tp_driver_is_foreign(plan);
#else
	return strcmp(plan->machine, "x86_64") == 0;
#endif
}

static void add_link(
    struct line *line, const struct toolchain *tools, const struct tp_driver_plan *plan)
{
	static const char *const exported[] = {"thread", "slow", "record", "record_untimed",
	    "record_position", "count", "resync", "module", "module_gone", "counted",
	    "counted_gone", "switch", "is_on", "poll", "home", "leave", "arrive", "context_leave",
	    "context_arrive", "region", "enter", "exit", "thread_over", "over"};
	if (!plan->has_linker && tools->linker[0]) {
		add(line, "-fuse-ld=lld");
		add(line, "--ld-path=%s", tools->linker);
	}
	/*
	 * Names in records are low halves of addresses, from 4096 on. Linkers for these processors put code right behind the
	 * headers, and where the program is loaded at a multiple of 4 GiB (QEMU does that), it would begin below.
	 */
	if (!is_x86(plan) && !plan->has_linker) {
		add(line, "-Xlinker");
		add(line, "-z");
		add(line, "-Xlinker");
		add(line, "separate-code");
	}
	if (plan->lto) {
		if (!is_off) {
			add(line, "-Xlinker");
			add(line, "--load-pass-plugin=%s", tools->plugin);
		}
		// ThinLTO calls no plugin at -O0. At -O1 it leaves alone what was compiled with -O0.
		if (!is_off && plan->zero) {
			add(line, "-Xlinker");
			add(line, "--lto-O1");
		}
	}
	if (!tools->port.is_posix) {
		add(line, "-Xlinker");
		add(line, "%s", tools->archive);
		return;
	}
	if (plan->shared && tools->port.name)
		return; // the executable has the runtime
	if (plan->shared) {
		add(line, "-L%s", tools->runtime);
		add(line, "-Xlinker");
		add(line, "-rpath");
		add(line, "-Xlinker");
		add(line, "%s", tools->runtime);
		if (is_off) {
			add(line, "-Xlinker");
			add(line, "--push-state");
			add(line, "-Xlinker");
			add(line, "--as-needed");
		}
		add(line, "-lteeperf");
		if (is_off) {
			add(line, "-Xlinker");
			add(line, "--pop-state");
		}
		return;
	}
	// Shared libraries are to use this runtime. By their names: gold knows no globs here.
	if (!plan->is_static)
		for (size_t i = 0; i < sizeof(exported) / sizeof(exported[0]); i++)
			add(line, "-Wl,--export-dynamic-symbol=__teeperf_%s", exported[i]);
	add(line, "-Xlinker");
	add(line, "%s", tools->archive);
	add(line, "-lpthread");
}

int tp_driver_run(const struct tp_command *command, const char *name, int argc, char **argv)
{
	static const char *const checks[] = {"warn", "off", NULL};
	static const char *const clocks[] = {"auto", "soft", "tsc", NULL};
	static const char *const exit_words[] = {"timed", "untimed", NULL};
	static const char *const shapes[] = {"inline", "call", NULL};
	static const char *const tails[] = {"keep", "call", NULL};
	argc--;
	argv++;
	if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
		tp_options_help(command);
		return TP_EXIT_DONE;
	}
	int status = take_options(command, &argc, argv);
	struct toolchain tools = {0};
	if (!status)
		status = choose_major(command, &tools.major);
	if (!status)
		status = choose_port(command, &tools.port);
	if (!status)
		status = pass_word(command, "'--check'", checking, "TEEPERF_CHECK", checks, "warn");
	if (!status)
		status = pass_word(
		    command, "'--clock'", compiled_clock, "TEEPERF_CLOCK", clocks, "auto");
	if (!status)
		status =
		    pass_word(command, "'--exits'", exits, "TEEPERF_EXITS", exit_words, "timed");
	if (!status)
		status = pass_level(command);
	if (!status)
		status = pass_word(command, "'--shape'", shape, "TEEPERF_SHAPE", shapes, "inline");
	if (!status)
		status = pass_word(
		    command, "'--tail-calls'", tail_calls, "TEEPERF_TAIL_CALLS", tails, "call");
	if (!status)
		status = pass_allowlists(command);
	if (!status)
		status = pass_inventory(command);
	if (!status && module)
		setenv("TEEPERF_MODULE", module, 1);
	if (!status && switches)
		setenv("TEEPERF_SWITCHES", switches, 1);
	if (status)
		return status;
	const struct tp_driver_plan plan = tp_driver_plan(argc, argv);
	status = find_toolchain(command, name, &plan, &tools);
	if (status)
		return status;

	enum { ROOM = 48 };
	struct line line = {.items = calloc((size_t)argc + ROOM, sizeof(*line.items))};
	struct tp_err err;
	if (!line.items) {
		tp_err_set(&err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
		return tp_command_fail(command, &err);
	}
	add(&line, "%s", tools.compiler);
	if (plan.compiles && !is_off)
		add_compile(&line, &tools);
	for (int i = 0; i < argc; i++)
		line.items[line.count++] = argv[i];
	if (plan.links)
		add_link(&line, &tools, &plan);
	if (plan.links && !is_off && getenv("TEEPERF_ALLOWLIST") &&
	    !strcmp(getenv("TEEPERF_CHECK"), "warn")) {
		status = tp_driver_spawn(tools.compiler, line.items, &err);
		if (status == 0)
			tp_driver_check(command, &plan, argc, argv);
		return status < 0 ? tp_command_fail(command, &err) : status;
	}
	execv(tools.compiler, line.items);
	tp_err_system(&err, errno, tools.compiler, "cannot run the compiler");
	return tp_command_fail(command, &err);
}
