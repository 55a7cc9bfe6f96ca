// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relation "modules".
#include "relation.h"

#include "analyzer/trace/modules.h"
#include "common/clean.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER, MODULE, PATH, BUILD_ID, BASE, START, END, LOADED, UNLOADED, COLUMNS };

static const struct tp_relation_column columns[COLUMNS] = {
    [NUMBER] = {"number", "of the module in the trace", .type = TP_TYPE_INT32},
    [MODULE] = {"module", "last component of the path, as in functions", .type = TP_TYPE_TEXT,
	.nullable = true, .made = true, .old = {"name"}},
    [PATH] = {"module_path", "of its file", .type = TP_TYPE_TEXT, .nullable = true, .made = true,
	.old = {"path"}},
    [BUILD_ID] = {"build_id", "in hexadecimal", .type = TP_TYPE_TEXT, .nullable = true,
	.made = true},
    [BASE] = {"base", "address at run time minus the address in the file", .unit = TP_UNIT_ADDRESS},
    [START] = {"start", "first address at run time", .unit = TP_UNIT_ADDRESS},
    [END] = {"end", "first address after it", .unit = TP_UNIT_ADDRESS},
    [LOADED] = {"loaded_ns", "ns from the first record to its loading; 0 if it was loaded before",
	.unit = TP_UNIT_TIME, .old = {"loaded"}},
    [UNLOADED] = {"unloaded_ns", "the same for unloading; NULL: not unloaded", .unit = TP_UNIT_TIME,
	.missing = -1, .old = {"unloaded"}},
};

static struct tp_cell build_id(struct tp_relation_data *data, const struct teeperf_module *module)
{
	uint32_t size = module->build_id_size;
	size = size < TEEPERF_BUILD_ID_SIZE ? size : TEEPERF_BUILD_ID_SIZE;
	data->made[0] = '\0';
	for (uint32_t i = 0; i < size; i++)
		snprintf(data->made + 2 * i, 3, "%02x", module->build_id[i]);
	return tp_cell_text(data->made);
}

// As functions have it: without a path its UUID, and clean.
static struct tp_cell name_of(
    struct tp_relation_data *data, const struct teeperf_module *module, bool whole)
{
	char text[TP_MODULE_NAME_SIZE];
	const char *name = tp_module_name(module, text);
	const char *slash = strrchr(name, '/');
	snprintf(data->made, sizeof(data->made), "%s",
	    whole   ? module->path
	    : slash ? slash + 1
		    : name);
	tp_clean(data->made, strlen(data->made));
	return tp_cell_text(data->made);
}

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct teeperf_module *module = row;
	switch (column) {
	case NUMBER:
		return tp_cell_number(module - data->analysis->trace->modules);
	case MODULE:
		return name_of(data, module, false);
	case PATH:
		return name_of(data, module, true);
	case BUILD_ID:
		return build_id(data, module);
	case BASE:
		return tp_cell_number((int64_t)module->bias);
	case START:
		return tp_cell_number((int64_t)module->start);
	case END:
		return tp_cell_number((int64_t)module->end);
	case LOADED:
		return tp_cell_at(data, true, module->loaded);
	default:
		return tp_cell_at(data, module->unloaded, module->unloaded);
	}
}

static struct tp_rows rows(const struct tp_relation_data *data)
{
	return (struct tp_rows){data->analysis->trace->modules, data->analysis->trace->module_count,
	    sizeof(*data->analysis->trace->modules)};
}

const struct tp_relation tp_relation_modules = {
    .name = "modules",
    .summary = "the program and the libraries that it loaded",
    .columns = columns,
    .count = COLUMNS,
    .ordered = true,
    .unique = true,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = "no view shows modules; functions name theirs",
    .rows = rows,
    .value = value,
};
