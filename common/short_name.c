// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over a demangled name, which copies what stays. A bracket that nothing closes ends it:
// the name stays as it is.
#include "short_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { NESTED_MOST = 8 }; // qualified types of Rust within one another

struct names {
	const char *at;
	const char *end;
	struct tp_buf *out;
	size_t start; // of the name in out: the text before it is not ours
};

static bool shorten(struct tp_buf *out, const char *name, const char *end, uint32_t nested);

static bool begins(const char *at, const char *end, const char *text)
{
	const size_t length = strlen(text);
	return (size_t)(end - at) >= length && !memcmp(at, text, length);
}

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

// Behind "operator" and the symbols of which it is one; AT if there is no operator.
static const char *skip_operator(const char *begin, const char *at, const char *end)
{
	static const char word[] = "operator";
	static const char *const symbols[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>",
	    "<=", ">=", "==", "!=", "&&", "||", "++", "--",
	    "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "->"};
	if (!begins(at, end, word) || (at > begin && in_word(at[-1])))
		return at;
	const char *behind = at + sizeof(word) - 1;
	if (behind == end || in_word(*behind))
		return at;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (begins(behind, end, symbols[i]))
			return behind + strlen(symbols[i]);
	return strchr("<>=!+-*/%^&|~,", *behind) ? behind + 1 : behind;
}

// Behind the bracket that closes the one AT; NULL if none does.
static const char *skip_group(const char *begin, const char *at, const char *end)
{
	char open[64]; // brackets that are to be closed
	uint32_t depth = 0;
	while (at < end) {
		const char *behind = skip_operator(begin, at, end);
		if (behind > at) {
			at = behind;
			continue;
		}
		const char c = *at++;
		if (c == '<' || c == '(' || c == '{' || c == '[') {
			if (depth == sizeof(open))
				return NULL;
			open[depth++] = c;
		} else if (c == '>' && (at[-2] == '-' || open[depth - 1] != '<')) {
			continue; // an arrow, or a comparison in parentheses
		} else if (c == '>' || c == ')' || c == '}' || c == ']') {
			const char wanted = c == '>' ? '<' : c == ')' ? '(' : c == '}' ? '{' : '[';
			if (open[depth - 1] != wanted)
				return NULL;
			if (!--depth)
				return at;
		}
	}
	return NULL;
}

static bool ends_with(const struct names *names, const char *text)
{
	const size_t length = strlen(text);
	return names->out->size - names->start >= length &&
	       !memcmp(names->out->data + names->out->size - length, text, length);
}

// Whether all that the arguments have beside the type of characters is what they have by default:
// its traits and its allocator.
static bool are_defaults(const char *at, const char *end, const char *type, size_t length)
{
	static const char *const templates[] = {"std::char_traits<", "std::allocator<",
	    "std::__cxx11::regex_traits<", "std::__1::char_traits<", "std::__1::allocator<"};
	while (at < end) {
		while (at < end && strchr(", ", *at))
			at++;
		if (at == end)
			return true;
		size_t i = 0;
		while (i < 5 && !begins(at, end, templates[i]))
			i++;
		if (i == 5)
			return false;
		at += strlen(templates[i]);
		if ((size_t)(end - at) <= length || memcmp(at, type, length) != 0 ||
		    at[length] != '>')
			return false;
		at += length + 1;
	}
	return true;
}

// "std::basic_string" with the arguments from AT to END becomes "std::string". False: it has
// another allocator, or is no such.
static bool name_string(struct names *names, const char *at, const char *end)
{
	static const struct {
		const char *type;
		const char *prefix;
	} types[] = {{"char", ""}, {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"},
	    {"char32_t", "u32"}};
	static const char *const words[] = {"string", "string_view", "ostream", "istream",
	    "iostream", "stringstream", "ostringstream", "istringstream", "ifstream", "ofstream",
	    "fstream", "stringbuf", "filebuf", "streambuf", "ios", "regex", NULL};
	static const char basic[] = "std::basic_";
	size_t i = 0;
	while (i < 5 && !(begins(at, end, types[i].type) && (at + strlen(types[i].type) == end ||
								at[strlen(types[i].type)] == ',')))
		i++;
	if (i == 5)
		return false;
	const size_t length = strlen(types[i].type);
	if (!are_defaults(at + length, end, types[i].type, length))
		return false;
	for (const char *const *word = words; *word; word++) {
		const size_t size = sizeof(basic) - 1 + strlen(*word);
		if (!ends_with(names, *word) || names->out->size - names->start < size)
			continue;
		const char *at_name = names->out->data + names->out->size - size;
		if (memcmp(at_name, basic, sizeof(basic) - 1) != 0 ||
		    (at_name > names->out->data + names->start && in_word(at_name[-1])))
			continue;
		names->out->size -= size;
		tp_buf_addf(names->out, "std::%s%s", types[i].prefix, *word);
		return true;
	}
	return false;
}

// Arguments of a template; or, where a name begins, a type of Rust: "<T as Trait>". False: they do
// not end.
static bool add_angles(struct names *names, const char *begin, uint32_t nested)
{
	const char *behind = skip_group(begin, names->at, names->end);
	if (!behind)
		return false;
	const char *inner = names->at + 1;
	const bool qualified = names->out->size == names->start || ends_with(names, "::");
	names->at = behind;
	if (name_string(names, inner, behind - 1))
		return true;
	if (!qualified) {
		tp_buf_add_string(names->out, "<…>");
		return true;
	}
	tp_buf_add_char(names->out, '<');
	const char *as = inner;
	while (as && as < behind && !begins(as, behind - 1, " as "))
		as = *as == '<' || *as == '(' || *as == '[' ? skip_group(begin, as, behind - 1)
							    : as + 1;
	if (!as)
		return false;
	const bool has_trait = as < behind;
	if (!shorten(names->out, inner, has_trait ? as : behind - 1, nested + 1))
		return false;
	if (has_trait) {
		tp_buf_add_string(names->out, " as ");
		if (!shorten(names->out, as + 4, behind - 1, nested + 1))
			return false;
	}
	tp_buf_add_char(names->out, '>');
	return true;
}

// "{lambda(int)#1}" without its parameters.
static bool add_braces(struct names *names, const char *begin)
{
	const char *behind = skip_group(begin, names->at, names->end);
	if (!behind)
		return false;
	while (names->at < behind) {
		if (*names->at == '(') {
			names->at = skip_group(begin, names->at, behind);
			if (!names->at)
				return false;
		} else {
			tp_buf_add_char(names->out, *names->at++);
		}
	}
	return true;
}

// What stands behind the name of a copy, as " [clone .cold]".
static bool is_clone(const char *at, const char *end)
{
	return begins(at, end, " [clone") || begins(at, end, " (.");
}

static const char *skip_qualifiers(const char *at, const char *end)
{
	static const char *const words[] = {" const", " volatile", " noexcept", " &&", " &"};
	for (size_t i = 0; i < 5;) {
		if (begins(at, end, words[i])) {
			at += strlen(words[i]);
			i = 0;
		} else {
			i++;
		}
	}
	return at;
}

// A group in parentheses. *DONE: it was the parameters. False: it is something that we do not know.
static bool add_parentheses(struct names *names, const char *begin, bool *done)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *behind = skip_group(begin, names->at, names->end);
	if (!behind)
		return false;
	if (begins(names->at, names->end, anonymous) ||
	    (names->at > begin && names->at[-1] == '.')) {
		tp_buf_add(names->out, names->at, (size_t)(behind - names->at));
		names->at = behind;
		return true;
	}
	if (ends_with(names, "decltype") || ends_with(names, "decltype ")) {
		names->at = behind; // a type of result, which goes
		return true;
	}
	if (names->out->size == names->start)
		return false;
	names->at = skip_qualifiers(behind, names->end);
	if (begins(names->at, names->end, "::"))
		return true; // an entity within that function
	if (names->at < names->end && !is_clone(names->at, names->end) && *names->at != '.')
		return false;
	tp_buf_add(names->out, names->at, (size_t)(names->end - names->at));
	*done = true;
	return true;
}

// An operator's symbols, or the type that it converts to, up to its parameters.
static void add_operator(struct names *names, const char *behind)
{
	tp_buf_add(names->out, names->at, (size_t)(behind - names->at));
	const bool converts =
	    behind < names->end && (*behind == ' ' || *behind == '"') && behind[-1] == 'r';
	names->at = behind;
	while (converts && names->at < names->end && *names->at != '(' && *names->at != '<') {
		tp_buf_add_char(names->out, *names->at);
		names->at++;
	}
}

static bool shorten(struct tp_buf *out, const char *name, const char *end, uint32_t nested)
{
	struct names names = {.at = name, .end = end, .out = out, .start = out->size};
	bool done = false;
	if (nested > NESTED_MOST)
		return false;
	while (names.at < end && !done) {
		if (is_clone(names.at, end)) {
			tp_buf_add(out, names.at, (size_t)(end - names.at));
			break;
		}
		const char *behind = skip_operator(name, names.at, end);
		const char c = *names.at;
		if (behind > names.at) {
			add_operator(&names, behind);
		} else if (c == '<') {
			if (!add_angles(&names, name, nested))
				return false;
		} else if (c == '{') {
			if (!add_braces(&names, name))
				return false;
		} else if (c == '(') {
			if (!add_parentheses(&names, name, &done))
				return false;
		} else if (c == ' ' && !nested && names.at + 1 < end &&
			   !strchr("<[(", names.at[1])) {
			out->size = names.start; // that was the type of the result
			names.at++;
		} else if (c == '[' && begins(names.at, end, "[abi:")) {
			names.at = skip_group(name, names.at, end);
			if (!names.at)
				return false;
		} else if (ends_with(&names, "std::") && begins(names.at, end, "__cxx11::")) {
			names.at += 9;
		} else if (ends_with(&names, "std::") && begins(names.at, end, "__1::")) {
			names.at += 5;
		} else {
			tp_buf_add_char(out, c);
			names.at++;
		}
	}
	return out->size > names.start;
}

// What a demangler says of functions that the compiler made.
static size_t prefix_of(const char *name)
{
	static const char *const prefixes[] = {"non-virtual thunk to ", "virtual thunk to ",
	    "covariant return thunk to ", "TLS init function for ", "TLS wrapper function for ",
	    "transaction clone for "};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return strlen(prefixes[i]);
	return 0;
}

void tp_short_name_add(struct tp_buf *out, const char *name)
{
	const size_t start = out->size;
	const size_t prefix = prefix_of(name);
	if (strpbrk(name, "<(:") && !strchr("[+-", name[0])) {
		tp_buf_add(out, name, prefix);
		if (shorten(out, name + prefix, name + strlen(name), 0))
			return;
		out->size = start;
	}
	tp_buf_add_string(out, name);
}
