// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ names as people write them, by the C++ runtime library's demangler; and what the standard
// libraries define.
#include "linkage_name.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// A name whose text could be longer than this stays mangled: the demangler allocates all of it.
#define WORST_MAX (UINT64_C(256) << 20)

// Itanium C++ ABI, section 3.4; declared here because <cxxabi.h> is for C++ only.
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

// A part of a name (S1_, T_) may stand for an earlier part, that for several others, and so on: 300
// bytes are enough for more text than there is memory. With R of them the text is at most 3^(R/3)
// times as long as without, which is when each part stands for three of the one before it. A pack
// expansion (Dp) repeats what follows, at most as often as the name has bytes. Of 88,000 names in
// LLVM and clang 63 are above WORST_MAX.
static uint64_t worst_size(const char *name)
{
	const uint64_t size = strlen(name) + 1;
	uint64_t worst = size;
	uint64_t references = 2; // rounds up
	for (const char *at = name; *at && worst <= WORST_MAX; at++) {
		if (at[0] == 'D' && at[1] == 'p')
			worst *= size;
		if (*at != 'S' && *at != 'T')
			continue;
		const char *end = at + 1 + strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (*end == '_' && ++references % 3 == 0)
			worst *= 3;
	}
	// Bytes stand for words: "y" for unsigned long long. In all of those libraries it is five
	// times as many.
	return worst * 8;
}

char *tp_demangle(const char *name)
{
	// Without the prefix the demangler takes "f" for a type, and says float.
	if (strncmp(name, "_Z", 2) != 0 || worst_size(name) > WORST_MAX)
		return NULL;
	int status = 0;
	char *text = __cxa_demangle(name, NULL, NULL, &status);
	if (status == 0 && text && strlen(text) <= TP_DEMANGLE_MAX)
		return text;
	free(text);
	return NULL;
}

// By where standard libraries are installed; without debug information, by their namespaces.
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
