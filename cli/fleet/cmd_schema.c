// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet schema: print the tables of a fleet.
#include "fleet/clickhouse.h"
#include "cli/command/command.h"

#include <string.h>

static bool version;
static struct tp_clickhouse_form form;

static const struct tp_option options[] = {
    TP_OPT_BOOL(0, "version", &version, "print only the version of the schema"),
    TP_OPT_STRING(0, "database", &form.database, "NAME",
	"with clickhouse, the database of the tables (default: teeperf)"),
    TP_OPT_BOOL(0, "replicated", &form.replicated,
	"with clickhouse, replicate the tables (ReplicatedReplacingMergeTree)"),
    TP_OPT_STRING(0, "cluster", &form.cluster, "NAME",
	"with clickhouse, distribute the tables over the servers of a cluster (Distributed)"),
    TP_OPT_END,
};

static int print_clickhouse(void)
{
	struct tp_buf out;
	if (!form.database)
		form.database = TP_CLICKHOUSE_DATABASE;
	if (!tp_clickhouse_is_name(form.database))
		return tp_options_usage(
		    "--database: '%s' has characters other than letters, digits and '_'",
		    form.database);
	if (form.cluster && !tp_clickhouse_is_name(form.cluster))
		return tp_options_usage(
		    "--cluster: '%s' has characters other than letters, digits and '_'",
		    form.cluster);
	tp_buf_init(&out);
	tp_clickhouse_schema(&out, &form);
	const bool failed = out.failed;
	if (!failed)
		fputs(out.data, stdout);
	tp_buf_release(&out);
	return failed ? tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory") : TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	if (argc == 1 && strcmp(argv[0], "clickhouse") == 0 && !version)
		return print_clickhouse();
	if (argc)
		return tp_options_usage("it takes 'clickhouse', or nothing");
	if (form.database || form.replicated || form.cluster)
		return tp_options_usage("--database, --replicated and --cluster are for 'teeperf "
					"fleet schema clickhouse'");
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
    .usage = "[options] [clickhouse]",
    .operands = "clickhouse",
    .description = "Print one line per column: its table, name, type, whether it can be NULL (1), "
		   "and its unit.\n"
		   "docs/fleet.md explains them.\n"
		   "\n"
		   "With clickhouse, print the statements that create the tables for "
		   "teeperf-fleet-push(1). With\n"
		   "--cluster, run them on each server of the cluster.\n",
    .examples = "teeperf fleet schema clickhouse | clickhouse-client --multiquery\n",
    .options = options,
    .run = run,
};
