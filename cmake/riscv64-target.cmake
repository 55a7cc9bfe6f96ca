# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The toolchain of preset 'riscv64-target'.
set(TEEPERF_MACHINE riscv64)
include("${CMAKE_CURRENT_LIST_DIR}/linux-target.cmake")
