// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C library's own functions, where a program or a library before it may have others of the same
// names, which ours must not call: looked up in the C library itself, or by names that ISO C
// reserves for it.
#define _GNU_SOURCE
#include "posix.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>

#include "posix_system.h"

// glibc's and musl's, as far as each has them. Only one that is linked statically, or is glibc, has
// more than the debugger's.
extern __attribute__((weak)) unsigned long __getauxval(unsigned long type);
extern __attribute__((weak)) int __pthread_key_create(pthread_key_t *key, void (*ends)(void *));
extern __attribute__((weak)) int __pthread_setspecific(pthread_key_t key, const void *value);
extern __attribute__((weak)) int __register_atfork(
    void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);
extern __attribute__((weak)) void __libc_setup_tls(void);    // static glibc has it, and only that
extern __attribute__((weak)) struct r_debug *_dl_debug_addr; // musl
extern __attribute__((weak, visibility("hidden"))) void *__dso_handle;

// threads.h, which not each C library has.
extern int tss_create(pthread_key_t *key, void (*ends)(void *));
extern int tss_set(pthread_key_t key, void *value);

// Linked statically, the reserved names are there if something needs them, as what ISO C has does.
__attribute__((used)) static unsigned long (*const with_auxiliary)(unsigned long type) = getauxval;
__attribute__((used)) static int (*const with_key)(
    pthread_key_t *key, void (*ends)(void *)) = tss_create;
__attribute__((used)) static int (*const with_value)(pthread_key_t key, void *value) = tss_set;

static struct tp_port_names names;

static uint64_t value_of(const struct link_map *map, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *at = map->l_ld;
	while (at->d_tag != DT_NULL && at->d_tag != tag)
		at++;
	if (at->d_tag != tag)
		return 0;
	// Some loaders leave addresses as they are in the file.
	return at->d_un.d_ptr < map->l_addr ? map->l_addr + at->d_un.d_ptr : at->d_un.d_ptr;
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

// The address of a function that the module defines, 0 if it defines none of that name.
static uintptr_t look_up(const struct link_map *map, const char *name)
{
	const uint32_t *head = (const void *)(uintptr_t)value_of(map, DT_GNU_HASH);
	const ElfW(Sym) *symbols = (const void *)(uintptr_t)value_of(map, DT_SYMTAB);
	const char *strings = (const void *)(uintptr_t)value_of(map, DT_STRTAB);
	if (!head || !symbols || !strings || !head[0])
		return 0;
	const uint32_t *buckets = head + 4 + head[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = buckets + head[0];
	uint32_t hash = 5381;
	for (const char *at = name; *at; at++)
		hash = hash * 33 + (uint8_t)*at;
	uint32_t i = buckets[hash % head[0]];
	if (i < head[1])
		return 0;
	do {
		const ElfW(Sym) *symbol = &symbols[i];
		if ((chain[i - head[1]] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    is_same(strings + symbol->st_name, name))
			return map->l_addr + symbol->st_value;
	} while (!(chain[i++ - head[1]] & 1));
	return 0;
}

// The loader's first list of modules, as debuggers find it; NULL without a loader.
static const struct r_debug *first_list(void)
{
	if (&_dl_debug_addr)
		return _dl_debug_addr;
	const uint64_t address = __getauxval ? __getauxval(AT_PHDR) : 0;
	const ElfW(Phdr) *segments = (const void *)(uintptr_t)address;
	const unsigned count = address ? (unsigned)__getauxval(AT_PHNUM) : 0;
	uint64_t bias = 0;
	bool has_loader = false;
	const ElfW(Dyn) *at = NULL;
	for (unsigned i = 0; i < count; i++) {
		has_loader |= segments[i].p_type == PT_INTERP;
		if (segments[i].p_type == PT_PHDR)
			bias = address - segments[i].p_vaddr;
	}
	for (unsigned i = 0; i < count && has_loader; i++)
		if (segments[i].p_type == PT_DYNAMIC)
			at = (const void *)(uintptr_t)(bias + segments[i].p_vaddr);
	while (at && at->d_tag != DT_NULL && at->d_tag != DT_DEBUG)
		at++;
	return at && at->d_tag == DT_DEBUG ? (const void *)(uintptr_t)at->d_un.d_ptr : NULL;
}

// Our C library, by a name that no program has. One of another list (dlmopen) is not found.
static const struct link_map *find_library(const struct r_debug *list)
{
	const struct link_map *map = list ? list->r_map : NULL;
	while (map && look_up(map, "__errno_location") != (uintptr_t)__errno_location)
		map = map->l_next;
	return map;
}

static int register_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return __register_atfork(prepare, parent, child, &__dso_handle ? __dso_handle : NULL);
}

#define FOUND(map, name) ((__typeof__(&name))look_up(map, #name)) // NOLINT(bugprone-*)
// A static glibc has all that is used of it: the rest is not needed, or the program has its own.
#define NAMED(reserved, public) (reserved ? reserved : __libc_setup_tls ? NULL : public)

const struct tp_port_names *tp_port_names(void)
{
	if (names.known)
		return &names;
	const struct r_debug *list = first_list();
	const struct link_map *map = find_library(list);
	names.in_loader = list != NULL;
	names.at_fork = __register_atfork ? register_at_fork
			: map             ? FOUND(map, pthread_atfork)
					  : NAMED(NULL, pthread_atfork);
	if (map) {
		names.auxiliary = FOUND(map, getauxval);
		names.make_key = FOUND(map, pthread_key_create);
		names.set_value = FOUND(map, pthread_setspecific);
		names.each_module = FOUND(map, dl_iterate_phdr);
	} else {
		names.auxiliary = __getauxval;
		names.make_key = NAMED(__pthread_key_create, pthread_key_create);
		names.set_value = NAMED(__pthread_setspecific, pthread_setspecific);
		names.each_module = NAMED(NULL, dl_iterate_phdr);
	}
	names.known = true;
	return &names;
}

void *tp_port_reserve(uint64_t size)
{
	return tp_system_map(
	    NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void *tp_port_map_whole(int fd, uint64_t length)
{
	return tp_system_map(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}
