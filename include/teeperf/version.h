/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The release, and nothing else: the build reads it from here. The log and the trace format have
 * versions of their own.
 */
#ifndef TEEPERF_VERSION_H
#define TEEPERF_VERSION_H

#define TEEPERF_VERSION "0.2.0"

#endif
