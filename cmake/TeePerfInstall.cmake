# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What goes where. lib/ is not lib/<triplet>/: teeperf finds the plugin and the runtime relative to
# its own place, the same way in a build tree and installed.

include(CMakePackageConfigHelpers)

install(TARGETS teeperf RUNTIME DESTINATION bin)
install(TARGETS teeperf_static ARCHIVE DESTINATION lib)
install(TARGETS teeperf_shared LIBRARY DESTINATION lib)
foreach(major IN LISTS TEEPERF_MAJORS)
	install(TARGETS tp_pass_${major} LIBRARY DESTINATION lib/teeperf/llvm-${major})
endforeach()
if(TEEPERF_MAJORS)
	install(TARGETS tp_dispatcher LIBRARY DESTINATION lib/teeperf)
endif()
install(DIRECTORY include/teeperf DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.edl"
	PATTERN atomic.h EXCLUDE PATTERN hardware_clock.h EXCLUDE)
install(DIRECTORY allowlists/shipped/ DESTINATION share/teeperf/allowlists
	FILES_MATCHING PATTERN "*.allow")
install(DIRECTORY "${TEEPERF_QUESTIONS_DIR}/" DESTINATION share/teeperf/fleet FILES_MATCHING PATTERN "*.sql")
install(DIRECTORY examples/ DESTINATION share/teeperf/examples)
install(DIRECTORY "${TEEPERF_GDB_DIR}/" DESTINATION share/teeperf/gdb FILES_MATCHING PATTERN "*.py")
install(DIRECTORY python/teeperf DESTINATION share/teeperf/python FILES_MATCHING PATTERN "*.py"
	PATTERN "page/*" PATTERN "*.template" PATTERN __pycache__ EXCLUDE)
foreach(shell bash zsh fish)
	get_filename_component(folder "${TEEPERF_COMPLETION_${shell}}" DIRECTORY)
	install(FILES "${PROJECT_BINARY_DIR}/share/${TEEPERF_COMPLETION_${shell}}" DESTINATION share/${folder})
endforeach()
install(DIRECTORY "${TEEPERF_MAN_DIR}/" DESTINATION share/man/man1 FILES_MATCHING PATTERN "*.1")

configure_file(cmake/TeePerfConfig.cmake.in "${PROJECT_BINARY_DIR}/cmake/TeePerfConfig.cmake" @ONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/TeePerfConfigVersion.cmake"
	COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/TeePerfConfig.cmake"
	"${PROJECT_BINARY_DIR}/cmake/TeePerfConfigVersion.cmake" DESTINATION lib/cmake/TeePerf)
configure_file(cmake/teeperf.pc.in "${PROJECT_BINARY_DIR}/cmake/teeperf.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/teeperf.pc" DESTINATION lib/pkgconfig)

# A unit names its program in full, and where that is can be said as late as in "cmake --install
# --prefix".
install(CODE "set(TEEPERF_BINDIR \"\${CMAKE_INSTALL_PREFIX}/bin\")
	configure_file(\"${PROJECT_SOURCE_DIR}/cmake/teeperf@.service.in\"
		\"${PROJECT_BINARY_DIR}/cmake/teeperf@.service\" @ONLY)")
install(FILES "${PROJECT_BINARY_DIR}/cmake/teeperf@.service" DESTINATION lib/systemd/system)
