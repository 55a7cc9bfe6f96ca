// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all tables share, and the virtual table of those that are arrays already.
#include "analyzer/query/sql.h"

#include "analyzer/query/query.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// xBestIndex tells xFilter what its arguments are.
#define PLAN_KEY_IS 1
#define PLAN_KEY_FROM 2
#define PLAN_KEY_TO 4

struct cursor {
	struct tp_sql_cursor base; // id: the number of the row
	int64_t end;
};

// ---- shared

// What a table declares: "CREATE TABLE x(...)". NULL: no memory; sqlite3_free it.
static char *declaration(const struct tp_relation *relation)
{
	uint8_t list[TP_RELATION_COLUMNS];
	sqlite3_str *text = sqlite3_str_new(NULL);
	const uint32_t count = tp_relation_list(relation, TP_FORM_SQL, list);
	sqlite3_str_appendall(text, "CREATE TABLE x(");
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_relation_column *column = &relation->columns[i];
		sqlite3_str_appendf(text, "%s\"%w\" %s%s", i ? ", " : "", column->key,
		    tp_sql_type(column), column->hidden ? " HIDDEN" : "");
	}
	for (uint32_t i = 0; i < relation->count; i++)
		for (int j = 0; j < 2 && relation->columns[i].old[j]; j++)
			sqlite3_str_appendf(text, ", \"%w\" %s HIDDEN", relation->columns[i].old[j],
			    tp_sql_type(&relation->columns[i]));
	sqlite3_str_appendall(text, ")");
	return sqlite3_str_finish(text);
}

int tp_sql_fail(sqlite3_vtab *base, int code, const struct tp_err *err)
{
	const struct tp_sql_vtab *vtab = tp_sql_vtab(base);
	if (vtab->data->give_up && atomic_load_explicit(vtab->data->give_up, memory_order_relaxed))
		return SQLITE_INTERRUPT;
	char text[TP_ERR_TEXT_SIZE];
	sqlite3_free(base->zErrMsg);
	base->zErrMsg = sqlite3_mprintf("%s", tp_err_format(err, text, sizeof(text)));
	return code == TP_ERR_MEMORY ? SQLITE_NOMEM : SQLITE_ERROR;
}

int tp_sql_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
    sqlite3_vtab **out, char **message)
{
	struct tp_query *query = context;
	(void)message;
	const uint32_t trace = argc == 5 ? (uint32_t)strtoul(argv[3], NULL, 10) : UINT32_MAX;
	const uint32_t number = argc == 5 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	uint32_t count = 0;
	while (tp_sql_tables[count].relation)
		count++;
	if (trace >= query->trace_count || number >= count)
		return SQLITE_ERROR;
	const struct tp_relation *relation = tp_sql_tables[number].relation;
	char *text = declaration(relation);
	if (!text)
		return SQLITE_NOMEM;
	int code = sqlite3_declare_vtab(db, text);
	sqlite3_free(text);
	struct tp_sql_vtab *vtab = code ? NULL : sqlite3_malloc(sizeof(*vtab));
	if (!vtab)
		return code ? code : SQLITE_NOMEM;
	*vtab = (struct tp_sql_vtab){
	    .data = query->traces[trace],
	    .table = &tp_sql_tables[number],
	};
	uint32_t columns = tp_relation_list(relation, TP_FORM_SQL, vtab->columns);
	for (uint32_t i = 0; i < relation->count; i++)
		for (int j = 0; j < 2 && relation->columns[i].old[j]; j++)
			vtab->columns[columns++] = (uint8_t)i;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	*out = &vtab->base;
	return SQLITE_OK;
}

int tp_sql_disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

static const struct tp_sql_module *module_of(const sqlite3_vtab *base)
{
	return (const struct tp_sql_module *)(const void *)base->pModule;
}

int tp_sql_open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	const struct tp_sql_module *module = module_of(base);
	*out = sqlite3_malloc64(module->cursor_size);
	if (!*out)
		return SQLITE_NOMEM;
	memset(*out, 0, module->cursor_size);
	return SQLITE_OK;
}

int tp_sql_close_cursor(sqlite3_vtab_cursor *base)
{
	const struct tp_sql_module *module = module_of(base->pVtab);
	if (module->release)
		module->release((struct tp_sql_cursor *)(void *)base);
	sqlite3_free(base);
	return SQLITE_OK;
}

int tp_sql_at_end(sqlite3_vtab_cursor *base)
{
	return !((const struct tp_sql_cursor *)(const void *)base)->row;
}

int tp_sql_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((const struct tp_sql_cursor *)(const void *)base)->id;
	return SQLITE_OK;
}

int tp_sql_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct tp_sql_vtab *vtab = tp_sql_vtab(base->pVtab);
	const struct tp_relation *relation = vtab->table->relation;
	const uint32_t at = vtab->columns[column];
	const struct tp_relation_column *of = &relation->columns[at];
	const struct tp_cell cell = relation->value(
	    &vtab->data->relation, ((const struct tp_sql_cursor *)(const void *)base)->row, at);
	if (of->nullable && (cell.type == TP_CELL_TEXT ? !*cell.text : !cell.count))
		return SQLITE_OK;
	// A text outlives the statement, or is copied.
	if (cell.type == TP_CELL_TEXT)
		sqlite3_result_text(
		    context, cell.text, -1, of->made ? SQLITE_TRANSIENT : SQLITE_STATIC);
	else if (cell.type)
		sqlite3_result_int64(context, tp_cell_signed(&cell));
	return SQLITE_OK;
}

// ---- arrays

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct tp_sql_vtab *vtab = tp_sql_vtab(base);
	const struct tp_relation *relation = vtab->table->relation;
	const uint64_t rows = relation->rows(&vtab->data->relation).count;
	int chosen[3] = {-1, -1, -1}; // constraints for =, >= and <=
	for (int i = 0; relation->ordered && i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != 0 || !info->aConstraint[i].usable)
			continue;
		switch (info->aConstraint[i].op) {
		case SQLITE_INDEX_CONSTRAINT_EQ:
			chosen[0] = i;
			break;
		case SQLITE_INDEX_CONSTRAINT_GT:
		case SQLITE_INDEX_CONSTRAINT_GE:
			chosen[1] = i;
			break;
		case SQLITE_INDEX_CONSTRAINT_LT:
		case SQLITE_INDEX_CONSTRAINT_LE:
			chosen[2] = i;
			break;
		default:
			break;
		}
	}
	double estimate = (double)rows + 1;
	int arguments = 0;
	info->idxNum = 0;
	if (chosen[0] >= 0) {
		info->idxNum = PLAN_KEY_IS;
		info->aConstraintUsage[chosen[0]].argvIndex = ++arguments;
		estimate = relation->unique ? 1 : 4;
		if (relation->unique)
			info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	} else {
		for (int i = 1; i < 3; i++)
			if (chosen[i] >= 0) {
				info->idxNum |= i == 1 ? PLAN_KEY_FROM : PLAN_KEY_TO;
				info->aConstraintUsage[chosen[i]].argvIndex = ++arguments;
				estimate /= 4;
			}
	}
	info->estimatedRows = (sqlite3_int64)estimate + (estimate < 1);
	info->estimatedCost = estimate + 2;
	info->orderByConsumed = relation->ordered && info->nOrderBy == 1 &&
				info->aOrderBy[0].iColumn == 0 && !info->aOrderBy[0].desc;
	return SQLITE_OK;
}

static int64_t key_of(const struct tp_sql_vtab *vtab, int64_t row)
{
	const struct tp_relation *relation = vtab->table->relation;
	struct tp_relation_data *data = &vtab->data->relation;
	return relation->value(data, tp_relation_row(relation, data, (uint64_t)row), 0).number;
}

// The first row whose key is at least KEY.
static int64_t find(const struct tp_sql_vtab *vtab, int64_t rows, int64_t key)
{
	return TP_LOWER_BOUND(INT64_C(0), rows, middle, key_of(vtab, middle) < key);
}

// Row number ID, unless that is the end.
static void settle(struct cursor *cursor, const struct tp_sql_vtab *vtab)
{
	cursor->base.row = cursor->base.id < cursor->end
			       ? tp_relation_row(vtab->table->relation, &vtab->data->relation,
				     (uint64_t)cursor->base.id)
			       : NULL;
}

static int filter(
    sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)(void *)base;
	const struct tp_sql_vtab *vtab = tp_sql_vtab(base->pVtab);
	(void)text;
	struct tp_err err;
	const int code = vtab->table->prepare ? vtab->table->prepare(vtab->data, &err) : 0;
	if (code)
		return tp_sql_fail(base->pVtab, code, &err);
	const int64_t rows = tp_sql_clamp(vtab->table->relation->rows(&vtab->data->relation).count);
	cursor->base.id = 0;
	cursor->end = rows;
	// SQLite compares once more, so a key that is no whole number may be left to it.
	int next = 0;
	if (plan & (PLAN_KEY_IS | PLAN_KEY_FROM)) {
		int64_t key;
		if (next < argc && tp_sql_bound(argv[next++], true, &key))
			cursor->base.id = find(vtab, rows, key);
	}
	if (plan & (PLAN_KEY_IS | PLAN_KEY_TO)) {
		int64_t key;
		if (plan & PLAN_KEY_IS)
			next = 0;
		if (next < argc && tp_sql_bound(argv[next++], false, &key) && key < INT64_MAX)
			cursor->end = find(vtab, rows, key + 1);
	}
	settle(cursor, vtab);
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)(void *)base;
	cursor->base.id++;
	settle(cursor, tp_sql_vtab(base->pVtab));
	return SQLITE_OK;
}

const struct tp_sql_module tp_sql_array_module = {
    .base = {TP_SQL_MODULE, .xBestIndex = best_index, .xFilter = filter, .xNext = next_row},
    .cursor_size = sizeof(struct cursor),
};
