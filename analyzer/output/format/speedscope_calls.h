/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The form of the export "speedscope" that has single calls. */
#ifndef TP_SPEEDSCOPE_CALLS_H
#define TP_SPEEDSCOPE_CALLS_H

#include "analyzer/output/format/slices.h"

extern const struct tp_slice_format tp_speedscope_calls;

#endif
