/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A link with an allowlist: runs the compiler and then tells which lines of the list record nothing
 * in what came out. Functions that other object files hold may be inlined or missing: no single
 * compilation can know.
 */
#ifndef TP_DRIVER_LINK_H
#define TP_DRIVER_LINK_H

#include "common/buf.h"
#include "driver.h"

/* What a compiler command line links; words are NUL-ended, one behind the other. */
struct tp_driver_inputs {
	char output[TP_DRIVER_PATH_SIZE];
	struct tp_buf folders;   /* -L */
	struct tp_buf libraries; /* -l: their names; shared libraries given as files: their paths */
};

/* Read a compiler's arguments (without its name). Release it in any case. */
void tp_driver_inputs_read(struct tp_driver_inputs *inputs, int argc, char *const *argv);
void tp_driver_inputs_release(struct tp_driver_inputs *inputs);

/* The platform that is linked for. */
struct tp_driver_port {
	const char *name;    /* NULL: the usual one */
	bool is_posix;       /* threads, shared libraries and a loader */
	bool has_one_thread; /* each instance of a program; its code is compiled for that (abi.h) */
};

/* The port of that name (NULL or empty: the usual one); false if there is none. */
bool tp_driver_port_find(const char *name, struct tp_driver_port *port);

/* Its runtime, as an archive; RUNTIME is the folder of the usual one. */
int tp_driver_port_archive(const struct tp_driver_port *port, const char *runtime, bool is_foreign,
    char path[TP_DRIVER_PATH_SIZE], struct tp_err *err);

/*
 * Run PROGRAM with ARGV as exec would, as far as that can be: signals to this process reach it, and
 * if it is ended by one, so is this process. Returns its exit code; or -1 with *err if it could not
 * be started.
 */
int tp_driver_spawn(const char *program, char **argv, struct tp_err *err);

/*
 * Check the allowlist in the environment against what the link with these arguments made, and warn
 * on standard error. Whatever goes wrong here does not concern the link.
 */
void tp_driver_check(const struct tp_driver_plan *plan, int argc, char *const *argv);

#endif
