# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tables that follow from file names: commands.inc, tees.inc, allowlist_commands.inc, views.inc, exports.inc,
# query_exports.inc, sql_tables.inc.

set(TEEPERF_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")

# Write OUTPUT with a line MACRO(tp_NAME) for each source that matches one of the globs, sorted by name.
function(teeperf_table output macro)
	set(globs)
	foreach(glob IN LISTS ARGN)
		list(APPEND globs "${PROJECT_SOURCE_DIR}/${glob}")
	endforeach()
	file(GLOB sources CONFIGURE_DEPENDS ${globs})
	list(SORT sources)
	list(JOIN ARGN " " glob)
	set(text "/* Generated from the names of ${glob}. */\n")
	foreach(source IN LISTS sources)
		get_filename_component(name "${source}" NAME_WE)
		string(APPEND text "${macro}(tp_${name})\n")
	endforeach()
	# Leaves an unchanged file alone, so that nothing is compiled again.
	file(CONFIGURE OUTPUT "${TEEPERF_GENERATED_DIR}/${output}" CONTENT "${text}" @ONLY)
endfunction()

# The recorder for targets (TeePerfTargetOnly.cmake) has these commands.
set(TEEPERF_TARGET_COMMANDS cli/cmd_ctl.c cli/cmd_doctor.c cli/cmd_record.c cli/cmd_recover.c)
if(TEEPERF_TARGET_ONLY)
	teeperf_table(commands.inc TP_COMMAND ${TEEPERF_TARGET_COMMANDS})
	teeperf_table(tees.inc TP_TEE "recorder/tee_*.c")
	return()
endif()
teeperf_table(commands.inc TP_COMMAND "cli/cmd_*.c")
teeperf_table(allowlist_commands.inc TP_COMMAND "cli/allowlist_*.c")
teeperf_table(views.inc TP_VIEW "analyzer/view_*.c")
teeperf_table(exports.inc TP_EXPORT "analyzer/export_*.c")
teeperf_table(query_exports.inc TP_EXPORT "query/export_*.c")
teeperf_table(sql_tables.inc TP_SQL_TABLE "query/table_*.c")
teeperf_table(tees.inc TP_TEE "recorder/tee_*.c")
