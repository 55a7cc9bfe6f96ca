# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which LLVM majors the plugin is built for. A plugin fits one major only, so several may be asked
# for at once; find_package(LLVM) takes whichever it meets first, so llvm-config-N is asked instead.
#
# Sets TEEPERF_MAJORS, TEEPERF_DEFAULT_MAJOR, and for each major N TEEPERF_LLVM_<N>_INCLUDE and
# TEEPERF_LLVM_<N>_CLANG.

set(TEEPERF_SUPPORTED_MAJORS 14 16 19 22)

# Look for major N. Sets WHY to the reason why it cannot be used, or to nothing.
function(teeperf_find_llvm major why)
	set(${why} "" PARENT_SCOPE)
	find_program(TEEPERF_LLVM_${major}_CONFIG llvm-config-${major})
	find_program(TEEPERF_LLVM_${major}_CLANG clang-${major})
	if(NOT TEEPERF_LLVM_${major}_CONFIG)
		set(${why} "llvm-config-${major} is not there (package llvm-${major}-dev)" PARENT_SCOPE)
		return()
	endif()
	if(NOT TEEPERF_LLVM_${major}_CLANG)
		set(${why} "clang-${major} is not there (package clang-${major})" PARENT_SCOPE)
		return()
	endif()
	execute_process(COMMAND "${TEEPERF_LLVM_${major}_CONFIG}" --version --includedir
		OUTPUT_VARIABLE answer RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
	if(NOT status EQUAL 0)
		set(${why} "${TEEPERF_LLVM_${major}_CONFIG} fails" PARENT_SCOPE)
		return()
	endif()
	string(REGEX REPLACE "\n.*" "" version "${answer}")
	string(REGEX REPLACE "[^\n]*\n" "" include "${answer}")
	if(NOT version MATCHES "^${major}\\.")
		set(${why} "${TEEPERF_LLVM_${major}_CONFIG} belongs to LLVM ${version}" PARENT_SCOPE)
		return()
	endif()
	if(NOT EXISTS "${include}/llvm-c/Core.h")
		set(${why} "${include}/llvm-c/Core.h is not there (package llvm-${major}-dev)"
			PARENT_SCOPE)
		return()
	endif()
	set(TEEPERF_LLVM_${major}_INCLUDE "${include}" PARENT_SCOPE)
endfunction()

set(TEEPERF_MAJORS)
if(TEEPERF_LLVM_MAJORS STREQUAL "none")
	set(TEEPERF_DEFAULT_MAJOR 19)
elseif(TEEPERF_LLVM_MAJORS STREQUAL "")
	foreach(major IN LISTS TEEPERF_SUPPORTED_MAJORS)
		teeperf_find_llvm(${major} why)
		if(NOT why)
			list(APPEND TEEPERF_MAJORS ${major})
		endif()
	endforeach()
	if(NOT TEEPERF_MAJORS)
		list(JOIN TEEPERF_SUPPORTED_MAJORS ", " text)
		message(FATAL_ERROR "no LLVM with clang was found to build the plugin for "
			"(one of ${text}): run tools/setup")
	endif()
else()
	foreach(major IN LISTS TEEPERF_LLVM_MAJORS)
		if(NOT major IN_LIST TEEPERF_SUPPORTED_MAJORS)
			list(JOIN TEEPERF_SUPPORTED_MAJORS ", " text)
			message(FATAL_ERROR "TEEPERF_LLVM_MAJORS: LLVM '${major}' is not supported, "
				"only ${text} are")
		endif()
		teeperf_find_llvm(${major} why)
		if(why)
			message(FATAL_ERROR "TEEPERF_LLVM_MAJORS: LLVM ${major} cannot be used: ${why}; "
				"run tools/setup --all-llvm")
		endif()
		list(APPEND TEEPERF_MAJORS ${major})
	endforeach()
endif()

if(TEEPERF_MAJORS)
	if(TEEPERF_DEFAULT_LLVM STREQUAL "")
		if(19 IN_LIST TEEPERF_MAJORS)
			set(TEEPERF_DEFAULT_MAJOR 19)
		else()
			list(GET TEEPERF_MAJORS -1 TEEPERF_DEFAULT_MAJOR)
		endif()
	elseif(TEEPERF_DEFAULT_LLVM IN_LIST TEEPERF_MAJORS)
		set(TEEPERF_DEFAULT_MAJOR ${TEEPERF_DEFAULT_LLVM})
	else()
		list(JOIN TEEPERF_MAJORS ", " text)
		message(FATAL_ERROR "TEEPERF_DEFAULT_LLVM is ${TEEPERF_DEFAULT_LLVM}, but the plugin is "
			"built for ${text}")
	endif()
	list(JOIN TEEPERF_MAJORS ", " text)
	message(STATUS "Plugin for LLVM ${text}; default ${TEEPERF_DEFAULT_MAJOR}")
endif()
