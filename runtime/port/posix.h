/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Between the files of the POSIX port. */
#ifndef TP_PORT_POSIX_H
#define TP_PORT_POSIX_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"

/* Map a log's file, without its first `offset` bytes, as tp_port_map_log. */
TP_HIDDEN bool tp_port_map_file(
    int fd, uint64_t offset, uint64_t alignment, void **base, uint64_t *size);

/* Map the log that TEEPERF_LOG names, as tp_port_map_log. */
TP_HIDDEN bool tp_port_map_named(uint64_t alignment, void **base, uint64_t *size);

/*
 * Name of the environment variable that says where a stream (stream.h) goes: PATH, fd:N (inherited), unix:PATH,
 * or vsock:CID:PORT.
 */
#define TEEPERF_STREAM_ENV "TEEPERF_STREAM"

/* A private log that is sent there, as tp_port_map_log. Of the ports that have port_posix_stream.c. */
TP_HIDDEN bool tp_port_map_stream(void **base, uint64_t *size);

/* Keep what the environment says about logs for more processes; it may be cleared later. May be NULL. */
TP_HIDDEN void tp_port_fork_setting(const char *text);

/* The handler of pthread_atfork. */
TP_HIDDEN void tp_port_forked(void);

#endif
