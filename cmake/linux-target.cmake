# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For the toolchain files of the presets, which set TEEPERF_MACHINE: GCC for that processor, or else
# clang, which takes the C library of Debian's libc6-dev-*-cross. Buildroot and Yocto have toolchain
# files of their own.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TEEPERF_MACHINE})
find_program(TEEPERF_TARGET_GCC ${TEEPERF_MACHINE}-linux-gnu-gcc)
if(TEEPERF_TARGET_GCC)
	set(CMAKE_C_COMPILER "${TEEPERF_TARGET_GCC}")
else()
	find_program(TEEPERF_TARGET_CLANG NAMES clang-19 clang-22 clang-16 clang REQUIRED)
	set(CMAKE_C_COMPILER "${TEEPERF_TARGET_CLANG}")
	set(CMAKE_C_COMPILER_TARGET ${TEEPERF_MACHINE}-linux-gnu)
	set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld)
endif()
