/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files without a name, for what does not fit into memory. */
#ifndef TP_TEMPORARY_H
#define TP_TEMPORARY_H

/*
 * A new file, open for reading and writing, that is gone when it is closed; or -1, and errno. In the folder
 * TMPDIR, else in /var/tmp, as /tmp may be memory: *FOLDER is it, until the environment changes.
 */
int tp_temporary_open(const char **folder);

#endif
