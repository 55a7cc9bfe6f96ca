/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who has a log mapped: no lock tells, since the program closes the file. */
#ifndef TP_LOG_USER_H
#define TP_LOG_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether the process has mapped the file, as far as we can see. */
bool tp_log_file_maps(pid_t pid, dev_t device, ino_t inode);

/* A process other than this one that has mapped the file (device, inode); 0 if there is none that we can see. */
pid_t tp_log_file_user(dev_t device, ino_t inode);

/*
 * Whether anybody else on this machine's kernel has the file that is open as `fd`, with or without a descriptor,
 * whether or not we may look at him: 1, 0, or -1 if the kernel does not say.
 */
int tp_log_file_in_use(int fd);

#endif
