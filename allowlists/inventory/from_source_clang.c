// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding libclang and its functions.
#include "from_source_clang.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_MAJOR = 14, LAST_MAJOR = 40 };

// Where a major's libclang may be: Debian and Ubuntu, LLVM's own packages, and others.
static const char *const patterns[] = {
    "libclang-%u.so.1",
    "libclang-%u.so.%u",
    "/usr/lib/llvm-%u/lib/libclang.so.1",
    "/usr/lib/llvm-%u/lib/libclang.so.%u",
    "libclang.so.%u",
};

static bool open_major(struct tp_clang *clang, uint32_t major)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(clang->name, sizeof(clang->name), patterns[i], major, major);
#pragma GCC diagnostic pop
		clang->library = dlopen(clang->name, RTLD_NOW | RTLD_LOCAL);
		if (clang->library)
			return true;
	}
	return false;
}

static int find(struct tp_clang *clang, const char *name, void *function, struct tp_err *err)
{
	void *const found = dlsym(clang->library, name);
	memcpy(function, &found, sizeof(found)); // a pointer to a function, as POSIX has it
	if (found)
		return 0;
	return tp_err_set(err, TP_ERR_VERSION, clang->name, TP_ERR_NO_OFFSET,
	    "it has no function '%s': another libclang is needed, as of LLVM %d or newer", name,
	    FIRST_MAJOR);
}

int tp_clang_open(struct tp_clang *clang, uint32_t major, struct tp_err *err)
{
	memset(clang, 0, sizeof(*clang));
	bool found = false;
	if (major)
		found = open_major(clang, major);
	for (uint32_t any = LAST_MAJOR; !major && !found && any >= FIRST_MAJOR; any--)
		found = open_major(clang, any);
	if (!found && major)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "libclang of LLVM %u was not found: install libclang1-%u", major, major);
	if (!found)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "no libclang was found: install libclang1-19");
	int status = 0;
#define FIND(type, member, parameters) \
	if (!status)                   \
		status = find(clang, "clang_" #member, &clang->member, err);
	TP_CLANG_FUNCTIONS(FIND)
#undef FIND
	if (status)
		tp_clang_close(clang);
	return status;
}

void tp_clang_close(struct tp_clang *clang)
{
	if (clang->library)
		dlclose(clang->library);
	clang->library = NULL;
}
