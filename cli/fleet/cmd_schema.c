// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet schema: print the tables of a fleet.
#include "analyzer/fleet/tables.h"
#include "cli/command/command.h"

static bool version;

static const struct tp_option options[] = {
    TP_OPT_BOOL(0, "version", &version, "print the version of the schema alone"),
    TP_OPT_END,
};

static int run(int argc, char **argv)
{
	(void)argv;
	if (argc)
		return tp_options_usage("it takes no files");
	if (version) {
		printf("%d\n", TP_FLEET_SCHEMA);
		return TP_EXIT_DONE;
	}
	printf("table\tcolumn\ttype\tnullable\tunit\n");
	for (int id = 0; id < TP_FLEET_TABLES; id++) {
		const struct tp_fleet_table *table = &tp_fleet_tables[id];
		for (uint32_t i = 0; i < table->count; i++)
			printf("%s\t%s\t%s\t%d\t%s\n", table->name, table->columns[i].name,
			    tp_fleet_type_name(table->columns[i].type), table->columns[i].optional,
			    table->columns[i].unit ? table->columns[i].unit : "");
	}
	return TP_EXIT_DONE;
}

const struct tp_command tp_fleet_schema = {
    .name = "fleet schema",
    .summary = "print the tables and columns of a fleet",
    .usage = "[options]",
    .description =
	"Print a line for each column: its table, name, type, whether it may be NULL (1), and its unit. docs/fleet.md explains them.\n",
    .options = options,
    .run = run,
};
