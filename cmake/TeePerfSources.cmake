# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What all targets are compiled with, and how their sources are found.

add_library(tp_flags INTERFACE)
target_compile_options(tp_flags INTERFACE -Wall -Wextra $<$<BOOL:${TEEPERF_WERROR}>:-Werror>)
target_include_directories(tp_flags INTERFACE
	"${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include" "${TEEPERF_GENERATED_DIR}")

# Set OUT to the files that match the globs; to an empty source if there are none, which a target
# may not be without.
file(CONFIGURE OUTPUT "${TEEPERF_GENERATED_DIR}/empty.c" CONTENT "typedef int tp_empty;\n")
function(teeperf_sources out)
	set(globs)
	foreach(glob IN LISTS ARGN)
		list(APPEND globs "${PROJECT_SOURCE_DIR}/${glob}")
	endforeach()
	file(GLOB sources CONFIGURE_DEPENDS ${globs})
	if(NOT sources)
		set(sources "${TEEPERF_GENERATED_DIR}/empty.c")
	endif()
	set(${out} "${sources}" PARENT_SCOPE)
endfunction()
