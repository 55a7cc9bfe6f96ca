// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Beside sdk_host.c: the application has a library, which is opened by its UUID during a command,
// as OP-TEE's loader would do it, and does the same work. Linked with --wrap=work; not
// instrumented.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

uint64_t __real_work(uint64_t rounds);
uint64_t __wrap_work(uint64_t rounds);

struct visit {
	int (*visit)(struct dl_phdr_info *info, size_t size, void *data);
	void *data;
};

// There a library is called by its UUID alone.
static int rename_one(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct visit *visit = data;
	struct dl_phdr_info renamed = *info;
	const char *slash = strrchr(info->dlpi_name, '/');
	if (slash)
		renamed.dlpi_name = slash + 1;
	return visit->visit(&renamed, size, visit->data);
}

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	struct visit visit = {callback, data};
	int (*const real)(int (*)(struct dl_phdr_info *, size_t, void *), void *) =
	    (int (*)(int (*)(struct dl_phdr_info *, size_t, void *), void *))dlsym(
		RTLD_NEXT, "dl_iterate_phdr");
	return real(rename_one, &visit);
}

uint64_t __wrap_work(uint64_t rounds)
{
	static uint64_t (*found)(uint64_t);
	if (!found) {
		void *library = dlopen("./11111111-2222-3333-4444-555555555555", RTLD_NOW);
		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		found = (uint64_t(*)(uint64_t))dlsym(library, "work");
	}
	if (found(rounds) != WORK_SUM(rounds))
		exit(1);
	return __real_work(rounds);
}
