# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tables that follow from file names: commands.inc, allowlist_commands.inc, fleet_commands.inc,
# views.inc, exports.inc. And the rows of runtime/ports.def.

set(TEEPERF_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")

# Write OUTPUT with a line MACRO(tp_<PREFIX>NAME) for each source NAME.c that matches one of the
# globs, sorted by name.
function(teeperf_table output macro prefix)
	set(globs)
	foreach(glob IN LISTS ARGN)
		list(APPEND globs "${PROJECT_SOURCE_DIR}/${glob}")
	endforeach()
	file(GLOB sources CONFIGURE_DEPENDS ${globs})
	list(SORT sources)
	list(JOIN ARGN " " glob)
	set(text "// Generated from the names of ${glob}.\n")
	foreach(source IN LISTS sources)
		get_filename_component(name "${source}" NAME_WE)
		string(REGEX REPLACE "^cmd_" "" name "${name}")
		string(APPEND text "${macro}(tp_${prefix}${name})\n")
	endforeach()
	# Leaves an unchanged file alone, so that nothing is compiled again.
	file(CONFIGURE OUTPUT "${TEEPERF_GENERATED_DIR}/${output}" CONTENT "${text}" @ONLY)
endfunction()

# Set OUT to the text of FOLDER/NAME.sql, in which a line "-- part PART" is PARTS/PART.sql.
function(teeperf_sql out folder name parts)
	file(READ "${folder}/${name}.sql" sql)
	string(REGEX MATCHALL "-- part [a-z_]+\n" lines "${sql}")
	foreach(line IN LISTS lines)
		string(REGEX REPLACE "-- part ([a-z_]+)\n" "\\1" part "${line}")
		file(READ "${parts}/${part}.sql" text)
		string(REPLACE "${line}" "${text}" sql "${sql}")
	endforeach()
	set(${out} "${sql}" PARENT_SCOPE)
endfunction()

# The same with FOLDER/parts, and write it to the folder TEEPERF_QUESTIONS_DIR/TO as well.
function(teeperf_question out folder name to)
	teeperf_sql(sql "${folder}" ${name} "${folder}/parts")
	file(CONFIGURE OUTPUT "${TEEPERF_QUESTIONS_DIR}/${to}${name}.sql" CONTENT "${sql}" @ONLY)
	set(${out} "${sql}" PARENT_SCOPE)
endfunction()

# Set OUT to the TEXT as a string of C.
function(teeperf_quote out text)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REPLACE "\n" "\\n\"\n\"" text "${text}")
	set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# Write OUTPUT with a line TP_QUESTION("NAME", "TEXT", "TEXT for ClickHouse") for each NAME.sql of
# fleet/questions/sql.
set(TEEPERF_QUESTIONS_DIR "${TEEPERF_GENERATED_DIR}/fleet")
function(teeperf_questions output)
	set(folder "${PROJECT_SOURCE_DIR}/fleet/questions/sql")
	file(GLOB files CONFIGURE_DEPENDS "${folder}/*.sql")
	file(GLOB others CONFIGURE_DEPENDS "${folder}/parts/*.sql" "${folder}/clickhouse/*.sql" "${folder}/clickhouse/parts/*.sql")
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files} ${others})
	set(text "// Generated from fleet/questions/sql.\n")
	foreach(file IN LISTS files)
		get_filename_component(name "${file}" NAME_WE)
		teeperf_question(sql "${folder}" ${name} "")
		teeperf_question(clickhouse "${folder}/clickhouse" ${name} clickhouse/)
		teeperf_quote(sql "${sql}")
		teeperf_quote(clickhouse "${clickhouse}")
		string(APPEND text "TP_QUESTION(\"${name}\", ${sql}, ${clickhouse})\n")
	endforeach()
	file(CONFIGURE OUTPUT "${TEEPERF_GENERATED_DIR}/${output}" CONTENT "${text}" @ONLY)
endfunction()

# Write OUTPUT with a line TP_SERVE_SQL(NAME, "TEXT") for each NAME.sql of fleet/serve/sql.
function(teeperf_serve_sql output)
	file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fleet/serve/sql/*.sql")
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
	set(text "// Generated from fleet/serve/sql.\n")
	foreach(file IN LISTS files)
		get_filename_component(name "${file}" NAME_WE)
		teeperf_sql(sql "${PROJECT_SOURCE_DIR}/fleet/serve/sql" ${name} "${PROJECT_SOURCE_DIR}/fleet/questions/sql/parts")
		teeperf_quote(sql "${sql}")
		string(APPEND text "TP_SERVE_SQL(${name}, ${sql})\n")
	endforeach()
	file(CONFIGURE OUTPUT "${TEEPERF_GENERATED_DIR}/${output}" CONTENT "${text}" @ONLY)
endfunction()

# Set TEEPERF_PORTS to the names in runtime/ports.def, and for each TEEPERF_PORT_<name>_RUNTIME,
# _MACHINES and _FILES; write port_names.inc, the names as a sentence has them.
function(teeperf_ports)
	set(table "${PROJECT_SOURCE_DIR}/runtime/ports.def")
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
	file(STRINGS "${table}" rows REGEX "^TP_PORT")
	set(ports)
	foreach(row IN LISTS rows)
		if(NOT row MATCHES "^TP_PORT\\(([a-z0-9_]+), ([A-Z_]+), ([A-Za-z0-9_]+), \"([a-z0-9_/ ]*)\",$")
			message(FATAL_ERROR "${table}: a row begins otherwise than 'TP_PORT(name, RUNTIME, MACHINES, \"files\",': "
				"${row}")
		endif()
		list(APPEND ports ${CMAKE_MATCH_1})
		set(TEEPERF_PORT_${CMAKE_MATCH_1}_RUNTIME ${CMAKE_MATCH_2} PARENT_SCOPE)
		set(TEEPERF_PORT_${CMAKE_MATCH_1}_MACHINES ${CMAKE_MATCH_3} PARENT_SCOPE)
		string(REPLACE " " ";" files "${CMAKE_MATCH_4}")
		set(TEEPERF_PORT_${CMAKE_MATCH_1}_FILES "${files}" PARENT_SCOPE)
	endforeach()
	set(TEEPERF_PORTS ${ports} PARENT_SCOPE)
	list(POP_BACK ports last)
	list(JOIN ports ", " names)
	file(CONFIGURE OUTPUT "${TEEPERF_GENERATED_DIR}/port_names.inc" CONTENT
		"/* Generated from runtime/ports.def. */\n#define TP_PORT_NAMES \"${names} or ${last}\"\n" @ONLY)
endfunction()
teeperf_ports()

# The recorder for targets (TeePerfTargetOnly.cmake) has these commands.
set(TEEPERF_TARGET_COMMANDS cli/cmd_ctl.c cli/cmd_doctor.c cli/cmd_record.c cli/cmd_recover.c)
if(TEEPERF_TARGET_ONLY)
	teeperf_table(commands.inc TP_COMMAND cmd_ ${TEEPERF_TARGET_COMMANDS})
	return()
endif()
teeperf_table(commands.inc TP_COMMAND cmd_ "cli/cmd_*.c")
teeperf_table(allowlist_commands.inc TP_COMMAND allowlist_ "cli/allowlist/cmd_*.c")
teeperf_table(fleet_commands.inc TP_COMMAND fleet_ "cli/fleet/cmd_*.c")
teeperf_questions(fleet_questions.inc)
teeperf_serve_sql(serve_sql.inc)
teeperf_table(views.inc TP_VIEW view_ "analyzer/output/view/*.c")
teeperf_table(exports.inc TP_EXPORT export_ "analyzer/output/export/*.c")
