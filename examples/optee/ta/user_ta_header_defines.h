/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The dev kit makes the application's header of this. */
#ifndef USER_TA_HEADER_DEFINES_H
#define USER_TA_HEADER_DEFINES_H

#include "primes_ta.h"

#define TA_UUID PRIMES_TA_UUID

/*
 * All sessions go to one instance. One instance for each session is recorded, too: each is a thread
 * then.
 */
#define TA_FLAGS (TA_FLAG_SINGLE_INSTANCE | TA_FLAG_MULTI_SESSION)

#define TA_STACK_SIZE (8 * 1024)
#define TA_DATA_SIZE (32 * 1024)

#endif
