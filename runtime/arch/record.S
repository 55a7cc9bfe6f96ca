// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sequence of abi.h as a routine, for code that was compiled in the shape "call".
#include "routine.inc"

	.macro	record symbol, timed, position
	begin	\symbol, 6
	record_body \timed, \position
	end	\symbol
	.endm

	record	__teeperf_record, 1, 0
	record	__teeperf_record_untimed, 0, 0
	record	__teeperf_record_position, 1, 1
