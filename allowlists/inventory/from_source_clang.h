/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The few functions of libclang that are used, found when they are needed: nobody else has to have
 * it.
 *
 * Declarations are of libclang's stable C interface (clang-c/Index.h, CXString.h,
 * CXSourceLocation.h and CXCompilationDatabase.h), which has kept them, and the numbers below,
 * since LLVM 3.x. They are repeated here since Debian's libclang-N-dev, 300 MB, would be needed for
 * nothing else.
 */
#ifndef TP_FROM_SOURCE_CLANG_H
#define TP_FROM_SOURCE_CLANG_H

#include <stdint.h>

#include "build.h"
#include "common/buf.h"
#include "common/err.h"
#include "inventory.h"

typedef struct {
	const void *data;
	unsigned flags;
} tp_clang_string;

typedef struct {
	int kind; /* enum tp_clang_kind */
	int xdata;
	const void *data[3];
} tp_clang_cursor;

typedef struct {
	const void *pointers[2];
	unsigned number;
} tp_clang_location;

/* CXCursorKind */
enum tp_clang_kind {
	TP_CLANG_FUNCTION = 8,
	TP_CLANG_METHOD = 21,
	TP_CLANG_CONSTRUCTOR = 24,
	TP_CLANG_DESTRUCTOR = 25,
	TP_CLANG_CONVERSION = 26,
	TP_CLANG_FUNCTION_TEMPLATE = 30,
	TP_CLANG_CLASS_TEMPLATE = 31,
	TP_CLANG_PARTIAL_SPECIALIZATION = 32,
	TP_CLANG_LAMBDA = 144,
};

/* CXLinkageKind */
enum tp_clang_linkage {
	TP_CLANG_INTERNAL = 2,
	TP_CLANG_UNIQUE_EXTERNAL = 3, /* in an anonymous namespace */
	TP_CLANG_EXTERNAL = 4,
};

/* CXChildVisitResult */
enum tp_clang_visit {
	TP_CLANG_BREAK,
	TP_CLANG_CONTINUE,
	TP_CLANG_RECURSE,
};

/* CXTranslationUnit_KeepGoing, CXDiagnostic_Error, clang_defaultDiagnosticDisplayOptions */
enum {
	TP_CLANG_KEEP_GOING = 0x200,
	TP_CLANG_ERROR = 3,
	TP_CLANG_SHOW_PLACE = 1,
};

typedef enum tp_clang_visit (*tp_clang_visitor)(
    tp_clang_cursor cursor, tp_clang_cursor parent, void *context);

/* X(type, name, parameters), of clang_NAME. */
#define TP_CLANG_FUNCTIONS(X)                                                                 \
	X(void *, CompilationDatabase_fromDirectory, (const char *folder, unsigned *error))   \
	X(void *, CompilationDatabase_getAllCompileCommands, (void *database))                \
	X(unsigned, CompileCommands_getSize, (void *commands))                                \
	X(void *, CompileCommands_getCommand, (void *commands, unsigned index))               \
	X(tp_clang_string, CompileCommand_getDirectory, (void *command))                      \
	X(tp_clang_string, CompileCommand_getFilename, (void *command))                       \
	X(unsigned, CompileCommand_getNumArgs, (void *command))                               \
	X(tp_clang_string, CompileCommand_getArg, (void *command, unsigned index))            \
	X(const char *, getCString, (tp_clang_string string))                                 \
	X(void, disposeString, (tp_clang_string string))                                      \
	X(void, toggleCrashRecovery, (unsigned on))                                           \
	X(void *, createIndex, (int exclude_pch, int show_diagnostics))                       \
	X(int, parseTranslationUnit2FullArgv,                                                 \
	    (void *index, const char *file, const char *const *argv, int argc, void *unsaved, \
		unsigned unsaved_count, unsigned options, void **unit))                       \
	X(tp_clang_string, getTranslationUnitSpelling, (void *unit))                          \
	X(tp_clang_cursor, getTranslationUnitCursor, (void *unit))                            \
	X(unsigned, getNumDiagnostics, (void *unit))                                          \
	X(void *, getDiagnostic, (void *unit, unsigned index))                                \
	X(int, getDiagnosticSeverity, (void *diagnostic))                                     \
	X(tp_clang_string, formatDiagnostic, (void *diagnostic, unsigned options))            \
	X(void, disposeDiagnostic, (void *diagnostic))                                        \
	X(unsigned, visitChildren,                                                            \
	    (tp_clang_cursor parent, tp_clang_visitor visitor, void *context))                \
	X(unsigned, isStatement, (int kind))                                                  \
	X(unsigned, isExpression, (int kind))                                                 \
	X(unsigned, isCursorDefinition, (tp_clang_cursor cursor))                             \
	X(unsigned, CXXMethod_isVirtual, (tp_clang_cursor cursor))                            \
	X(unsigned, CXXMethod_isDefaulted, (tp_clang_cursor cursor))                          \
	X(unsigned, Cursor_isFunctionInlined, (tp_clang_cursor cursor))                       \
	X(int, getCursorLinkage, (tp_clang_cursor cursor))                                    \
	X(tp_clang_string, Cursor_getMangling, (tp_clang_cursor cursor))                      \
	X(tp_clang_location, getCursorLocation, (tp_clang_cursor cursor))                     \
	X(int, Location_isInSystemHeader, (tp_clang_location location))                       \
	X(void, getExpansionLocation,                                                         \
	    (tp_clang_location location, void **file, unsigned *line, unsigned *column,       \
		unsigned *offset))                                                            \
	X(tp_clang_string, getFileName, (void *file))

struct tp_clang {
	void *library;
	char name[64]; /* as it was opened */
#define TP_CLANG_MEMBER(type, name, parameters) type(*name) parameters;
	TP_CLANG_FUNCTIONS(TP_CLANG_MEMBER)
#undef TP_CLANG_MEMBER
};

/* ---- what the process of a file does ---- */

/* The report on one file, which precedes its functions. */
struct tp_from_source_report {
	struct tp_from_source_counts counts; /* of this file; lost if it could not be read */
	char error[512];                     /* the first, or "" */
	uint64_t text_size;                  /* of the inventory's text */
};

/*
 * Read what COMMAND of libclang's database compiles, in its folder, and append the inventory's
 * text. Changes the folder of the process.
 */
void tp_from_source_read(const struct tp_clang *clang, void *command,
    struct tp_from_source_report *report, struct tp_buf *text);

#endif
