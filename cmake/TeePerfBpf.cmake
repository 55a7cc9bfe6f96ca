# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The BPF programs of 'record --events' (recorder/kernel/events.bpf.c), compiled and embedded. They
# need clang, whichever compiles the rest, and libbpf; nothing of the running kernel.
# TEEPERF_BPF_OBJECT is the generated source, empty if they are not built.

find_program(TEEPERF_BPF_CLANG NAMES clang-19 clang-22 clang-16 clang-14 clang)
find_path(TEEPERF_LIBBPF_INCLUDE bpf/libbpf.h)
find_library(TEEPERF_LIBBPF bpf)
set(TEEPERF_BPF_OBJECT)
set(missing)
if(NOT TEEPERF_BPF_CLANG)
	list(APPEND missing clang)
endif()
if(NOT TEEPERF_LIBBPF_INCLUDE OR NOT TEEPERF_LIBBPF)
	list(APPEND missing "libbpf (package libbpf-dev)")
endif()
if(missing)
	list(JOIN missing " and " missing)
	message(STATUS "No ${missing}: this teeperf will refuse 'record --events'")
	return()
endif()

set(arch x86)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
	set(arch arm64)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64")
	set(arch riscv)
endif()
set(TEEPERF_BPF_OBJECT "${TEEPERF_GENERATED_DIR}/bpf_object.c")
set(source "${PROJECT_SOURCE_DIR}/recorder/kernel/events.bpf.c")
set(object "${TEEPERF_GENERATED_DIR}/events.bpf.o")
add_custom_command(OUTPUT "${TEEPERF_BPF_OBJECT}"
	COMMAND "${TEEPERF_BPF_CLANG}" -target bpf -mcpu=v3 -O2 -g -ffreestanding -Wall -Wextra -Wno-unused-parameter
		-D__TARGET_ARCH_${arch} -I "${PROJECT_SOURCE_DIR}" -I "${PROJECT_SOURCE_DIR}/include"
		-I "${TEEPERF_LIBBPF_INCLUDE}" -idirafter "/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}"
		-idirafter "/usr/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu/include"
		-c "${source}" -o "${object}"
	COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/recorder/kernel/embed.py" "${TEEPERF_BPF_OBJECT}" "${object}"
	DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/recorder/kernel/bpf_shared.h" "${PROJECT_SOURCE_DIR}/include/teeperf/trace.h"
		"${PROJECT_SOURCE_DIR}/recorder/kernel/embed.py"
	VERBATIM)
add_custom_target(tp_bpf_object DEPENDS "${TEEPERF_BPF_OBJECT}")
