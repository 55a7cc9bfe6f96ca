// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read any bytes as an inventory: text, an ELF file or an archive. The result is sound, and is read
// again from its own text.
#include "allowlists/inventory/build.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_bytes(
    struct tp_inventory *inventory, const void *data, size_t size, struct tp_err *err)
{
	struct tp_inventory_builder builder;
	tp_inventory_builder_init(&builder, inventory);
	int code = tp_inventory_add_memory(&builder, data, size, "fuzz", err);
	if (!code)
		code = tp_inventory_merge(&builder, err);
	tp_inventory_builder_release(&builder);
	return code;
}

static void check_edges(
    const struct tp_inventory *inventory, const struct tp_inventory_edge *edges, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (edges[i].function >= inventory->function_count ||
		    (i && edges[i].function <= edges[i - 1].function))
			abort();
}

static void check(const struct tp_inventory *inventory)
{
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		if (i && strcmp(function[-1].name, function->name) > 0)
			abort();
		if (!function->demangled || !function->file || !function->main_file ||
		    !function->module || !function->linkage || !function->definitions)
			abort();
		const struct tp_inventory_function *found =
		    tp_inventory_find(inventory, function->name);
		if (!found || strcmp(found->name, function->name) != 0 || found > function)
			abort();
		check_edges(inventory, function->calls, function->call_count);
		check_edges(inventory, function->into, function->into_count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_inventory inventory;
	struct tp_err err;
	const int code = read_bytes(&inventory, data, size, &err);
	if (code) {
		char text[1024];
		if (err.code != code || !tp_err_format(&err, text, sizeof(text))[0])
			abort();
	} else {
		struct tp_inventory again;
		struct tp_buf text;
		check(&inventory);
		tp_buf_init(&text);
		tp_inventory_write(&inventory, &text);
		if (text.failed || read_bytes(&again, text.data, text.size, &err))
			abort();
		check(&again);
		if (again.function_count != inventory.function_count ||
		    again.unit_count != inventory.unit_count || again.hash != inventory.hash)
			abort();
		tp_inventory_release(&again);
		tp_buf_release(&text);
	}
	tp_inventory_release(&inventory);
	return 0;
}
