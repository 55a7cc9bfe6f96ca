/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The compiler driver behind `teeperf cc` and `teeperf c++`: finds the clang, the plugin and the
 * runtime that belong together, adds what they need to the command line, and becomes the compiler.
 */
#ifndef TP_DRIVER_H
#define TP_DRIVER_H

#include "cli/command/command.h"

#include <stdbool.h>
#include <stdint.h>

enum { TP_DRIVER_PATH_SIZE = 4096, TP_DRIVER_FIRST_LLVM = 14, TP_DRIVER_LAST_LLVM = 40 };

/* What one compiler command line asks for. */
struct tp_driver_plan {
	bool compiles;     /* some source is compiled: the plugin is of use */
	bool links;        /* an executable or shared object comes out */
	bool shared;       /* -shared */
	bool is_static;    /* -static or -static-pie */
	bool lto;          /* -flto, not taken back later */
	bool zero;         /* -O0 is the last -O */
	bool emulated_tls; /* -femulated-tls, not taken back later */
	bool has_linker;   /* the linker is chosen by the user */
	char machine
	    [16]; /* the processor of --target, as x86_64, aarch64 or riscv64; "": not given */
};

/* Read a compiler's arguments (without its name); response files are looked into. */
struct tp_driver_plan tp_driver_plan(int argc, char *const *argv);

/* Where this installation (or build tree) keeps its libraries: PREFIX/lib. 0 or TP_ERR_SYSTEM. */
int tp_driver_libraries(char path[TP_DRIVER_PATH_SIZE], struct tp_err *err);

/* The plugin for LLVM `major`; false if it is not there. */
bool tp_driver_plugin(const char *libraries, uint32_t major, char path[TP_DRIVER_PATH_SIZE]);

/* Whether the plan is for another processor than this one. */
bool tp_driver_is_foreign(const struct tp_driver_plan *plan);

/* Where the runtime for the plan's processor is, below `libraries`; TP_ERR_NOT_FOUND if there is none. */
int tp_driver_runtime(const char *libraries, const struct tp_driver_plan *plan,
    char path[TP_DRIVER_PATH_SIZE], struct tp_err *err);

/* The program NAME along PATH. False if there is none. */
bool tp_driver_find(const char *name, char path[TP_DRIVER_PATH_SIZE]);

/*
 * The tool NAME (clang, clang++, ld.lld) of LLVM `major`: NAME-MAJOR along PATH, then in
 * /usr/lib/llvm-MAJOR/bin, then plain NAME if that is of this major. False if there is none.
 */
bool tp_driver_tool(const char *name, uint32_t major, char path[TP_DRIVER_PATH_SIZE]);

/* The options of both commands, ended by type TP_OPTION_END (options.h). */
extern const struct tp_option tp_driver_options[];

/* Run clang's driver NAME ("clang" or "clang++"). Returns only if that fails. */
int tp_driver_run(const char *name, int argc, char **argv);

#endif
