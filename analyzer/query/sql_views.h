/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Views over the tables: other programs' names for what is in them. */
#ifndef TP_SQL_VIEWS_H
#define TP_SQL_VIEWS_H

struct tp_sql_view {
	const char *name;
	const char *summary;
	const char *sql;
};

/* Ended by one without a name. */
extern const struct tp_sql_view tp_sql_views[];

#endif
