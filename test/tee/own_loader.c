// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with a loader of its own: it maps libraries that neither libc nor a TEE knows of, at
// the same place, elsewhere, and one where another was, and tells the runtime. Not instrumented.
//
//   PROGRAM LIBRARY LIBRARY [careless]      exits with 7; prints the calls of each library's work
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <teeperf/teeperf.h>

#include "work.h"

#if defined(__x86_64__)
enum { RELATIVE = 8, DATA = 6, JUMP = 7, WORD = 1, THREAD = 18 };
#else
enum { RELATIVE = 1027, DATA = 1025, JUMP = 1026, WORD = 257, THREAD = 1030 };
#endif

struct library {
	struct teeperf_loaded loaded;
	Elf64_Phdr segments[16];
	char *base;
	size_t size;
	const Elf64_Sym *symbols;
	const char *strings;
	uint64_t words[40]; // of the dynamic section, by tag
};

static void fail(const char *what)
{
	fprintf(stderr, "own loader: %s\n", what);
	exit(1);
}

static void relocate(struct library *library, uint64_t table, uint64_t size)
{
	const Elf64_Rela *at = (const void *)(library->base + table);
	for (uint64_t i = 0; table && i < size / sizeof(*at); i++) {
		uint64_t *place = (void *)(library->base + at[i].r_offset);
		const Elf64_Sym *symbol = &library->symbols[ELF64_R_SYM(at[i].r_info)];
		const char *name = library->strings + symbol->st_name;
		const int type = (int)ELF64_R_TYPE(at[i].r_info);
		uint64_t value = (uint64_t)library->base;
		if (type != RELATIVE)
			value = symbol->st_shndx ? value + symbol->st_value
						 : (uint64_t)dlsym(RTLD_DEFAULT, name);
		if (type ==
		    THREAD) // of the program's own, which is at the same distance in each thread
			value -= (uint64_t)__builtin_thread_pointer();
		else if (type != RELATIVE && type != DATA && type != JUMP && type != WORD)
			fail("an unknown relocation");
		*place = value + (uint64_t)at[i].r_addend;
	}
}

static void run(const struct library *library, int array, int size)
{
	void (**functions)(void) = (void *)(library->base + library->words[array]);
	for (uint64_t i = 0; library->words[array] && i < library->words[size] / 8; i++)
		functions[i]();
}

// At `place`, or anywhere.
static void load(struct library *library, const char *path, char *place)
{
	Elf64_Ehdr header;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	memset(library, 0, sizeof(*library));
	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    header.e_phnum > 16 ||
	    pread(fd, library->segments, header.e_phnum * sizeof(Elf64_Phdr),
		(off_t)header.e_phoff) < 0)
		fail("no library");
	for (int i = 0; i < header.e_phnum; i++)
		if (library->segments[i].p_type == PT_LOAD)
			library->size =
			    (library->segments[i].p_vaddr + library->segments[i].p_memsz + 4095) &
			    ~4095ull;
	library->base = mmap(place, library->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
	if (library->base == MAP_FAILED)
		fail("no memory");
	for (int i = 0; i < header.e_phnum; i++) {
		const Elf64_Phdr *segment = &library->segments[i];
		if (segment->p_type == PT_LOAD &&
		    pread(fd, library->base + segment->p_vaddr, segment->p_filesz,
			(off_t)segment->p_offset) != (ssize_t)segment->p_filesz)
			fail("a cut library");
		if (segment->p_type != PT_DYNAMIC)
			continue;
		const Elf64_Dyn *at = (const void *)(library->base + segment->p_vaddr);
		for (; at->d_tag; at++)
			if (at->d_tag < 40)
				library->words[at->d_tag] = at->d_un.d_val;
	}
	close(fd);
	library->symbols = (const void *)(library->base + library->words[DT_SYMTAB]);
	library->strings = library->base + library->words[DT_STRTAB];
	relocate(library, library->words[DT_RELA], library->words[DT_RELASZ]);
	relocate(library, library->words[DT_JMPREL], library->words[DT_PLTRELSZ]);
	for (int i = 0; i < header.e_phnum; i++)
		if (library->segments[i].p_type == PT_LOAD && library->segments[i].p_flags & PF_X)
			mprotect(library->base + (library->segments[i].p_vaddr & ~4095ull),
			    library->segments[i].p_memsz + (library->segments[i].p_vaddr & 4095),
			    PROT_READ | PROT_EXEC);
	library->loaded.bias = (uint64_t)library->base;
	library->loaded.headers = library->segments;
	library->loaded.header_count = header.e_phnum;
	if (!teeperf_module_add(&library->loaded))
		fail("a library is not taken");
	if (teeperf_module_add(&library->loaded))
		fail("a library is taken twice");
	run(library, DT_INIT_ARRAY, DT_INIT_ARRAYSZ);
}

static void call(const struct library *library, uint64_t rounds)
{
	// The hash table of DT_HASH tells how many symbols there are.
	const uint32_t count = ((const uint32_t *)(library->base + library->words[DT_HASH]))[1];
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(library->strings + library->symbols[i].st_name, "work") != 0)
			continue;
		uint64_t (*const found)(uint64_t) = (uint64_t(*)(uint64_t))(
		    uintptr_t)(library->base + library->symbols[i].st_value);
		if (found(rounds) != WORK_SUM(rounds))
			fail("wrong result");
		return;
	}
	fail("no work in a library");
}

// CARELESS: without its destructors.
static char *unload(struct library *library, int careless)
{
	if (!careless)
		run(library, DT_FINI_ARRAY, DT_FINI_ARRAYSZ);
	teeperf_module_remove(&library->loaded);
	teeperf_module_remove(&library->loaded); // nothing
	mmap(library->base, library->size, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	return library->base;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	const int careless = argc > 3;
	static struct library first, second;
	const struct teeperf_loaded nothing[] = {{0},
	    {.headers = first.segments, .header_count = 16},
	    {.headers = &first, .header_count = 0}};
	for (int i = 0; i < 3; i++) {
		struct teeperf_loaded copy = nothing[i];
		if (teeperf_module_add(&copy))
			fail("nothing is taken for a module");
		teeperf_module_remove(&copy);
	}
	for (int i = 0; i < 4; i++) {
		load(&first, argv[1], NULL);
		call(&first, 100);
		char *const place = unload(&first, careless);
		teeperf_off(); // stores into the gates of all modules
		teeperf_on();
		// The other one where it was, and the first one elsewhere, both at a time.
		load(&second, argv[2], i % 2 ? place : NULL);
		load(&first, argv[1], NULL);
		call(&second, 200);
		call(&first, 100);
		call(&second, 200);
		unload(&second, careless);
		unload(&first, careless);
		load(&first, argv[1], place);
		call(&first, 300);
		unload(&first, careless);
	}
	return 7;
}
