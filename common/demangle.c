// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ names as people write them: calls the C++ runtime library's demangler.
#include "demangle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Itanium C++ ABI, section 3.4; declared here because <cxxabi.h> is for C++ only.
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

char *tp_demangle(const char *name)
{
	// Without the prefix the demangler takes "f" for a type, and says float.
	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	int status = 0;
	char *text = __cxa_demangle(name, NULL, NULL, &status);
	if (status == 0 && text)
		return text;
	free(text);
	return NULL;
}
