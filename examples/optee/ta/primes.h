/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the application is for. */
#ifndef PRIMES_H
#define PRIMES_H

#include <stdint.h>

/* How many primes are below LIMIT. */
uint32_t primes_below(uint32_t limit);

#endif
