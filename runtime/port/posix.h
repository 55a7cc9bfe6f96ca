/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Between the files of the POSIX port. */
#ifndef TP_PORT_POSIX_H
#define TP_PORT_POSIX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"

struct dl_phdr_info;
/* Functions of the C library, not of the program (port/posix_names.c). Each may be NULL. */
struct tp_port_names {
	bool known;
	bool in_loader; /* a loader has put the program's modules together: it is not static */
	unsigned long (*auxiliary)(unsigned long type);
	int (*make_key)(pthread_key_t *key, void (*ends)(void *));
	int (*set_value)(pthread_key_t key, const void *value);
	int (*at_fork)(void (*prepare)(void), void (*parent)(void), void (*child)(void));
	int (*each_module)(
	    int (*found)(struct dl_phdr_info *info, size_t size, void *data), void *data);
};
TP_HIDDEN const struct tp_port_names *tp_port_names(void);

/*
 * SIZE bytes of addresses, in which nothing is; and LENGTH bytes of the file FD, mapped shared.
 * MAP_FAILED: there is no room. In an object file apart from those that call them, so that a test
 * can put guards around the log by the linker's --wrap.
 */
TP_HIDDEN void *tp_port_reserve(uint64_t size);
TP_HIDDEN void *tp_port_map_whole(int fd, uint64_t length);

/* As secure_getenv(3): a set-user-ID program must not write where its caller says. */
TP_HIDDEN const char *tp_port_environment(const char *name);

/* Map a log's file, without its first `offset` bytes, as tp_port_map_log. */
TP_HIDDEN bool tp_port_map_file(int fd, uint64_t offset, void **base, uint64_t *size);

/* Map the log that TEEPERF_LOG names, as tp_port_map_log. */
TP_HIDDEN bool tp_port_map_named(void **base, uint64_t *size);

/*
 * Name of the environment variable that says where a stream (stream.h) goes: PATH, fd:N
 * (inherited), unix:PATH, or vsock:CID:PORT.
 */
#define TEEPERF_STREAM_ENV "TEEPERF_STREAM"

/*
 * A private log that is sent there, as tp_port_map_log. Of the ports that have port_posix_stream.c.
 */
TP_HIDDEN bool tp_port_map_stream(void **base, uint64_t *size);

/* A log's file, to be read and written; -1 without one. PATH may be NULL. */
TP_HIDDEN int tp_port_open(const char *path);

/* The decimal number up to END, behind which *text is then; UINT64_MAX if it is none. */
TP_HIDDEN uint64_t tp_port_number(const char **text, char end);
/* The text behind PREFIX, or NULL. */
TP_HIDDEN const char *tp_port_behind(const char *text, const char *prefix);

/* Block these signals alone, by a plain system call; those that were before. */
TP_HIDDEN uint64_t tp_port_block_signals(uint64_t set);

/*
 * Keep what the environment says about logs for more processes; it may be cleared later. May be
 * NULL.
 */
TP_HIDDEN void tp_port_fork_setting(const char *text);

/* As tp_port_find_module, of a module that was remembered (port.h). */
bool tp_port_recall(const void *anchor, struct teeperf_module *module);

/* What late.h is about, in C. */
TP_HIDDEN uint64_t tp_late_call(uint64_t command, const char *path);

/* The handler of pthread_atfork. */
TP_HIDDEN void tp_port_forked(void);

#endif
