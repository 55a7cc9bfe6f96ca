# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The recorder for targets: one static 'teeperf' that records, and needs nothing of C++, libdwarf,
# libelf and SQLite. The files of cli/target/ stand in for what of the complete command it goes
# without. zstd is used if it can be linked. With TEEPERF_EVENTS it has 'record --events', and
# libbpf with libelf and zlib, which that needs.

option(TEEPERF_STATIC "link the recorder for targets statically" ON)
option(TEEPERF_EVENTS "the recorder for targets has 'record --events', by the toolchain's libbpf, libelf and zlib" OFF)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# A header for any processor. Alone in a folder, so that no other header of the building machine is
# seen.
find_file(TEEPERF_XXHASH_HEADER xxhash.h)
find_file(TEEPERF_XXHASH_HEADER xxhash.h NO_CMAKE_FIND_ROOT_PATH PATHS /usr/local/include /usr/include)
if(NOT TEEPERF_XXHASH_HEADER)
	message(FATAL_ERROR "xxhash.h is not there (package libxxhash-dev); no library of it is needed")
endif()
configure_file("${TEEPERF_XXHASH_HEADER}" "${TEEPERF_GENERATED_DIR}/system/xxhash.h" COPYONLY)
include_directories(SYSTEM "${TEEPERF_GENERATED_DIR}/system")

include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES zstd)
if(TEEPERF_STATIC)
	set(CMAKE_REQUIRED_LINK_OPTIONS -static)
endif()
check_c_source_compiles("#include <zstd.h>
	int main(void) { return ZSTD_createCCtx() == 0; }" TEEPERF_TARGET_ZSTD)

set(not_bpf "kernel/bpf|kernel/events\\.bpf")
if(TEEPERF_EVENTS)
	if(TEEPERF_STATIC)
		set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
	endif()
	find_package(Python3 COMPONENTS Interpreter REQUIRED)
	include(TeePerfBpf)
	find_library(TEEPERF_LIBELF elf)
	find_library(TEEPERF_ZLIB z)
	if(NOT TEEPERF_BPF_OBJECT OR NOT TEEPERF_LIBELF OR NOT TEEPERF_ZLIB)
		message(FATAL_ERROR "TEEPERF_EVENTS takes clang, and libbpf, libelf and zlib for the target, static ones unless "
			"TEEPERF_STATIC is OFF (packages libbpf-dev, libelf-dev, zlib1g-dev)")
	endif()
	set(not_bpf "kernel/bpf_absent|kernel/events\\.bpf")
endif()

teeperf_sources(sources "common/*.c" "common/chunks/*.c" "recorder/*.c" "recorder/*/*.c" "allowlists/language/*.c" "cli/target/*.c"
	"cli/command/command.c" "cli/command/terminal.c" "cli/record/*.c")
list(FILTER sources EXCLUDE REGEX
	"/(linkage_name|zipped_text|(budget|measure)/[a-z]+|record/(inner_join|budget)|${not_bpf})\\.c$")
foreach(file analyzer/trace/chunk_read analyzer/trace/host_threads analyzer/trace/meters analyzer/trace/modules
		analyzer/trace/reader analyzer/trace/sched analyzer/trace/sections analyzer/trace/selections
		analyzer/trace/source analyzer/trace/switches analyzer/trace/system analyzer/trace/timebase
		analyzer/trace/tracefile analyzer/trace/verify cli/doctor/tee cli/main cli/command/options)
	list(APPEND sources "${PROJECT_SOURCE_DIR}/${file}.c")
endforeach()
list(TRANSFORM TEEPERF_TARGET_COMMANDS PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE commands)
if(TEEPERF_TARGET_ZSTD)
	list(FILTER sources EXCLUDE REGEX "/target/chunk_codec\\.c$")
else()
	list(FILTER sources EXCLUDE REGEX "/common/chunks/chunk_codec\\.c$")
	message(STATUS "No zstd for the target: its recorder has no --compress")
endif()

add_executable(teeperf ${sources} ${commands})
target_link_libraries(teeperf PRIVATE tp_flags Threads::Threads m)
target_compile_definitions(teeperf PRIVATE XXH_INLINE_ALL)
target_compile_options(teeperf PRIVATE -ffunction-sections -fdata-sections)
target_link_options(teeperf PRIVATE -Wl,--gc-sections)
if(TEEPERF_TARGET_ZSTD)
	target_link_libraries(teeperf PRIVATE zstd)
endif()
if(TEEPERF_EVENTS)
	target_sources(teeperf PRIVATE "${TEEPERF_BPF_OBJECT}")
	target_include_directories(teeperf SYSTEM PRIVATE "${TEEPERF_LIBBPF_INCLUDE}")
	target_link_libraries(teeperf PRIVATE "${TEEPERF_LIBBPF}" "${TEEPERF_LIBELF}" "${TEEPERF_ZLIB}")
endif()
if(TEEPERF_STATIC)
	set_target_properties(teeperf PROPERTIES POSITION_INDEPENDENT_CODE OFF)
	target_link_options(teeperf PRIVATE -static)
endif()
install(TARGETS teeperf RUNTIME DESTINATION bin)
