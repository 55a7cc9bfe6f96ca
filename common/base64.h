/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Base64 as in RFC 4648, section 4: with '=' at the end, in one line.
 */
#ifndef TP_BASE64_H
#define TP_BASE64_H

#include "common/buf.h"

void tp_base64_add(struct tp_buf *out, const void *bytes, size_t size);

#endif
