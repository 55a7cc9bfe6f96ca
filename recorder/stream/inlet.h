/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where a stream (frames.h) comes from: a file that grows, a pipe, or a connection that we wait
 * for.
 *
 *   PATH          a file, FIFO or character device
 *   -             standard input
 *   unix:PATH     listen on a socket there; the first one to send a whole START is the program
 *   vsock::PORT   the same for virtual machines; vsock:CID:PORT takes only the one with this CID
 */
#ifndef TP_STREAM_INLET_H
#define TP_STREAM_INLET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "recorder/region/doorbell.h"

struct tp_inlet {
	const char *name; /* the caller's */
	int fd;
	bool grows;          /* a regular file: at its end more may come */
	bool over;           /* it has ended, or cannot be read; not: we were asked to end */
	int listener;        /* -1: none */
	uint32_t cid;        /* of the virtual machine that may connect */
	char *path;          /* of the listener, to be removed; NULL: none */
	uint64_t opened_ns;  /* when that was, by the monotonic clock */
	uint64_t timeout_ms; /* without a byte for so long the stream is over; UINT64_MAX: never */
	uint64_t finish;     /* 1: it is over when nothing more is there */
	uint64_t stop;       /* 1: it is over at once */
	struct tp_doorbell bell;
};

/*
 * Open it, or listen. TP_ERR_SYSTEM if there is no such thing here. On success free it with
 * tp_inlet_release.
 */
int tp_inlet_open(
    struct tp_inlet *inlet, const char *name, uint64_t timeout_ms, struct tp_err *err);
void tp_inlet_release(struct tp_inlet *inlet);

/*
 * Called by any other thread: tp_inlet_read returns the buffered data, and then the end; or the end
 * at once.
 */
void tp_inlet_finish(struct tp_inlet *inlet);
void tp_inlet_stop(struct tp_inlet *inlet);

/*
 * Let go of a connection that brought no program, and wait for the next. False: it was none, or we
 * are to stop.
 */
bool tp_inlet_again(struct tp_inlet *inlet);

/* The program has come: others who connect are refused, and do not wait in a queue. */
void tp_inlet_close_listener(struct tp_inlet *inlet);

/* How many bytes of a regular file were not read. */
uint64_t tp_inlet_rest(const struct tp_inlet *inlet);

/* A tp_frames_read: waits for a connection first. */
int64_t tp_inlet_read(void *inlet, void *to, uint64_t size, struct tp_err *err);

#endif
