/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For ports whose program is one ELF image that is in memory with its header. */
#ifndef TP_PORT_ELF_IMAGE_H
#define TP_PORT_ELF_IMAGE_H

#include <stdbool.h>

#include "runtime/runtime.h"

/*
 * What the ELF header at `image` tells: bias, start, end, build ID and where the code is. False if there is no such header.
 * What it says is the program's own, so it is believed.
 */
TP_HIDDEN bool tp_elf_image_describe(const void *image, struct teeperf_module *module);

/* The program may define it: where its file is, absolute, for whoever looks up names. */
extern const char *const teeperf_image_path __attribute__((weak));

/* Its path into the module, if there is one. */
TP_HIDDEN void tp_elf_image_path(struct teeperf_module *module);

#endif
