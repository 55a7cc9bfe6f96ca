/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An inventory and a list, both from text, for tests of what compares them. */
#ifndef TP_LIST_FIXTURE_H
#define TP_LIST_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "allowlists/inventory/build.h"
#include "allowlists/check/use.h"

/* What most of these tests look at: functions of every fate. */
#define FIXTURE_PROGRAM                                                                        \
	"teeperf-inventory\t1\n"                                                               \
	"unit\tsrc/parse.c\tmodule=app\n"                                                      \
	"file\tsrc/parse.c\n"                                                                  \
	"fun\tparse\texternal\temitted\tfile=#0\tline=10\tstart=90\tinstrs=80\tblocks=9\n"     \
	"call\t#1\tsites=2\tfreq=3\n"                                                          \
	"fun\tparse_line\texternal\tpartly\tfile=#0\tline=20\tstart=40\tinstrs=30\tblocks=4\n" \
	"into\t#0\n"                                                                           \
	"fun\tdigit\tinternal\tinlined\tfile=#0\tline=4\tstart=5\n"                            \
	"into\t#0\tsites=3\n"                                                                  \
	"into\t#1\n"                                                                           \
	"fun\tunused\tinternal\tremoved\tfile=#0\tline=5\tstart=5\n"                           \
	"fun\tinit\tinternal\temitted\tfile=#0\tline=6\tstart=5\tinstrs=5\tblocks=1\n"         \
	"unit\tsrc/lexer.cc\tmodule=app\n"                                                     \
	"file\tsrc/lexer.cc\n"                                                                 \
	"fun\tinit\tinternal\temitted\tfile=#1\tline=7\tstart=5\tinstrs=5\tblocks=1\n"         \
	"fun\t_ZN5Lexer4nextEi\texternal\temitted\tfile=#1\tline=30\tstart=50\tinstrs=44\n"    \
	"fun\t_ZN5Lexer4nameB5cxx11Ev\texternal\temitted\tfile=#1\tline=40\tinstrs=44\n"       \
	"fun\t_Z3runv\texternal\temitted\tfile=#1\tline=50\tinstrs=44\n"

struct fixture {
	struct tp_inventory inventory;
	struct tp_allowlist *list;
	struct tp_list_use use;
};

static inline void fixture_fail(const struct tp_err *err)
{
	char text[1024];
	fail_msg("%s", tp_err_format(err, text, sizeof(text)));
}

static inline void fixture_inventory(struct tp_inventory *inventory, const char *program)
{
	struct tp_inventory_builder builder;
	struct tp_err err = {0};
	tp_inventory_builder_init(&builder, inventory);
	int code = *program
		       ? tp_inventory_add_memory(&builder, program, strlen(program), "test", &err)
		       : 0;
	if (!code)
		code = tp_inventory_merge(&builder, &err);
	tp_inventory_builder_release(&builder);
	if (code)
		fixture_fail(&err);
}

static inline void fixture_init(struct fixture *fixture, const char *program, const char *list)
{
	struct tp_err err = {0};
	fixture_inventory(&fixture->inventory, program);
	if (tp_allowlist_parse(&fixture->list, list, strlen(list), "test.allow", &err) ||
	    tp_list_use_init(&fixture->use, fixture->list, &fixture->inventory, &err))
		fixture_fail(&err);
}

static inline void fixture_release(struct fixture *fixture)
{
	tp_list_use_release(&fixture->use);
	tp_allowlist_free(fixture->list);
	tp_inventory_release(&fixture->inventory);
}

#endif
