/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Between alone.c and the ports that it is a part of. */
#ifndef TP_PORT_ALONE_H
#define TP_PORT_ALONE_H

#include "runtime/runtime.h"

/* Unless the port defines it. */
#define TP_OTHERWISE __attribute__((weak))

#endif
