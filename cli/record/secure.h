/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs that run with more rights than who starts them: they do not look at the log's name. */
#ifndef TP_RECORD_SECURE_H
#define TP_RECORD_SECURE_H

/*
 * Why the kernel runs `program`, found along PATH, with rights that are not ours: "it is set-user-ID", or
 * NULL if it does not.
 */
const char *tp_record_secure(const char *program);

#endif
