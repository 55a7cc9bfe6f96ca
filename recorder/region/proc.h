/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the kernel says of a process in /proc/PID/NAME, or of the machine in /proc/NAME: PID is 0
 * then.
 */
#ifndef TP_PROC_H
#define TP_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * At most ROOM - 1 bytes into TEXT, with a NUL behind them. How many; 0: there is none, or it
 * cannot be read.
 */
size_t tp_proc_read(pid_t pid, const char *name, char *text, size_t room);

/*
 * *VALUE, by the first line that FORMAT fits, which is scanf's with one conversion. False: there is
 * none.
 */
bool tp_proc_scan(pid_t pid, const char *name, const char *format, void *value);

/* What /proc/cpuinfo has behind "KEY : " first, to be freed; NULL: nothing. */
char *tp_proc_cpu(const char *key);

/*
 * A file that a process may have mapped: one whose path contains `path`, or, if that is NULL, this
 * one.
 */
struct tp_mapped {
	const char *path;
	dev_t device;
	ino_t inode;
};

/*
 * Whether the process has mapped it: 1, 0, or -1 if we may not look. (No lock tells, since programs
 * close their log.)
 */
int tp_proc_maps(pid_t pid, const struct tp_mapped *file);

/* A process other than this one that has; 0 if there is none that we can see. */
pid_t tp_proc_user(const struct tp_mapped *file);

/*
 * Whether anybody else on this machine's kernel has the file that is open as `fd`, with or without
 * a descriptor, whether or not we may look at him: 1, 0, or -1 if the kernel does not say.
 */
int tp_file_in_use(int fd);

#endif
