// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texts by which a function, a file or a module may be known to a list.
#include "allowlist_reading.h"

#include <stdbool.h>
#include <string.h>

static void add(struct tp_readings *readings, const char *text, size_t size)
{
	if (readings->count < TP_READINGS_MAX)
		readings->items[readings->count++] = (struct tp_reading){text, size};
}

/*
 * Words behind the dot of a copy's name: LLVM's and GCC's, and of coroutines; "-" at the end stands
 * for any more bytes (processors: .avx2, .arch_haswell, ._Msve2).
 */
static const char *const copy_words[] = {
    "llvm",
    "part",
    "constprop",
    "isra",
    "cold",
    "warm",
    "lto_priv",
    "localalias",
    "specialized",
    "__uniq",
    "default",
    "resolver",
    "ifunc",
    "resume",
    "destroy",
    "cleanup",
    "arch_-",
    "avx-",
    "sse-",
    "ssse3",
    "bmi-",
    "fma-",
    "popcnt",
    "aes",
    "_M-",
};

static bool is_copy_word(const char *word, size_t size)
{
	for (size_t i = 0; i < sizeof(copy_words) / sizeof(copy_words[0]); i++) {
		const size_t length = strlen(copy_words[i]);
		if (copy_words[i][length - 1] == '-'
			? size >= length - 1 && !memcmp(word, copy_words[i], length - 1)
			: size == length && !memcmp(word, copy_words[i], length))
			return true;
	}
	return false;
}

// The size of a name of `size` bytes without its last suffix, `.WORD` or `.WORD.NUMBER`; 0: it has none.
static size_t without_copy(const char *name, size_t size)
{
	size_t end = size;
	for (int i = 0; i < 3; i++) {
		size_t dot = end;
		bool digits = true;
		while (dot && name[dot - 1] != '.') {
			dot--;
			digits &= name[dot] >= '0' && name[dot] <= '9';
		}
		if (dot < 2 || dot == end)
			return 0;
		if (is_copy_word(name + dot, end - dot))
			return dot - 1;
		// A number belongs to the word before it, which may have one of its own: .sse4.2.0
		if (!digits)
			return 0;
		end = dot - 1;
	}
	return 0;
}

void tp_readings_of_function(struct tp_readings *readings, const char *function)
{
	readings->count = 0;
	if (!function)
		return;
	size_t size = strlen(function);
	add(readings, function, size);
	if (!memchr(function, '.', size))
		return;
	while ((size = without_copy(function, size)) != 0)
		add(readings, function, size);
}

static bool ends_with(const char *text, size_t size, const char *end)
{
	const size_t length = strlen(end);
	return size >= length && !memcmp(text + size - length, end, length);
}

// The offset of the '(' that the ')' at the end of `size` bytes closes, or 0.
static size_t opening(const char *name, size_t size)
{
	size_t depth = 0;
	for (size_t at = size; at-- > 0;) {
		depth += name[at] == ')';
		if (name[at] == '(' && --depth == 0)
			return at;
	}
	return 0;
}

// The size of a demangled name without its parameters and what follows them; `size` if it has none.
static size_t without_parameters(const char *name, size_t size)
{
	static const char *const tails[] = {" const", " volatile", " &", " &&", " noexcept"};
	size_t end = size;
	while (end && name[end - 1] == ']') { // " [clone .cold]"
		size_t open = end - 1;
		while (open && name[open] != '[')
			open--;
		if (!open || name[open - 1] != ' ')
			return size;
		end = open - 1;
	}
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		if (ends_with(name, end, tails[i])) {
			end -= strlen(tails[i]);
			i = (size_t)-1; // again from the first
		}
	}
	if (!end || name[end - 1] != ')')
		return size;
	const size_t open = opening(name, end);
	// "A::operator()" is a name without parameters.
	return !open || ends_with(name, open, "operator") ? size : open;
}

void tp_readings_of_name(struct tp_readings *readings, const char *demangled)
{
	readings->count = 0;
	if (!demangled)
		return;
	const size_t size = strlen(demangled);
	add(readings, demangled, size);
	const size_t bare = without_parameters(demangled, size);
	if (bare != size)
		add(readings, demangled, bare);
}

void tp_readings_of_file(struct tp_readings *readings, const char *file)
{
	readings->count = 0;
	while (file && file[0] == '.' && file[1] == '/')
		file += 2;
	if (file)
		add(readings, file, strlen(file));
}

void tp_readings_of_module(struct tp_readings *readings, const char *module)
{
	readings->count = 0;
	if (!module)
		return;
	const size_t size = strlen(module);
	add(readings, module, size);
	const char *slash = strrchr(module, '/');
	if (slash)
		add(readings, slash + 1, size - (size_t)(slash + 1 - module));
}
