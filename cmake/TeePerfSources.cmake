# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What all targets are compiled with, and how their sources are found.

# Of C, where warnings are errors. Left out are, with what they find here:
#   -Wcast-qual              C's own interfaces (posix_spawn, zlib, libdwarf) that lack a const
#   -Wdouble-promotion       NAN, which is a float
#   -Wswitch-enum, -default  switches over some of an enum, which -Wswitch sees where there is no default
#   -Wjump-misses-init       goto out
#   -Wredundant-decls        runtime.h declares what teeperf.h does, with the runtime's attributes
#   -Wfloat-equal, -Wbad-function-cast, -Wformat-signedness, -Wunused-macros    no mistake so far
#   -Wformat-nonliteral (of -Wformat=2)    what passes on a format that its callers have as a literal
#   -Wunreachable-code       what another processor's build alone gets to, as '--pid' on other processors than x86-64
#   -Wnull-dereference, -fanalyzer    false alarms, which change with the level of optimisation
set(strict -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wmissing-declarations -Wold-style-definition
	-Wnested-externs -Wundef -Wwrite-strings -Wpointer-arith -Wformat=2 -Wno-format-nonliteral -Wvla -Walloca
	-Wunused-const-variable -Wenum-conversion -Wpacked -Wdate-time -Winit-self -Wmissing-include-dirs)
set(strict_gcc -Wconversion -Wsign-conversion -Wfloat-conversion -Wcast-align=strict -Wimplicit-fallthrough=5
	-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wshift-overflow=2 -Wattribute-alias=2 -Wtrampolines
	-Wsync-nand)
set(strict_clang -Wcast-align -Wimplicit-fallthrough -Wassign-enum -Wextra-semi-stmt
	-Wloop-analysis -Wnewline-eof -Wheader-hygiene)

add_library(tp_flags INTERFACE)
target_compile_options(tp_flags INTERFACE -Wall -Wextra)
if(TEEPERF_WERROR)
	target_compile_options(tp_flags INTERFACE -Werror $<$<COMPILE_LANGUAGE:C>:${strict}>
		$<$<COMPILE_LANG_AND_ID:C,GNU>:${strict_gcc}> $<$<COMPILE_LANG_AND_ID:C,Clang>:${strict_clang}>)
endif()
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
