# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The runtime for other processors, in lib/teeperf/<processor>/, where 'teeperf cc --target' looks
# for it: for each that clang can compile and link for here, which takes a C library of it.

set(TEEPERF_CROSS "" CACHE STRING
	"other processors to build the runtime for, as aarch64;riscv64 (empty: all that can be; none)")
set(TEEPERF_CROSS_MACHINES)

# Whether programs for MACHINE can be made. Asked again at each configuring: packages come later.
function(teeperf_try_cross machine result)
	set(source "${TEEPERF_GENERATED_DIR}/cross.c")
	file(WRITE "${source}" "#include <pthread.h>\nint main(void) { return pthread_self() == 0; }\n")
	execute_process(COMMAND "${TEEPERF_CROSS_CLANG}" --target=${machine}-linux-gnu -fuse-ld=lld
			"--ld-path=${TEEPERF_CROSS_LINKER}" -shared -fPIC "${source}" -o
			"${TEEPERF_GENERATED_DIR}/cross-${machine}.so"
		RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
	if(status EQUAL 0)
		set(${result} TRUE PARENT_SCOPE)
	else()
		set(${result} FALSE PARENT_SCOPE)
	endif()
endfunction()

# Set OUT to the objects of SOURCES, compiled with OPTIONS for MACHINE below SCRATCH.
function(teeperf_cross_objects out machine scratch options)
	set(objects)
	file(MAKE_DIRECTORY "${scratch}")
	set(clang "${TEEPERF_CROSS_CLANG}" --target=${machine}-linux-gnu)
	set(includes "-I${PROJECT_SOURCE_DIR}" "-I${PROJECT_SOURCE_DIR}/include")
	foreach(source IN LISTS ARGN)
		get_filename_component(name "${source}" NAME)
		set(object "${scratch}/${name}.o")
		set(flags ${options})
		if(name MATCHES "\\.c$")
			list(APPEND flags -std=gnu17 -Wall -Wextra)
		endif()
		if(machine STREQUAL "riscv64")
			# DWARF 5 would take relocations that lld 16 and binutils 2.40 do not know.
			list(APPEND flags -gdwarf-4)
		endif()
		if("${source}" IN_LIST TEEPERF_RUNTIME_ANYWHERE AND NOT machine STREQUAL "riscv64")
			list(APPEND flags -mgeneral-regs-only)
		endif()
		add_custom_command(OUTPUT "${object}"
			COMMAND ${clang} ${flags} ${includes} -MD -MF "${object}.d" -c "${source}" -o "${object}"
			DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM
			COMMENT "Building ${name} for ${machine}")
		list(APPEND objects "${object}")
	endforeach()
	set(${out} "${objects}" PARENT_SCOPE)
endfunction()

# The runtime for MACHINE: static and shared, and that of the ports whose rows in runtime/ports.def
# name it.
function(teeperf_cross_runtime machine)
	set(dir "${PROJECT_BINARY_DIR}/lib/teeperf/${machine}")
	set(scratch "${PROJECT_BINARY_DIR}/objects-${machine}")
	file(MAKE_DIRECTORY "${dir}/ports")
	get_target_property(sources tp_runtime SOURCES)
	teeperf_cross_objects(objects ${machine} "${scratch}" "${TEEPERF_RUNTIME_FLAGS}" ${sources})
	# As in TeePerfTargets.cmake: with POSIX, but another log.
	set(core_SYSTEM ${objects})
	list(FILTER core_SYSTEM EXCLUDE REGEX "/posix_log\\.c\\.o$")
	set(core_STREAM ${core_SYSTEM})
	set(archives)
	foreach(port IN LISTS TEEPERF_PORTS)
		if(NOT TEEPERF_PORT_${port}_MACHINES MATCHES "^(ANY|${machine})$")
			continue()
		endif()
		set(runtime ${TEEPERF_PORT_${port}_RUNTIME})
		set(flags ${TEEPERF_${runtime}_FLAGS})
		if(machine STREQUAL "aarch64" AND NOT runtime MATCHES "^(SYSTEM|STREAM)$")
			list(APPEND flags -mno-outline-atomics)
		endif()
		if(NOT core_${runtime})
			get_target_property(sources tp_runtime_${runtime} SOURCES)
			teeperf_cross_objects(core_${runtime} ${machine} "${scratch}/${runtime}" "${flags}" ${sources})
		endif()
		get_target_property(sources tp_runtime_port_${port} SOURCES)
		teeperf_cross_objects(own ${machine} "${scratch}/${port}" "${flags}" ${sources})
		set(archive "${dir}/ports/libteeperf-${port}.a")
		add_custom_command(OUTPUT "${archive}"
			COMMAND ${CMAKE_COMMAND} -E rm -f "${archive}"
			COMMAND "${TEEPERF_CROSS_ARCHIVER}" rcs "${archive}" ${core_${runtime}} ${own}
			DEPENDS ${core_${runtime}} ${own} VERBATIM)
		list(APPEND archives "${archive}")
	endforeach()
	set(shared "libteeperf.so.${TEEPERF_ABI}")
	add_custom_command(OUTPUT "${dir}/libteeperf.a"
		COMMAND ${CMAKE_COMMAND} -E rm -f "${dir}/libteeperf.a"
		COMMAND "${TEEPERF_CROSS_ARCHIVER}" rcs "${dir}/libteeperf.a" ${objects}
		DEPENDS ${objects} VERBATIM)
	add_custom_command(OUTPUT "${dir}/${shared}"
		COMMAND "${TEEPERF_CROSS_CLANG}" --target=${machine}-linux-gnu -fuse-ld=lld "--ld-path=${TEEPERF_CROSS_LINKER}" -shared
			-Wl,-soname,${shared} -Wl,-z,defs -Wl,-z,nodelete ${objects} -lpthread -o "${dir}/${shared}"
		COMMAND ${CMAKE_COMMAND} -E create_symlink ${shared} "${dir}/libteeperf.so"
		DEPENDS ${objects} VERBATIM)
	add_custom_target(teeperf_${machine} ALL DEPENDS "${dir}/libteeperf.a" "${dir}/${shared}"
		${archives})
	install(FILES "${dir}/libteeperf.a" "${dir}/${shared}" "${dir}/libteeperf.so"
		DESTINATION lib/teeperf/${machine})
	install(FILES ${archives} DESTINATION lib/teeperf/${machine}/ports)
endfunction()

# lld 14 cannot link for riscv64.
if(TEEPERF_MAJORS AND NOT TEEPERF_CROSS STREQUAL "none" AND TEEPERF_DEFAULT_MAJOR GREATER 14)
	set(TEEPERF_CROSS_CLANG "${TEEPERF_LLVM_${TEEPERF_DEFAULT_MAJOR}_CLANG}")
	find_program(TEEPERF_CROSS_LINKER_${TEEPERF_DEFAULT_MAJOR} ld.lld-${TEEPERF_DEFAULT_MAJOR})
	find_program(TEEPERF_CROSS_ARCHIVER_${TEEPERF_DEFAULT_MAJOR} llvm-ar-${TEEPERF_DEFAULT_MAJOR})
	set(TEEPERF_CROSS_LINKER "${TEEPERF_CROSS_LINKER_${TEEPERF_DEFAULT_MAJOR}}")
	set(TEEPERF_CROSS_ARCHIVER "${TEEPERF_CROSS_ARCHIVER_${TEEPERF_DEFAULT_MAJOR}}")
	foreach(machine x86_64 aarch64 riscv64)
		if(machine STREQUAL CMAKE_SYSTEM_PROCESSOR OR NOT TEEPERF_CROSS_LINKER OR
				NOT TEEPERF_CROSS_ARCHIVER)
			continue()
		endif()
		if(TEEPERF_CROSS AND NOT machine IN_LIST TEEPERF_CROSS)
			continue()
		endif()
		teeperf_try_cross(${machine} possible)
		if(possible)
			teeperf_cross_runtime(${machine})
			list(APPEND TEEPERF_CROSS_MACHINES ${machine})
		elseif(TEEPERF_CROSS)
			message(FATAL_ERROR "TEEPERF_CROSS: nothing can be linked for ${machine} here: is its C "
				"library installed (libc6-dev-riscv64-cross and the like)?")
		endif()
	endforeach()
	list(JOIN TEEPERF_CROSS_MACHINES ", " text)
	message(STATUS "Runtime for other processors: ${text}")
endif()
