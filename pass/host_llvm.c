// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which LLVM major the process is made of that has loaded a plugin.
#define _GNU_SOURCE
#include "host_llvm.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The number behind PREFIX, if NAME begins with it; 0: there is none.
static unsigned number_behind(const char *name, const char *prefix)
{
	const size_t length = strlen(prefix);
	if (strncmp(name, prefix, length))
		return 0;
	const unsigned long number = strtoul(name + length, NULL, 10);
	return number < 1000 ? (unsigned)number : 0;
}

// The major that the file name of an LLVM library or of clang tells, 0: it tells none.
static unsigned major_of_file(const char *path)
{
	// libLLVM-16.so.1, libLLVM.so.19.1; ...-clang-14; .../llvm-14/bin/opt
	static const char *const prefixes[] = {
	    "libLLVM-", "libLLVM.so.", "clang-", "clang++-", "opt-", "lld-", "ld.lld-"};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const unsigned major = number_behind(name, prefixes[i]);
		if (major)
			return major;
	}
	const char *folder = strstr(path, "/llvm-");
	return folder ? number_behind(folder, "/llvm-") : 0;
}

static int look_at_library(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned *major = context;
	const char *slash = strrchr(info->dlpi_name, '/');
	(void)size;
	// Plugins lie in folders that have numbers, too.
	if (strncmp(slash ? slash + 1 : info->dlpi_name, "libLLVM", strlen("libLLVM")) == 0)
		*major = major_of_file(info->dlpi_name);
	return *major != 0;
}

unsigned tp_host_llvm(void)
{
	// LLVM 16 and newer say it themselves, where they are linked statically, too.
	void (*get_version)(unsigned *, unsigned *, unsigned *);
	*(void **)&get_version = dlsym(RTLD_DEFAULT, "LLVMGetVersion");
	unsigned major = 0;
	unsigned minor;
	unsigned patch;
	if (get_version)
		get_version(&major, &minor, &patch);
	else
		dl_iterate_phdr(look_at_library, &major);
	if (major)
		return major;
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length < 0)
		return 0;
	path[length] = '\0';
	return major_of_file(path);
}

_Noreturn void tp_host_refuse(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("error: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	fflush(stderr);
	// Half an output file may be there. The name is the same in all majors; where it is not,
	// the file stays.
	void (*remove_files)(void);
	*(void **)&remove_files = dlsym(RTLD_DEFAULT, "_ZN4llvm3sys20RunInterruptHandlersEv");
	if (remove_files)
		remove_files();
	// Not exit(): the compiler is in the middle of loading us.
	_exit(1);
}

#ifdef TP_LLVM_MAJOR
// The plugin of one LLVM major makes sure that it was loaded by that major, before its options
// register: priority 101 comes before the constructors of options, which call LLVM.
__attribute__((constructor(101))) static void check_host(void)
{
	const unsigned major = tp_host_llvm();
	if (!major || major == TP_LLVM_MAJOR)
		return;
	Dl_info info = {0};
	dladdr((const void *)(uintptr_t)tp_host_llvm, &info);
	tp_host_refuse(
	    "'%s' is the TeePerf plugin for LLVM %d, but this compiler has LLVM %u: load the "
	    "TeePerf.so in the folder above, which chooses the right plugin",
	    info.dli_fname ? info.dli_fname : "TeePerf.so", TP_LLVM_MAJOR, major);
}
#endif
