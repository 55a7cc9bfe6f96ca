// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// toml++ behind a C interface.
#include "toml.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <vector>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace
{

struct out_of_memory {
};
struct bad_text {
	tp_toml_place place;
};

tp_toml_place place_of(const toml::source_region &region)
{
	return {region.begin.line, region.begin.column};
}

const char *copy(tp_arena *arena, std::string_view text, tp_toml_place place)
{
	if (text.find('\0') != text.npos)
		throw bad_text{place};
	const char *copied = tp_arena_copy(arena, text.data(), text.size());
	if (!copied)
		throw out_of_memory();
	return copied;
}

tp_toml *convert(tp_arena *arena, const toml::node &node);

// Link the ITEMS below PARENT.
void link(tp_toml *parent, const std::vector<tp_toml *> &items)
{
	tp_toml **end = &parent->first;
	for (tp_toml *item : items) {
		*end = item;
		end = &item->next;
	}
	parent->count = static_cast<uint32_t>(items.size());
}

void convert_array(tp_arena *arena, const toml::array &array, tp_toml *to)
{
	std::vector<tp_toml *> items;
	for (const toml::node &item : array)
		items.push_back(convert(arena, item));
	link(to, items);
}

// toml++ sorts tables by their keys.
void convert_table(tp_arena *arena, const toml::table &table, tp_toml *to)
{
	std::vector<tp_toml *> items;
	for (auto &&[key, value] : table) {
		tp_toml *item = convert(arena, value);
		item->key_place = place_of(key.source());
		item->key = copy(arena, key.str(), item->key_place);
		items.push_back(item);
	}
	std::stable_sort(items.begin(), items.end(), [](const tp_toml *a, const tp_toml *b) {
		return a->key_place.line != b->key_place.line
			   ? a->key_place.line < b->key_place.line
			   : a->key_place.column < b->key_place.column;
	});
	link(to, items);
}

tp_toml *convert(tp_arena *arena, const toml::node &node)
{
	tp_toml *to = static_cast<tp_toml *>(tp_arena_alloc(arena, sizeof(tp_toml)));
	if (!to)
		throw out_of_memory();
	to->place = place_of(node.source());
	if (const auto *text = node.as_string()) {
		to->type = TP_TOML_TEXT;
		to->text = copy(arena, text->get(), to->place);
	} else if (const auto *integer = node.as_integer()) {
		to->type = TP_TOML_INTEGER;
		to->integer = integer->get();
		to->real = static_cast<double>(to->integer);
	} else if (const auto *real = node.as_floating_point()) {
		to->type = TP_TOML_REAL;
		to->real = real->get();
	} else if (const auto *truth = node.as_boolean()) {
		to->type = TP_TOML_BOOL;
		to->truth = truth->get();
	} else if (const auto *array = node.as_array()) {
		to->type = TP_TOML_ARRAY;
		convert_array(arena, *array, to);
	} else if (const auto *table = node.as_table()) {
		to->type = TP_TOML_TABLE;
		convert_table(arena, *table, to);
	} else {
		to->type = TP_TOML_TIME;
	}
	return to;
}

} // namespace

int tp_toml_parse(struct tp_arena *arena, const char *file, const char *text, size_t size,
    const struct tp_toml **root, struct tp_err *err)
try {
	const toml::table table = toml::parse(std::string_view(text, size), std::string_view(file));
	*root = convert(arena, table);
	return 0;
} catch (const toml::parse_error &error) {
	const tp_toml_place place = place_of(error.source());
	const std::string_view what = error.description();
	return tp_err_set_line(err, TP_ERR_SYNTAX, file, place.line, place.column,
	    "this is not TOML: %.*s", static_cast<int>(what.size()), what.data());
} catch (const bad_text &text_with) {
	return tp_err_set_line(err, TP_ERR_SYNTAX, file, text_with.place.line,
	    text_with.place.column, "the text has a NUL character; leave it out");
} catch (const out_of_memory &) {
	return tp_err_memory(err, file);
} catch (const std::bad_alloc &) {
	return tp_err_memory(err, file);
}
