/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A file that the log is to be in because somebody else has been told of it: a TEE's launcher, a manifest, a
 * virtual machine whose shared memory it is. It may be there already, with other things in it.
 */
#ifndef TP_PLACE_H
#define TP_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

struct tp_place {
	const char *path; /* the caller's */
	uint64_t offset;  /* of the log in the file; a multiple of the chunk size */
	bool force;       /* write over whatever is there */
	bool
	    guessable; /* nobody named the file to us, so anybody may have made it: take our own only */
};

struct tp_place_file {
	int fd;        /* locked (flock) */
	bool made;     /* it was not there before */
	bool fixed;    /* it has its size already, and keeps it */
	uint64_t room; /* bytes behind the offset; not fixed: that its file system has free */
	dev_t device;
	ino_t inode;
	uint64_t
	    old_size; /* bytes behind the offset that an earlier log has had; 0: there is none */
};

/*
 * Open the file, or make it (for its owner alone). Refused without `force`: what holds something that is no log,
 * and a log that a process writes whose recorder was killed; in any case a log that another recorder has,
 * symbolic links, what is no regular file, and a guessable one of somebody else.
 */
int tp_place_open(const struct tp_place *place, struct tp_place_file *file, struct tp_err *err);

/*
 * Whether `size` bytes behind the offset may be cleared, as they are zero or the earlier log's, or there is `force`.
 * pre: the file is open and fixed.
 */
int tp_place_check(const struct tp_place *place, const struct tp_place_file *file, uint64_t size,
    struct tp_err *err);

#endif
