// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler driver behind `teeperf cc` and `teeperf c++`.
#define _GNU_SOURCE
#include "driver.h"
#include "common/process.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	struct tp_driver_settings settings;
	char libraries[TP_DRIVER_PATH_SIZE];
	char plugin[TP_DRIVER_PATH_SIZE];
	char compiler[TP_DRIVER_PATH_SIZE];
	char linker[TP_DRIVER_PATH_SIZE];  /* lld, for LTO and for other processors, else "" */
	bool asks_plugin;                  /* lld is the linker, and loads plugins */
	char runtime[TP_DRIVER_PATH_SIZE]; /* the folder of libteeperf, for links */
	char archive[TP_DRIVER_PATH_SIZE]; /* the port's runtime; not for a shared library */
};

/*
 * For another processor lld, unless the linker that clang looks for is there. On riscv64 lld 14
 * cannot relax code, and lld 16 leaves symbols of functions that are aligned, as the instrumented
 * ones are, behind their first instructions: the program crashes.
 */
static void find_foreign_linker(const struct tp_driver_plan *plan, struct toolchain *tools)
{
	char name[64];
	char path[TP_DRIVER_PATH_SIZE];
	snprintf(name, sizeof(name), "%s-linux-gnu-ld", plan->machine);
	if (!tp_driver_is_foreign(plan) || plan->linker || tp_find_program(name, path))
		return;
	const uint32_t least = strcmp(plan->machine, "riscv64") ? TP_DRIVER_FIRST_LLVM : 17;
	for (uint32_t major = tools->settings.major < least ? least : tools->settings.major;
	     major <= TP_DRIVER_LAST_LLVM; major++)
		if (tp_driver_tool("ld.lld", major, tools->linker))
			return;
	tools->linker[0] = '\0';
}

/*
 * Whether lld can be given our plugin: it compiles bitcode also where the command line has no
 * -flto, such as an archive of somebody else.
 */
static bool loads_plugins(const struct tp_driver_plan *plan, const struct toolchain *tools)
{
	enum { FIRST = 15 };
	char name[TP_DRIVER_PATH_SIZE];
	char path[TP_DRIVER_PATH_SIZE];
	if (plan->linker == TP_LINKER_DEFAULT)
		return tools->linker[0] && tp_driver_tool_major(tools->linker) >= FIRST;
	if (plan->linker != TP_LINKER_LLD)
		return false;
	// As clang looks for it.
	if (!strcmp(plan->linker_name, "lld") &&
	    tp_driver_tool("ld.lld", tools->settings.major, path))
		return tools->settings.major >= FIRST;
	snprintf(name, sizeof(name), "%s%.*s",
	    strncmp(plan->linker_name, "lld", strlen("lld")) ? "" : "ld.", (int)sizeof(name) - 8,
	    plan->linker_name);
	return tp_find_program(name, path) && tp_driver_tool_major(path) >= FIRST;
}

static int find_linker(const struct tp_driver_plan *plan, struct toolchain *tools)
{
	const bool needs_plugin = plan->lto && !tools->settings.is_off;
	if (!plan->lto)
		find_foreign_linker(plan, tools);
	if (needs_plugin && tools->settings.major < 15)
		return tp_command_refuse(TP_ERR_VERSION, NULL,
		    "-flto needs LLVM 15 or newer, since the linker of LLVM %u loads no plugin: "
		    "choose another with --llvm N, or link without -flto",
		    tools->settings.major);
	if (needs_plugin && plan->linker == TP_LINKER_NO_PLUGIN)
		return tp_command_refuse(TP_ERR_SYNTAX, NULL,
		    "-flto needs lld, since '%s' loads no plugin of LLVM's and would record "
		    "nothing: link with -fuse-ld=lld, or without -flto",
		    plan->linker_name);
	if (plan->lto && !plan->linker &&
	    !tp_driver_tool("ld.lld", tools->settings.major, tools->linker))
		return tp_command_refuse(TP_ERR_NOT_FOUND, NULL,
		    "-flto needs ld.lld of LLVM %u, which was not found: install lld-%u",
		    tools->settings.major, tools->settings.major);
	tools->asks_plugin =
	    needs_plugin || (!tools->settings.is_off && loads_plugins(plan, tools));
	return 0;
}

static int find_toolchain(
    const char *name, const struct tp_driver_plan *plan, struct toolchain *tools)
{
	struct tp_err err;
	if (!tools->settings.is_off && plan->emulated_tls && (plan->compiles || plan->links))
		return tp_command_refuse(TP_ERR_SYNTAX, NULL,
		    "-femulated-tls cannot be instrumented: counters need the processor's own "
		    "thread-local storage; compile without that option, or with --level off");
	if (!tools->settings.is_off && plan->compiles && plan->thin_backend)
		return tp_command_refuse(TP_ERR_SYNTAX, NULL,
		    "-fthinlto-index cannot be instrumented: clang loads no plugin there, and "
		    "nothing of the file would be recorded; link with -flto=thin in one step, or "
		    "compile without -flto");
	if (!tools->settings.is_off && plan->no_passes)
		tp_command_warn("this command runs none of LLVM's passes (-disable-llvm-passes, "
				"-flegacy-pass-manager), and so nothing that it compiles will be "
				"recorded: leave that option out");
	if (tp_driver_libraries(tools->libraries, &err))
		return tp_command_fail(&err);
	char installed[128] = "";
	if (!tp_driver_tool(name, tools->settings.major, tools->compiler)) {
		add_installed(installed, sizeof(installed), tools->libraries, name);
		return tp_command_refuse(TP_ERR_NOT_FOUND, NULL,
		    "%s of LLVM %u was not found: install clang-%u or choose another with --llvm N "
		    "(usable here: %s)",
		    name, tools->settings.major, tools->settings.major, installed);
	}
	if (!tools->settings.is_off &&
	    !tp_driver_plugin(tools->libraries, tools->settings.major, tools->plugin)) {
		add_installed(installed, sizeof(installed), tools->libraries, name);
		return tp_command_refuse(TP_ERR_NOT_FOUND, NULL,
		    "cannot find a plugin for LLVM %u in %s/teeperf: build it, or choose another "
		    "with --llvm N (usable here: %s)",
		    tools->settings.major, tools->libraries, installed);
	}
	if (plan->links && (tp_driver_runtime(tools->libraries, plan, tools->runtime, &err) ||
			       tp_driver_port_archive(&tools->settings.port, tools->runtime,
				   tp_driver_is_foreign(plan), tools->archive, &err)))
		return tp_command_fail(&err);
	return plan->links || plan->combines ? find_linker(plan, tools) : 0;
}

// The command line under construction. Strings are kept until exec.
struct line {
	char **items;
	size_t count;
	size_t room; // a NULL is behind the last one
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
	va_list arguments;
	assert(line->count + 1 < line->room);
	va_start(arguments, format);
	if (vasprintf(&line->items[line->count], format, arguments) < 0)
		line->items[line->count] = NULL;
	va_end(arguments);
	line->count += line->items[line->count] != NULL;
}

// For the linker. -Xlinker, as -x would make a source of a plain name, and -Wl splits at commas.
static void add_to_link(struct line *line, const char *option, const char *value)
{
	add(line, "-Xlinker");
	add(line, "%s%s", option, value);
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

static bool is_x86(const struct tp_driver_plan *plan)
{
#if defined(__x86_64__)
	return !tp_driver_is_foreign(plan);
#else
	return strcmp(plan->machine, "x86_64") == 0;
#endif
}

static void add_linker(
    struct line *line, const struct toolchain *tools, const struct tp_driver_plan *plan)
{
	if (plan->linker || !tools->linker[0])
		return;
	add(line, "-fuse-ld=lld");
	add(line, "--ld-path=%s", tools->linker);
}

static void add_plugin(
    struct line *line, const struct toolchain *tools, const struct tp_driver_plan *plan)
{
	if (!tools->asks_plugin)
		return;
	// The one that looks which LLVM it is in: lld may be of another major than clang.
	add(line, "-Xlinker");
	add(line, "--load-pass-plugin=%s/teeperf/TeePerf.so", tools->libraries);
	// ThinLTO calls no plugin at -O0. At -O1 it leaves alone what was compiled with -O0.
	if (plan->lto && plan->zero)
		add_to_link(line, "--lto-O1", "");
	if (!plan->partitions)
		return;
	// lld would split a module whose functions refer to one another's insides.
	tp_command_warn("--lto-partitions is taken back: instrumented code cannot be split; with "
			"-flto=thin several threads compile it");
	add_to_link(line, "--lto-partitions=1", "");
}

// What comes last: a library resolves what stands before it.
static void add_link(
    struct line *line, const struct toolchain *tools, const struct tp_driver_plan *plan)
{
	static const char *const exported[] = {"thread", "slow", "record", "record_untimed",
	    "record_position", "count", "resync", "module", "module_gone", "counted",
	    "counted_gone", "switch", "is_on", "poll", "home", "leave", "arrive", "context_leave",
	    "context_arrive", "region", "enter", "exit", "thread_over", "over", "mark", "mark_gate",
	    "border", "command", "module_add", "module_remove", "tee_log", "why"};
	add_linker(line, tools, plan);
	/*
	 * Names in records are low halves of addresses, from 4096 on. Linkers for these processors
	 * put code right behind the headers, and where the program is loaded at a multiple of 4 GiB
	 * (QEMU does that), it would begin below.
	 */
	if (!is_x86(plan) && !plan->linker) {
		add_to_link(line, "-z", "");
		add_to_link(line, "separate-code", "");
	}
	add_plugin(line, tools, plan);
	if (!tools->settings.port.is_posix) {
		add_to_link(line, tools->archive, "");
		return;
	}
	if (plan->shared && tools->settings.port.name)
		return; // the executable has the runtime
	if (plan->shared) {
		add(line, "-L%s", tools->runtime);
		add_to_link(line, "-rpath", "");
		add_to_link(line, tools->runtime, "");
		if (tools->settings.is_off) {
			add_to_link(line, "--push-state", "");
			add_to_link(line, "--as-needed", "");
		}
		add(line, "-lteeperf");
		if (tools->settings.is_off)
			add_to_link(line, "--pop-state", "");
		return;
	}
	// Shared libraries are to use this runtime. By their names, as gold knows no globs here;
	// but mold warns of names that the program turns out not to have.
	const bool is_mold = strstr(plan->linker_name, "mold") != NULL;
	if (!plan->is_static && is_mold)
		add(line, "-Wl,--export-dynamic-symbol=__teeperf_*");
	else if (!plan->is_static)
		for (size_t i = 0; i < sizeof(exported) / sizeof(exported[0]); i++)
			add(line, "-Wl,--export-dynamic-symbol=__teeperf_%s", exported[i]);
	add_to_link(line, tools->archive, "");
	add(line, "-lpthread");
	// Clang adds nothing then, and an archive resolves only what stands before it.
	if (plan->libc_again)
		add(line, "-lc");
}

int tp_driver_run(const char *name, int argc, char **argv)
{
	argc--;
	argv++;
	if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
		tp_options_help(tp_command_running);
		return TP_EXIT_DONE;
	}
	struct toolchain tools = {0};
	int status = tp_driver_options_take(&argc, argv, &tools.settings);
	if (status)
		return status;
	const struct tp_driver_plan plan = tp_driver_plan(argc, argv);
	status = find_toolchain(name, &plan, &tools);
	if (status)
		return status;

	char ccache[TP_DRIVER_PATH_SIZE];
	const bool cached = (plan.compiles || plan.preprocesses) && tp_driver_ccache(ccache);
	if (cached && plan.compiles)
		status = tp_driver_ccache_refuse(ccache, &plan);
	if (status)
		return status;
	enum { ROOM = 128 };
	struct line line = {
	    .items = calloc((size_t)argc + ROOM, sizeof(*line.items)), .room = (size_t)argc + ROOM};
	struct tp_err err;
	if (!line.items)
		return tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory");
	add(&line, "%s", tools.compiler);
	if (plan.compiles && !tools.settings.is_off)
		add_compile(&line, &tools);
	for (int i = 0; i < argc; i++)
		line.items[line.count++] = argv[i];
	if (plan.links)
		add_link(&line, &tools, &plan);
	if (plan.combines) {
		add_linker(&line, &tools, &plan);
		add_plugin(&line, &tools, &plan);
	}
	const bool looks = (plan.links || plan.combines) && !tools.settings.is_off;
	if (!looks && !(cached && plan.preprocesses)) {
		execv(tools.compiler, line.items);
		tp_err_system(&err, errno, tools.compiler, "cannot run the compiler");
		return tp_command_fail(&err);
	}
	status = tp_driver_spawn(tools.compiler, line.items, &err);
	if (status < 0)
		return tp_command_fail(&err);
	if (status)
		return status;
	if (looks)
		tp_driver_check_faults(argc, argv);
	if (looks && plan.links && tools.settings.checks && getenv("TEEPERF_ALLOWLIST"))
		tp_driver_check(&plan, argc, argv);
	const char *const depends[] = {tools.compiler, tools.plugin, NULL};
	return plan.preprocesses ? tp_driver_ccache_text(argc, argv, depends) : 0;
}
