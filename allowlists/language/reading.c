// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texts by which a function, a file or a module may be known to a list.
#include "reading.h"

#include <string.h>

static void add(struct tp_readings *readings, const char *text, size_t size)
{
	for (uint32_t i = 0; i < readings->count; i++)
		if (readings->items[i].size == size && !memcmp(readings->items[i].text, text, size))
			return;
	if (readings->count < TP_READINGS_MAX)
		readings->items[readings->count++] = (struct tp_reading){text, size};
}

/*
 * Words behind the dot of a copy's name: LLVM's and GCC's, and of coroutines; "-" at the end stands
 * for any more bytes (processors: .avx2, .arch_haswell, ._Msve2).
 */
static const char *const copy_words[] = {"llvm", "part", "constprop", "isra", "cold", "warm",
    "lto_priv", "localalias", "specialized", "memprof", "internalized", "argprom", "argelim",
    "retelim", "extracted", "cfi", "__uniq", "default", "resolver", "ifunc", "resume", "destroy",
    "cleanup", "noalloc", "arch_-", "avx-", "sse-", "ssse3", "bmi-", "fma-", "popcnt", "aes",
    "_M-"};

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

// The size of a name of `size` bytes without its last suffix, `.WORD` or `.WORD.NUMBER`; 0: it has
// none.
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

// The name without each suffix that it has.
static void add_originals(struct tp_readings *readings, const char *name)
{
	size_t size = strlen(name);
	while (memchr(name, '.', size) && (size = without_copy(name, size)) != 0)
		add(readings, name, size);
}

void tp_readings_of_function(struct tp_readings *readings, const char *function, const char *origin)
{
	readings->count = 0;
	if (function)
		add(readings, function, strlen(function));
	// Before those that there may be too many of.
	if (origin)
		add(readings, origin, strlen(origin));
	if (function)
		add_originals(readings, function);
	if (origin)
		add_originals(readings, origin);
}

bool tp_name_is_renamed(const char *name, const char *origin)
{
	const size_t size = strlen(origin);
	if (strncmp(name, origin, size) != 0 || !name[size])
		return false;
	const char *at = name + size;
	while (*at == '.') {
		if (!strncmp(at, ".llvm.", 6))
			at += 5;
		const size_t digits = strspn(at + 1, "0123456789");
		if (!digits)
			return false;
		at += 1 + digits;
	}
	return !*at;
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

// The size of a demangled name without what marks a copy: " [clone .cold]".
static size_t without_clones(const char *name, size_t size)
{
	while (size && name[size - 1] == ']') {
		size_t open = size - 1;
		while (open && name[open] != '[')
			open--;
		if (!open || name[open - 1] != ' ')
			break;
		size = open - 1;
	}
	return size;
}

// The size of a demangled name without its parameters and what follows them; `size` if it has none.
static size_t without_parameters(const char *name, size_t size)
{
	static const char *const tails[] = {" const", " volatile", " &", " &&", " noexcept"};
	size_t end = without_clones(name, size);
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

static bool begins(const char *text, const char *end, const char *with)
{
	const size_t length = strlen(with);
	return (size_t)(end - text) >= length && !memcmp(text, with, length);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

// Behind the name of an operator: "operator<< " and its like have brackets and blanks of their own.
static const char *skip_operator(const char *at, const char *end)
{
	static const char *const symbols[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>",
	    "<=", ">=", "->", "<", ">", "\"\" ", "\"\""};
	at += strlen("operator");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (!begins(at, end, symbols[i]))
			continue;
		at += strlen(symbols[i]);
		break;
	}
	if (begins(at, end, " <"))
		return at + 1; // the arguments of a template
	// A word, or the type that is converted to.
	int depth = 0;
	while (at < end && (depth || !strchr("(<", *at) || (*at == '<' && is_word(at[-1])))) {
		depth += (*at == '<') - (*at == '>');
		at++;
	}
	return at;
}

// Whether the text after a blank qualifies the text before it: "char const*", "f() const".
static bool is_qualifier(const char *at, const char *end)
{
	static const char *const words[] = {"const", "volatile", "noexcept"};
	if (at == end || strchr("&*[", *at))
		return true;
	if (*at == '(')
		return !begins(at, end, "(anonymous namespace)");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins(at, end, words[i]) &&
		    (at + strlen(words[i]) == end || !is_word(at[strlen(words[i])])))
			return true;
	return false;
}

/*
 * Where the name begins in a demangled name: behind the type that is returned, which those of
 * functions made from templates begin with: "void std::sort<int*>(int*, int*)". 0 if there is none,
 * or if it stands around the name: "int (*f<int>())(char)".
 */
static size_t behind_return_type(const char *name, size_t size)
{
	enum { DEPTH_MAX = 128 };
	static const char opening_brackets[] = "(<[{";
	static const char closing_brackets[] = ")>]}";
	char closing[DEPTH_MAX]; // of the brackets that are open
	size_t depth = 0;
	const char *const end = name + size;
	const char *start = name;
	for (const char *at = name; at < end; at++) {
		const char *const open = strchr(opening_brackets, *at);
		if (begins(at, end, "operator") && (at == name || !is_word(at[-1])) &&
		    (at + 8 == end || !is_word(at[8]))) {
			at = skip_operator(at, end) - 1;
		} else if (open) {
			if (depth == DEPTH_MAX)
				return 0;
			closing[depth++] = closing_brackets[open - opening_brackets];
		} else if (depth && *at == closing[depth - 1]) {
			depth--;
		} else if (!depth && *at == ' ' && !is_qualifier(at + 1, end)) {
			start = at + 1;
		}
	}
	const size_t before = (size_t)(start - name);
	// "non-virtual thunk to f()" and "guard variable for x" are no types.
	if (depth || ends_with(name, before, " to ") || ends_with(name, before, " for "))
		return 0;
	return before;
}

static void add_name(struct tp_readings *readings, const char *demangled)
{
	size_t size = strlen(demangled);
	add(readings, demangled, size);
	add_originals(readings, demangled);
	add(readings, demangled, without_clones(demangled, size));
	add(readings, demangled, without_parameters(demangled, size));
	const size_t type = behind_return_type(demangled, size);
	if (!type)
		return;
	demangled += type;
	size -= type;
	add(readings, demangled, size);
	add(readings, demangled, without_clones(demangled, size));
	add(readings, demangled, without_parameters(demangled, size));
}

void tp_readings_of_name(struct tp_readings *readings, const char *demangled, const char *origin)
{
	readings->count = 0;
	if (demangled)
		add_name(readings, demangled);
	if (origin)
		add_name(readings, origin);
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
