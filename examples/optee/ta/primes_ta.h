/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the application and its client agree on. */
#ifndef PRIMES_TA_H
#define PRIMES_TA_H

#define PRIMES_TA_UUID                                                 \
	{                                                              \
		0x3f6d2a1c, 0x7b0e, 0x4f5d,                            \
		{                                                      \
			0x9a, 0x64, 0x5e, 0x1f, 0x0c, 0x8b, 0x7d, 0x21 \
		}                                                      \
	}

/* Parameter 0, a value: how many primes are below a; the answer is in a. */
#define PRIMES_COUNT 1

/*
 * Parameter of each command in which the log comes, if there is a recorder: a registered memory, in
 * and out.
 */
#define PRIMES_LOG 3

#endif
