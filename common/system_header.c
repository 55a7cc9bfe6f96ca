// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where standard libraries are installed; without debug information, their namespaces.
#include "system_header.h"

#include <stddef.h>
#include <string.h>

bool tp_is_from_system(const char *file, const char *name)
{
	static const char *const folders[] = {
	    "/usr/include/", "/usr/lib/", "/usr/local/include/", "/opt/"};
	static const char *const names[] = {
	    "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};
	if (!*file) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(name, names[i], strlen(names[i])))
				return true;
		return false;
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strncmp(file, folders[i], strlen(folders[i])))
			return true;
	return strstr(file, "/include/c++/") || strstr(file, "/lib/clang/");
}
