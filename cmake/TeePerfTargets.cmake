# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The libraries, the command, the runtime and the plugins.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_library(TEEPERF_XXHASH xxhash REQUIRED)
find_library(TEEPERF_ZSTD zstd REQUIRED)
find_library(TEEPERF_ZLIB z REQUIRED)
find_library(TEEPERF_LIBELF elf REQUIRED)
find_library(TEEPERF_LIBDWARF dwarf REQUIRED)
find_library(TEEPERF_SQLITE sqlite3 REQUIRED)
find_path(TEEPERF_LIBDWARF_INCLUDE libdwarf.h PATH_SUFFIXES libdwarf libdwarf-0 REQUIRED)
# Its header; the library is looked for when 'fleet serve' runs. Without it that command says so.
find_path(TEEPERF_MICROHTTPD_INCLUDE microhttpd.h)
# Draws 'teeperf tui'. Without it that command says so.
find_path(TEEPERF_NCURSES_INCLUDE curses.h PATH_SUFFIXES ncursesw)
find_library(TEEPERF_NCURSES ncursesw)
find_library(TEEPERF_TINFO tinfo)
# What of cli/tui is not for this build.
set(TEEPERF_NOT_TUI "/cli/tui/absent\\.c$")
if(NOT TEEPERF_NCURSES_INCLUDE OR NOT TEEPERF_NCURSES)
	message(STATUS "No ncurses (package libncurses-dev): this teeperf will refuse 'tui'")
	set(TEEPERF_NOT_TUI "/cli/tui/(run|screen)\\.c$")
endif()

# The rooms of each library; query, the live budget, and the recovery of killed recorders' logs are
# apart from what they need most of.
set(TEEPERF_ROOMS_common common common/chunks)
set(TEEPERF_ROOMS_allowlists allowlists/language allowlists/convert)
set(TEEPERF_ROOMS_inventory allowlists/inventory)
set(TEEPERF_ROOMS_selection allowlists/choose allowlists/check)
set(TEEPERF_ROOMS_recorder recorder recorder/clock recorder/control recorder/drain recorder/follow recorder/kernel recorder/measure recorder/pid recorder/region
	recorder/stream)
set(TEEPERF_ROOMS_analyzer analyzer/trace analyzer/trace/text analyzer/symbols analyzer/symbols/elf analyzer/replay analyzer/statistics
	analyzer/profile analyzer/profile/around analyzer/whatif analyzer/join analyzer/import analyzer/output analyzer/output/view analyzer/output/format
	analyzer/output/export analyzer/output/relation analyzer/output/report)
set(TEEPERF_ROOMS_recovery recorder/recover)
set(TEEPERF_ROOMS_budget recorder/budget)
set(TEEPERF_ROOMS_query analyzer/query)
set(TEEPERF_ROOMS_fleet fleet fleet/questions fleet/serve)
set(TEEPERF_ROOMS_cli cli cli/allowlist cli/analyze cli/command cli/completion cli/doctor cli/driver cli/fleet cli/record cli/tui)

# Add static library tp_NAME<SUFFIX> from its rooms, compiled (and what uses it linked) with FLAGS.
function(teeperf_host_library name suffix flags)
	list(TRANSFORM TEEPERF_ROOMS_${name} APPEND "/*.c" OUTPUT_VARIABLE globs)
	teeperf_sources(sources ${globs})
	list(FILTER sources EXCLUDE REGEX "/cli/main\\.c$")
	list(FILTER sources EXCLUDE REGEX "${TEEPERF_NOT_BPF}")
	list(FILTER sources EXCLUDE REGEX "${TEEPERF_NOT_TUI}")
	set(target tp_${name}${suffix})
	add_library(${target} STATIC ${sources})
	target_link_libraries(${target} PUBLIC tp_flags)
	target_compile_options(${target} PUBLIC ${flags})
	target_link_options(${target} PUBLIC ${flags})
	set_target_properties(${target} PROPERTIES
		ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/objects${suffix}")
endfunction()

find_package(Python3 COMPONENTS Interpreter REQUIRED)
include(TeePerfBpf)
# What of recorder/kernel is not for this build.
set(TEEPERF_NOT_BPF "/kernel/(events\\.bpf|bpf)\\.c$")
if(TEEPERF_BPF_OBJECT)
	set(TEEPERF_NOT_BPF "/kernel/(events\\.bpf|bpf_absent)\\.c$")
endif()

# Pages as strings: OUTPUT has what FOLDER/NAME.css, FOLDER/page.html and the PARTS of its script
# become.
function(teeperf_page target output folder name header)
	set(embed "${PROJECT_SOURCE_DIR}/analyzer/output/report/viewer/embed.py")
	file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*")
	foreach(part IN LISTS ARGN)
		list(APPEND files "${PROJECT_SOURCE_DIR}/${folder}/${part}.js")
	endforeach()
	add_custom_command(OUTPUT "${output}"
		COMMAND Python3::Interpreter "${embed}" "${output}" "${PROJECT_SOURCE_DIR}/${folder}" ${name} ${header} ${ARGN}
		DEPENDS ${files} "${embed}" VERBATIM)
	add_custom_target(${target} DEPENDS "${output}")
endfunction()
set(TEEPERF_REPORT_PAGE "${TEEPERF_GENERATED_DIR}/report_page.c")
set(TEEPERF_VIEWER_PARTS format remember data blocks state theme model canvas flame source detail lanes marks fit calls timeline latency split legend table rows sandwich treegrid graph keys main)
teeperf_page(tp_report_page "${TEEPERF_REPORT_PAGE}" analyzer/output/report/viewer report
	analyzer/output/report/report.h ${TEEPERF_VIEWER_PARTS})
# Pages of 'fleet serve': that over the fleet, and the report's viewer with another way to its data.
set(TEEPERF_SERVE_PAGES "${TEEPERF_GENERATED_DIR}/fleet_page.c" "${TEEPERF_GENERATED_DIR}/fleet_set.c")
set(viewer ../../../analyzer/output/report/viewer)
list(GET TEEPERF_SERVE_PAGES 0 page)
teeperf_page(tp_fleet_page "${page}" fleet/serve/page fleet fleet/serve/pages.h
	${viewer}/format ${viewer}/remember ${viewer}/data ${viewer}/theme ../../../python/teeperf/experiment/page/scale sets chart main)
list(GET TEEPERF_SERVE_PAGES 1 page)
list(TRANSFORM TEEPERF_VIEWER_PARTS PREPEND "${viewer}/" OUTPUT_VARIABLE parts)
list(TRANSFORM parts REPLACE "^.*/blocks$" fetch)
teeperf_page(tp_fleet_set "${page}" fleet/serve/viewer set fleet/serve/pages.h ${parts})

# The manual pages, with what the tables of rows say.
file(GLOB TEEPERF_MAN_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/*.1")
set(TEEPERF_MAN_DIR "${PROJECT_BINARY_DIR}/share/man/man1")
list(TRANSFORM TEEPERF_MAN_SOURCES REPLACE ".*/" "${TEEPERF_MAN_DIR}/" OUTPUT_VARIABLE pages)
add_custom_command(OUTPUT ${pages}
	COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/write-rows" "${PROJECT_SOURCE_DIR}" man
		"${TEEPERF_MAN_DIR}"
	DEPENDS ${TEEPERF_MAN_SOURCES} "${PROJECT_SOURCE_DIR}/tools/write-rows"
		"${PROJECT_SOURCE_DIR}/runtime/ports.def" "${PROJECT_SOURCE_DIR}/cli/driver/cc_options.def"
		"${PROJECT_SOURCE_DIR}/include/teeperf/version.h"
	VERBATIM)
add_custom_target(tp_man ALL DEPENDS ${pages})

# The host side once, in a variant: targets end in SUFFIX, outputs go to DIR (bin/, lib/), all is
# compiled and linked with FLAGS.
function(teeperf_host_variant suffix dir flags)
	foreach(name common allowlists inventory selection recorder analyzer recovery budget query fleet cli)
		teeperf_host_library(${name} "${suffix}" "${flags}")
	endforeach()
	target_link_libraries(tp_allowlists${suffix} PUBLIC tp_common${suffix})
	target_link_libraries(tp_common${suffix} PUBLIC "${TEEPERF_XXHASH}" "${TEEPERF_ZSTD}" stdc++ m)
	target_link_libraries(tp_recorder${suffix} PUBLIC tp_common${suffix} Threads::Threads)
	if(TEEPERF_BPF_OBJECT)
		target_sources(tp_recorder${suffix} PRIVATE "${TEEPERF_BPF_OBJECT}")
		add_dependencies(tp_recorder${suffix} tp_bpf_object)
		target_include_directories(tp_recorder${suffix} SYSTEM PRIVATE "${TEEPERF_LIBBPF_INCLUDE}")
		target_link_libraries(tp_recorder${suffix} PUBLIC "${TEEPERF_LIBBPF}")
	endif()
	target_link_libraries(tp_analyzer${suffix} PUBLIC
		tp_common${suffix} "${TEEPERF_LIBDWARF}" "${TEEPERF_LIBELF}" "${TEEPERF_ZLIB}" Threads::Threads ${CMAKE_DL_LIBS} m)
	target_sources(tp_analyzer${suffix} PRIVATE "${TEEPERF_REPORT_PAGE}")
	add_dependencies(tp_analyzer${suffix} tp_report_page)
	target_include_directories(tp_analyzer${suffix} SYSTEM PRIVATE
		"${TEEPERF_LIBDWARF_INCLUDE}")

	target_link_libraries(tp_inventory${suffix} PUBLIC
		tp_allowlists${suffix} tp_common${suffix} ${CMAKE_DL_LIBS})
	target_link_libraries(tp_selection${suffix} PUBLIC
		tp_inventory${suffix} tp_analyzer${suffix} tp_allowlists${suffix} tp_common${suffix})

	target_link_libraries(tp_recovery${suffix} PUBLIC
		tp_recorder${suffix} tp_analyzer${suffix} tp_common${suffix})

	target_link_libraries(tp_budget${suffix} PUBLIC
		tp_selection${suffix} tp_recorder${suffix} tp_analyzer${suffix} tp_common${suffix})

	target_link_libraries(tp_query${suffix} PUBLIC
		tp_analyzer${suffix} tp_common${suffix} "${TEEPERF_SQLITE}")

	target_link_libraries(tp_fleet${suffix} PUBLIC
		tp_query${suffix} tp_analyzer${suffix} tp_common${suffix})
	target_sources(tp_fleet${suffix} PRIVATE ${TEEPERF_SERVE_PAGES})
	add_dependencies(tp_fleet${suffix} tp_fleet_page tp_fleet_set)
	if(TEEPERF_MICROHTTPD_INCLUDE)
		target_include_directories(tp_fleet${suffix} SYSTEM PRIVATE "${TEEPERF_MICROHTTPD_INCLUDE}")
		target_compile_definitions(tp_fleet${suffix} PRIVATE TEEPERF_HAS_MICROHTTPD)
	endif()

	# All of cli/ but main.c is a library, so that unit tests reach it.
	target_link_libraries(tp_cli${suffix} PUBLIC tp_fleet${suffix} tp_query${suffix} tp_recovery${suffix} tp_budget${suffix}
		tp_recorder${suffix}
		tp_selection${suffix}
		tp_inventory${suffix} tp_analyzer${suffix} tp_allowlists${suffix} tp_common${suffix})
	target_compile_definitions(tp_cli${suffix} PRIVATE
		TEEPERF_DEFAULT_LLVM=${TEEPERF_DEFAULT_MAJOR})
	if(TEEPERF_NCURSES_INCLUDE AND TEEPERF_NCURSES)
		target_include_directories(tp_cli${suffix} SYSTEM PRIVATE "${TEEPERF_NCURSES_INCLUDE}")
		target_link_libraries(tp_cli${suffix} PUBLIC "${TEEPERF_NCURSES}")
		if(TEEPERF_TINFO)
			target_link_libraries(tp_cli${suffix} PUBLIC "${TEEPERF_TINFO}")
		endif()
	endif()
	teeperf_sources(sources "cli/main.c")
	add_executable(teeperf${suffix} ${sources})
	target_link_libraries(teeperf${suffix} PRIVATE tp_cli${suffix})
	set_target_properties(teeperf${suffix} PROPERTIES
		OUTPUT_NAME teeperf RUNTIME_OUTPUT_DIRECTORY "${dir}/bin")
endfunction()

# The shipped allowlists and the Python package where the command of DIR/bin finds them: as they are
# installed.
function(teeperf_shipped dir)
	file(MAKE_DIRECTORY "${dir}/share/teeperf")
	file(CREATE_LINK "${PROJECT_SOURCE_DIR}/allowlists/shipped"
		"${dir}/share/teeperf/allowlists" SYMBOLIC)
	file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python" "${dir}/share/teeperf/python" SYMBOLIC)
endfunction()

set(flags)
if(TEEPERF_SANITIZE)
	list(APPEND flags "-fsanitize=${TEEPERF_SANITIZE}" -fno-sanitize-recover=all
		-fno-omit-frame-pointer)
endif()
if(TEEPERF_COVERAGE)
	list(APPEND flags --coverage)
endif()
teeperf_host_variant("" "${PROJECT_BINARY_DIR}" "${flags}")

# How shells complete its command lines, each where it looks for that.
set(TEEPERF_COMPLETION_bash bash-completion/completions/teeperf)
set(TEEPERF_COMPLETION_zsh zsh/site-functions/_teeperf)
set(TEEPERF_COMPLETION_fish fish/vendor_completions.d/teeperf.fish)
set(scripts)
foreach(shell bash zsh fish)
	set(script "${PROJECT_BINARY_DIR}/share/${TEEPERF_COMPLETION_${shell}}")
	get_filename_component(folder "${script}" DIRECTORY)
	file(MAKE_DIRECTORY "${folder}")
	add_custom_command(OUTPUT "${script}" COMMAND teeperf completion -o "${script}" ${shell} DEPENDS teeperf VERBATIM)
	list(APPEND scripts "${script}")
endforeach()
add_custom_target(tp_completions ALL DEPENDS ${scripts})
teeperf_shipped("${PROJECT_BINARY_DIR}")
# With lines and functions, which is what reports show; without variables it compiles in three
# quarters of the time.
if(TEEPERF_TEST_ASAN)
	teeperf_host_variant(-asan "${PROJECT_BINARY_DIR}/asan"
		"-fsanitize=address,undefined;-fno-sanitize-recover=all;-fno-omit-frame-pointer;-g1")
	teeperf_shipped("${PROJECT_BINARY_DIR}/asan")
endif()

# The runtime is linked into the profiled program: never a sanitizer, never the plugin.
# Its platforms: one port/NAME.c each, beside what all have, what those with POSIX below them have,
# and what those have that stand alone.
teeperf_sources(core "runtime/*.c" "runtime/arch/*.S")
list(FILTER core EXCLUDE REGEX "/(apart|fork|elf_segments)\\.c$")
set(TEEPERF_RUNTIME_COMMON -O2 -g -fvisibility=hidden -fno-exceptions -fno-stack-protector -U_FORTIFY_SOURCE -ffreestanding)
set(TEEPERF_RUNTIME_FLAGS -fPIC -ftls-model=initial-exec ${TEEPERF_RUNTIME_COMMON})
# Programs that stand alone have one module, to which the runtime belongs, and no support library.
set(TEEPERF_RUNTIME_ALONE_FLAGS -fPIE -ftls-model=local-exec ${TEEPERF_RUNTIME_COMMON})
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
	list(APPEND TEEPERF_RUNTIME_ALONE_FLAGS -mno-outline-atomics)
endif()

# Set OUT to the paths of runtime/NAME.c.
function(teeperf_runtime_files out)
	set(files)
	foreach(name IN LISTS ARGN)
		list(APPEND files "${PROJECT_SOURCE_DIR}/runtime/${name}.c")
	endforeach()
	set(${out} "${files}" PARENT_SCOPE)
endfunction()

# Runs between any two instructions of the program: it must leave vector registers alone. (No such
# option for riscv64, where runtime/arch/riscv64.inc saves what compilers may use.)
teeperf_runtime_files(TEEPERF_RUNTIME_ANYWHERE thread apart ring counts gates switch context modules
	port/private_log)
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64")
	set_source_files_properties(${TEEPERF_RUNTIME_ANYWHERE}
		PROPERTIES COMPILE_OPTIONS -mgeneral-regs-only)
endif()

# What a runtime has below it, as runtime/ports.def names it: the objects that it is put together
# with, and what its port's file is compiled with.
function(teeperf_runtime_core name flags)
	add_library(${name} OBJECT ${core} ${ARGN})
	target_link_libraries(${name} PRIVATE tp_flags)
	target_compile_options(${name} PRIVATE ${flags})
endfunction()

teeperf_runtime_files(posix fork elf_segments port/elf_image port/posix port/posix_names port/posix_fork
	port/posix_late port/posix_log)
teeperf_runtime_core(tp_runtime "${TEEPERF_RUNTIME_FLAGS}" ${posix})
add_library(teeperf_static STATIC $<TARGET_OBJECTS:tp_runtime>)
add_library(teeperf_shared SHARED $<TARGET_OBJECTS:tp_runtime>)
set_target_properties(teeperf_static PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME teeperf)
set_target_properties(teeperf_shared PROPERTIES
	LINKER_LANGUAGE C OUTPUT_NAME teeperf SOVERSION ${TEEPERF_ABI})
target_link_libraries(teeperf_shared PRIVATE Threads::Threads)
# Threads call into it as they end, also when the library that brought it has been closed.
target_link_options(teeperf_shared PRIVATE -Wl,-z,defs -Wl,-z,nodelete)

# With POSIX, but another log.
list(FILTER posix EXCLUDE REGEX "/port/posix_(late|log)\\.c$")
set(TEEPERF_SYSTEM_FLAGS ${TEEPERF_RUNTIME_FLAGS} -DTP_SYSTEM_IN_LIBRARY)
teeperf_runtime_core(tp_runtime_SYSTEM "${TEEPERF_SYSTEM_FLAGS}" ${posix})
# The same, and the log is private and sent. Unused memory is not there: with this number of chunks
# a thread that is stopped while it sends costs nothing.
set(TEEPERF_STREAM_FLAGS ${TEEPERF_SYSTEM_FLAGS} -DTP_PRIVATE_CHUNKS=256)
add_library(tp_runtime_STREAM ALIAS tp_runtime_SYSTEM)
set(TEEPERF_STREAM_FILES port/posix_stream port/private_log)

teeperf_runtime_files(alone port/alone elf_segments)
set(TEEPERF_ALONE_FLAGS ${TEEPERF_RUNTIME_ALONE_FLAGS})
# Where CPUID is not legal, but XSAVE is there, and thread-local storage does not last (abi.h).
set(TEEPERF_ENCLAVE_FLAGS ${TEEPERF_RUNTIME_ALONE_FLAGS} -DTP_HAS_XSAVE -DTP_THREADS_APART=1
	-mno-tls-direct-seg-refs)
set(TEEPERF_ENCLAVE_FILES apart port/stranger)
# Where each instance of a program runs one thread (abi.h).
set(TEEPERF_ONE_THREAD_FLAGS ${TEEPERF_RUNTIME_ALONE_FLAGS} -DTP_ONE_THREAD=1)
set(TEEPERF_ONE_THREAD_FILES port/stranger)
set(alone_runtimes ALONE ONE_THREAD)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
	list(APPEND alone_runtimes ENCLAVE)
endif()
foreach(runtime IN LISTS alone_runtimes)
	teeperf_runtime_core(tp_runtime_${runtime} "${TEEPERF_${runtime}_FLAGS}" ${alone})
endforeach()

# The ports, as runtime/ports.def has them.
foreach(port IN LISTS TEEPERF_PORTS)
	set(runtime ${TEEPERF_PORT_${port}_RUNTIME})
	if(runtime STREQUAL "POSIX" OR (runtime STREQUAL "ENCLAVE" AND NOT TARGET tp_runtime_ENCLAVE))
		continue()
	endif()
	if(NOT TARGET tp_runtime_${runtime})
		message(FATAL_ERROR "runtime/ports.def: '${port}' is for '${runtime}', of which there is no runtime")
	endif()
	teeperf_runtime_files(files port/${port} ${TEEPERF_PORT_${port}_FILES} ${TEEPERF_${runtime}_FILES})
	add_library(tp_runtime_port_${port} OBJECT ${files})
	target_link_libraries(tp_runtime_port_${port} PRIVATE tp_flags)
	target_compile_options(tp_runtime_port_${port} PRIVATE ${TEEPERF_${runtime}_FLAGS})
	add_library(teeperf_port_${port} STATIC
		$<TARGET_OBJECTS:tp_runtime_${runtime}> $<TARGET_OBJECTS:tp_runtime_port_${port}>)
	set_target_properties(teeperf_port_${port} PROPERTIES LINKER_LANGUAGE C
		OUTPUT_NAME teeperf-${port}
		ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/teeperf/ports")
	add_dependencies(teeperf_static teeperf_port_${port})
	install(TARGETS teeperf_port_${port} ARCHIVE DESTINATION lib/teeperf/ports)
endforeach()

# One plugin per LLVM major. LLVM's symbols come from the compiler that loads it: linking libLLVM
# here would bring a second copy of LLVM into a statically linked clang.
# Lists are converted by the command only.
teeperf_sources(sources "pass/*.c" "pass/*.cpp" "pass/*/*.c" "allowlists/language/*.c")
list(FILTER sources EXCLUDE REGEX "/pass/dispatcher\\.c$")
foreach(major IN LISTS TEEPERF_MAJORS)
	set(target tp_pass_${major})
	add_library(${target} MODULE ${sources}
		"${PROJECT_SOURCE_DIR}/common/arena.c" "${PROJECT_SOURCE_DIR}/common/buf.c"
		"${PROJECT_SOURCE_DIR}/common/clean.c"
		"${PROJECT_SOURCE_DIR}/common/err.c" "${PROJECT_SOURCE_DIR}/common/read_all.c"
		"${PROJECT_SOURCE_DIR}/common/linkage_name.c"
		"${PROJECT_SOURCE_DIR}/common/zipped_text.c")
	target_link_libraries(${target} PRIVATE tp_flags "${TEEPERF_ZSTD}")
	target_include_directories(${target} SYSTEM PRIVATE "${TEEPERF_LLVM_${major}_INCLUDE}")
	target_compile_options(${target} PRIVATE -fvisibility=hidden -ffunction-sections
		$<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions -fvisibility-inlines-hidden>)
	target_compile_definitions(${target} PRIVATE TP_LLVM_MAJOR=${major}
		__STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
	# Lazy: host_llvm.c has to run where LLVM's symbols are not there.
	target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,-z,lazy)
	set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME TeePerf SUFFIX .so
		LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/teeperf/llvm-${major}")
endforeach()
# What users name, whichever clang they have.
if(TEEPERF_MAJORS)
	list(JOIN TEEPERF_SUPPORTED_MAJORS "," text)
	add_library(tp_dispatcher MODULE
		"${PROJECT_SOURCE_DIR}/pass/dispatcher.c" "${PROJECT_SOURCE_DIR}/pass/host_llvm.c")
	target_link_libraries(tp_dispatcher PRIVATE tp_flags)
	target_compile_options(tp_dispatcher PRIVATE -fvisibility=hidden)
	target_compile_definitions(tp_dispatcher PRIVATE "TP_LLVM_SUPPORTED=${text}")
	set_target_properties(tp_dispatcher PROPERTIES PREFIX "" OUTPUT_NAME TeePerf SUFFIX .so
		LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/teeperf")
	# A build folder of before has a link there, which a linker might follow.
	if(IS_SYMLINK "${PROJECT_BINARY_DIR}/lib/teeperf/TeePerf.so")
		file(REMOVE "${PROJECT_BINARY_DIR}/lib/teeperf/TeePerf.so")
	endif()
endif()

# The helper of GDB as it is installed, with the layouts of the formats, which tests read as well.
set(TEEPERF_GDB_DIR "${PROJECT_BINARY_DIR}/share/teeperf/gdb")
set(headers)
foreach(name abi log stream trace)
	list(APPEND headers "${PROJECT_SOURCE_DIR}/include/teeperf/${name}.h")
endforeach()
set(layouts "${TEEPERF_GENERATED_DIR}/teeperf_abi.c")
add_custom_command(OUTPUT "${layouts}"
	COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/make-abi" "${layouts}" ${headers}
	DEPENDS "${PROJECT_SOURCE_DIR}/tools/make-abi" ${headers} VERBATIM)
add_executable(tp_layouts "${layouts}")
target_link_libraries(tp_layouts PRIVATE tp_flags)
add_custom_command(OUTPUT "${TEEPERF_GDB_DIR}/teeperf_abi.py"
	COMMAND tp_layouts "${TEEPERF_GDB_DIR}/teeperf_abi.py" DEPENDS tp_layouts VERBATIM)
file(MAKE_DIRECTORY "${TEEPERF_GDB_DIR}")
set(helper "${TEEPERF_GDB_DIR}/teeperf_abi.py")
file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/gdb/*.py")
foreach(script IN LISTS scripts)
	get_filename_component(name "${script}" NAME)
	add_custom_command(OUTPUT "${TEEPERF_GDB_DIR}/${name}"
		COMMAND "${CMAKE_COMMAND}" -E copy "${script}" "${TEEPERF_GDB_DIR}/${name}"
		DEPENDS "${script}" VERBATIM)
	list(APPEND helper "${TEEPERF_GDB_DIR}/${name}")
endforeach()
add_custom_target(tp_gdb_helper ALL DEPENDS ${helper})
