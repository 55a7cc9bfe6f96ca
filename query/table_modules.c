// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table "modules".
#include "query/sql_table.h"

#include <string.h>

enum { MODULE, NAME, PATH, BUILD_ID, BASE, START, END, LOADED, UNLOADED };

static const struct tp_column columns[] = {
    {"module", "INTEGER", "number", false},
    {"name", "TEXT", "last component of the path, as in functions.module", false},
    {"path", "TEXT", "of its file", false},
    {"build_id", "TEXT", "in hexadecimal; NULL without one", false},
    {"base", "INTEGER", "address at run time less the address in the file", false},
    {"start", "INTEGER", "first address at run time", false},
    {"end", "INTEGER", "first address behind it", false},
    {"loaded", "INTEGER", "ns from the first record to its loading; 0 if that came before", false},
    {"unloaded", "INTEGER", "the same for unloading; NULL: not unloaded", false},
    {0},
};

static uint64_t rows(const struct tp_trace_data *data)
{
	return data->analysis->trace->module_count;
}

static int64_t key(const struct tp_trace_data *data, uint64_t row)
{
	(void)data;
	return (int64_t)row;
}

static void value(
    const struct tp_trace_data *data, uint64_t row, int column, sqlite3_context *context)
{
	const struct teeperf_module *module = &data->analysis->trace->modules[row];
	const char *slash = strrchr(module->path, '/');
	switch (column) {
	case MODULE:
		sqlite3_result_int64(context, (sqlite3_int64)row);
		break;
	case NAME:
		tp_sql_result_text(context, slash ? slash + 1 : module->path);
		break;
	case PATH:
		tp_sql_result_text(context, module->path);
		break;
	case BUILD_ID: {
		char text[2 * TEEPERF_BUILD_ID_SIZE + 1];
		uint32_t size = module->build_id_size;
		size = size < TEEPERF_BUILD_ID_SIZE ? size : TEEPERF_BUILD_ID_SIZE;
		for (uint32_t i = 0; i < size; i++)
			sqlite3_snprintf(3, text + 2 * i, "%02x", module->build_id[i]);
		if (size)
			sqlite3_result_text(context, text, 2 * (int)size, SQLITE_TRANSIENT);
		break;
	}
	// An address is what it is, also in the upper half.
	case BASE:
		sqlite3_result_int64(context, (sqlite3_int64)module->bias);
		break;
	case START:
		sqlite3_result_int64(context, (sqlite3_int64)module->start);
		break;
	case END:
		sqlite3_result_int64(context, (sqlite3_int64)module->end);
		break;
	case LOADED:
		tp_sql_result_at(context, data, module->loaded);
		break;
	case UNLOADED:
		if (module->unloaded)
			tp_sql_result_at(context, data, module->unloaded);
		break;
	}
}

const struct tp_sql_table tp_table_modules = {
    .name = "modules",
    .summary = "the program and the libraries that it had loaded",
    .columns = columns,
    .rows = rows,
    .value = value,
    .key = key,
    .key_is_unique = true,
};
