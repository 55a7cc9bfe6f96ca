// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gives libdwarf the sections of a file.
#include <dwarf.h>
#include <libdwarf.h>

#include "units.h"

#include <string.h>

#ifdef DW_LIBDWARF_VERSION_MAJOR
typedef Dwarf_Unsigned section_index;
typedef Dwarf_Obj_Access_Section_a section_info;
typedef Dwarf_Obj_Access_Methods_a object_methods;
#define INFO(member) as_##member
#define METHOD(member) om_##member
#else
typedef Dwarf_Half section_index;
typedef Dwarf_Obj_Access_Section section_info;
typedef Dwarf_Obj_Access_Methods object_methods;
#define INFO(member) member
#define METHOD(member) member
#endif

// Section 0 is an empty one, as in ELF.
static int get_info(void *context, section_index index, section_info *info, int *error)
{
	const struct tp_symbol_object *object = context;
	(void)error;
	if (index > object->sections.count)
		return DW_DLV_NO_ENTRY;
	memset(info, 0, sizeof(*info));
	info->INFO(name) = index ? object->sections.sections[index - 1].name : "";
	info->INFO(type) = index ? 1 : 0; // SHT_PROGBITS
	info->INFO(size) = index ? object->sections.sections[index - 1].size : 0;
	return DW_DLV_OK;
}

static int load(void *context, section_index index, Dwarf_Small **data, int *error)
{
	struct tp_symbol_object *object = context;
	if (!index || index > object->sections.count)
		return DW_DLV_NO_ENTRY;
	const uint8_t *bytes =
	    tp_elf_sections_data(&object->sections, (uint32_t)index - 1, &object->unpacking);
	if (!bytes) {
		*error = DW_DLE_ALLOC_FAIL;
		return DW_DLV_ERROR;
	}
	*data = (Dwarf_Small *)bytes;
	return DW_DLV_OK;
}

static Dwarf_Small word_size(void *context)
{
	(void)context;
	return 8;
}

static Dwarf_Unsigned section_count(void *context)
{
	const struct tp_symbol_object *object = context;
	return object->sections.count + 1;
}

#ifdef DW_LIBDWARF_VERSION_MAJOR
static Dwarf_Small byte_order(void *context)
{
	(void)context;
	return 2; // DW_END_little
}

static Dwarf_Unsigned file_size(void *context)
{
	const struct tp_symbol_object *object = context;
	uint64_t size = object->sections.map_size;
	for (uint32_t i = 0; i < object->sections.count; i++)
		size += object->sections.sections[i].size; // it compares sections with it
	return size;
}
#else
static Dwarf_Endianness byte_order(void *context)
{
	(void)context;
	return DW_OBJECT_LSB;
}
#endif

static const object_methods methods = {
    .METHOD(get_section_info) = get_info,
    .METHOD(get_byte_order) = byte_order,
    .METHOD(get_length_size) = word_size,
    .METHOD(get_pointer_size) = word_size,
#ifdef DW_LIBDWARF_VERSION_MAJOR
    .om_get_filesize = file_size,
#endif
    .METHOD(get_section_count) = section_count,
    .METHOD(load_section) = load,
};

// Without a handler libdwarf ends the program at the first error of a call that was given no place
// for it. Those errors are not lost: such a call fails, and its caller goes on without what it
// asked for.
static void ignore(Dwarf_Error error, Dwarf_Ptr context)
{
	(void)error;
	(void)context;
}

int tp_symbol_object_open(struct tp_symbol_object *object, const char *path, struct tp_err *err)
{
	memset(object, 0, sizeof(*object));
	const int code = tp_elf_sections_open(&object->sections, path, err);
	if (code)
		return code;
	Dwarf_Error error = NULL;
	object->interface = (tp_object_interface){object, &methods};
	const int status = dwarf_object_init_b(
	    &object->interface, ignore, NULL, DW_GROUPNUMBER_ANY, &object->dbg, &error);
	if (object->unpacking.code) {
		if (err)
			*err = object->unpacking;
		return object->unpacking.code;
	}
	if (status == DW_DLV_OK)
		return 0;
	object->dbg = NULL;
	if (status == DW_DLV_NO_ENTRY)
		return tp_err_set(err, TP_ERR_NOT_FOUND, path, "it has no debug information");
	return tp_err_set(err, TP_ERR_FORMAT, path, "its debug information cannot be read: %s",
	    dwarf_errmsg(error));
}

void tp_symbol_object_close(struct tp_symbol_object *object)
{
	// Some releases of the newer interface free sections that we gave them, as if they had been
	// allocated. What they keep ends with the process.
#ifndef DW_LIBDWARF_VERSION_MAJOR
	if (object->dbg)
		dwarf_object_finish(object->dbg, NULL);
#endif
	tp_elf_sections_close(&object->sections);
	memset(object, 0, sizeof(*object));
}

const uint8_t *tp_symbol_object_section(
    struct tp_symbol_object *object, const char *name, uint64_t *size)
{
	const int index = tp_elf_sections_find(&object->sections, name);
	const uint8_t *data = index < 0 ? NULL
					: tp_elf_sections_data(&object->sections, (uint32_t)index,
					      &object->unpacking);
	*size = data ? object->sections.sections[index].size : 0;
	return data;
}
