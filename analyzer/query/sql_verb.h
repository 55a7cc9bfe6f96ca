/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a statement of SQL does, by its words: so that a refusal names what the user wrote. */
#ifndef TP_SQL_VERB_H
#define TP_SQL_VERB_H

#include <stdbool.h>

struct tp_sql_verb {
	char name
	    [32]; /* in capitals, of CREATE and its like with what is created: "CREATE VIEW"; or empty */
	int offset;  /* where in the statement it stands; -1: there is none that SQLite knows */
	bool writes; /* it would change something, or begin or end a transaction */
};

/*
 * The verb of the first statement in SQL. Of EXPLAIN it is that of the statement which is explained, of WITH
 * that of the statement behind.
 */
void tp_sql_verb_find(struct tp_sql_verb *verb, const char *sql);

#endif
