/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The compiler driver behind `teeperf cc` and `teeperf c++`: finds the clang, the plugin and the
 * runtime that belong together, adds what they need to the command line, and becomes the compiler.
 */
#ifndef TP_DRIVER_H
#define TP_DRIVER_H

#include "cli/command/command.h"
#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum { TP_DRIVER_PATH_SIZE = PATH_MAX, TP_DRIVER_FIRST_LLVM = 14, TP_DRIVER_LAST_LLVM = 40 };

/* Which linker a command line chooses, as far as its name says. */
enum tp_driver_linker {
	TP_LINKER_DEFAULT = 0, /* it chooses none */
	TP_LINKER_LLD,
	TP_LINKER_NO_PLUGIN, /* gold, mold, GNU ld: they load no plugin of LLVM's */
	TP_LINKER_OTHER,
};

/* What one compiler command line asks for. */
struct tp_driver_plan {
	bool compiles;     /* some source is compiled: the plugin is of use */
	bool links;        /* an executable or shared object comes out */
	bool combines;     /* -r: object files become one, which a later link takes */
	bool preprocesses; /* -E */
	bool preprocessed; /* some source has been preprocessed already */
	bool thin_backend; /* -fthinlto-index: the second half of distributed ThinLTO */
	bool no_passes;    /* LLVM's passes are left out, and so is the plugin */
	bool partitions;   /* --lto-partitions, for the linker */
	bool libc_again;   /* -nodefaultlibs or -nostdlib, with -lc: before the runtime only */
	bool shared;       /* -shared */
	bool is_static;    /* -static or -static-pie */
	bool lto;          /* -flto, not taken back later */
	bool zero;         /* -O0 is the last -O */
	bool emulated_tls; /* -femulated-tls, not taken back later */
	enum tp_driver_linker linker;
	char linker_name[TP_DRIVER_PATH_SIZE]; /* as it was given, such as lld or /usr/bin/ld.lld */
	char machine
	    [16]; /* the processor of --target, as x86_64, aarch64 or riscv64; "": not given */
};

/* Read a compiler's arguments (without its name); response files are looked into. */
struct tp_driver_plan tp_driver_plan(int argc, char *const *argv);

/* What a compiler command line links; words are NUL-ended, one behind the other. */
struct tp_driver_inputs {
	char output[TP_DRIVER_PATH_SIZE];
	struct tp_buf folders;   /* -L */
	struct tp_buf libraries; /* -l: their names; shared libraries given as files: their paths */
};

/* Read a compiler's arguments (without its name). Release it in any case. */
void tp_driver_inputs_read(struct tp_driver_inputs *inputs, int argc, char *const *argv);
void tp_driver_inputs_release(struct tp_driver_inputs *inputs);

/* Where this installation (or build tree) keeps its libraries: PREFIX/lib. 0 or TP_ERR_SYSTEM. */
int tp_driver_libraries(char path[TP_DRIVER_PATH_SIZE], struct tp_err *err);

/*
 * Become the program of this name in the Python package, with the path of this one and WORDS (ended
 * by NULL) as its arguments. Returns a negative tp_error.
 */
int tp_driver_python(const char *name, const char *const *words, struct tp_err *err);

/* The plugin for LLVM `major`; false if it is not there. */
bool tp_driver_plugin(const char *libraries, uint32_t major, char path[TP_DRIVER_PATH_SIZE]);

/* Whether the plan is for another processor than this one. */
bool tp_driver_is_foreign(const struct tp_driver_plan *plan);

/*
 * Where the runtime for the plan's processor is, below `libraries`; TP_ERR_NOT_FOUND if there is
 * none.
 */
int tp_driver_runtime(const char *libraries, const struct tp_driver_plan *plan,
    char path[TP_DRIVER_PATH_SIZE], struct tp_err *err);

/*
 * The tool NAME (clang, clang++, ld.lld) of LLVM `major`: NAME-MAJOR along PATH, then in
 * /usr/lib/llvm-MAJOR/bin, then plain NAME if that is of this major. False if there is none.
 */
bool tp_driver_tool(const char *name, uint32_t major, char path[TP_DRIVER_PATH_SIZE]);
/* The major that the tool PATH says with --version; 0 if unclear. */
uint32_t tp_driver_tool_major(const char *path);

/* The platform that is linked for. */
struct tp_driver_port {
	const char *name;    /* NULL: the usual one */
	bool is_posix;       /* threads, shared libraries and a loader */
	const char *threads; /* its code is compiled with TEEPERF_THREADS (abi.h) */
};

/* The port of that name (NULL or empty: the usual one); false if there is none. */
bool tp_driver_port_find(const char *name, struct tp_driver_port *port);

/* Its runtime, as an archive; RUNTIME is the folder of the usual one. */
int tp_driver_port_archive(const struct tp_driver_port *port, const char *runtime, bool is_foreign,
    char path[TP_DRIVER_PATH_SIZE], struct tp_err *err);

/* The driver's own options. */
struct tp_driver_settings {
	uint32_t major; /* of LLVM */
	struct tp_driver_port port;
	bool is_off; /* level off: nothing of ours but the runtime, for objects that ask for it */
	bool checks; /* the link's allowlist */
};

/*
 * Take our options out of argv, which has no command name, and put what holds of all of them into
 * the environment. 0 or an exit code.
 */
int tp_driver_options_take(int *argc, char **argv, struct tp_driver_settings *settings);

/* Take what they say out of the environment. */
void tp_driver_options_forget(void);

/* The options of both commands, ended by type TP_OPTION_END (options.h). */
extern const struct tp_option tp_driver_options[];

/*
 * Whether ccache has started this process, which must learn what the object depends on; PATH: which
 * one.
 */
bool tp_driver_ccache(char path[TP_DRIVER_PATH_SIZE]);

/*
 * For ccache, which looks for objects by the text that the preprocessor writes and by the words of
 * the command: append to that text (of -E) what else the object depends on, the settings in the
 * environment, the lists and TOOLS (paths, ended by NULL). 0 or an exit code.
 */
int tp_driver_ccache_text(int argc, char *const *argv, const char *const *tools);

/* Refuse to compile for a ccache, PATH, that never asks for that text. 0 or an exit code. */
int tp_driver_ccache_refuse(const char *path, const struct tp_driver_plan *plan);

/*
 * Run PROGRAM with ARGV as exec would, as far as that can be: signals to this process reach it, and
 * if it is ended by one, so is this process. Returns its exit code; or -1 with *err if it could not
 * be started.
 */
int tp_driver_spawn(const char *program, char **argv, struct tp_err *err);

/* Warn on standard error of what the link with these arguments has done to instrumented code. */
void tp_driver_check_faults(int argc, char *const *argv);

/*
 * Check the allowlist in the environment against what the link with these arguments made, and warn
 * on standard error. Whatever goes wrong here does not concern the link.
 */
void tp_driver_check(const struct tp_driver_plan *plan, int argc, char *const *argv);

/* Run clang's driver NAME ("clang" or "clang++"). Returns only if that fails. */
int tp_driver_run(const char *name, int argc, char **argv);

#endif
