/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Packs text as a zstd frame, which contains its own size, and unpacks it. The input of unpacking
 * is untrusted.
 */
#ifndef TP_ZIPPED_TEXT_H
#define TP_ZIPPED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

/* Limits of an unpacked frame: times its packed size, and bytes. */
enum { TP_ZIPPED_RATIO_MAX = 1024 };
#define TP_ZIPPED_BYTES_MAX (UINT64_C(1) << 30)

/* Append SIZE bytes of TEXT as one frame; out->failed if memory runs out. */
void tp_zipped_add(struct tp_buf *out, const char *text, size_t size);

/* Whether a frame begins at DATA of SIZE bytes. */
bool tp_zipped_begins(const void *data, size_t size);

/*
 * The size of the frame at DATA, of which SIZE bytes exist (*packed), and its size unpacked
 * (*unpacked).
 * False: it is damaged, or unpacks to more than the limit.
 */
bool tp_zipped_size(const void *data, size_t size, size_t *packed, size_t *unpacked);

/* Unpack this frame, of PACKED bytes, TO exactly UNPACKED bytes. False: it is damaged. */
bool tp_zipped_unpack(const void *data, size_t packed, char *to, size_t unpacked);

#endif
