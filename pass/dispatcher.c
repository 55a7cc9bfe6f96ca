// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The TeePerf.so that users name: it loads the plugin for the compiler's LLVM major from the folder
// llvm-N beside it, or reports the missing part. It uses no symbol of LLVM, so any compiler can
// load it.
#define _GNU_SOURCE
#include "host_llvm.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENTRY "llvmGetPassPluginInfo"
#define PATH_SIZE (PATH_MAX + 64)

static const unsigned supported[] = {TP_LLVM_SUPPORTED};

static void fail_unknown(void)
{
	tp_host_refuse(
	    "TeePerf.so cannot find out which LLVM this program has: use the TeePerf.so in the "
	    "folder llvm-N, with the LLVM major for N");
}

// Where the plugin's entry is; LLVM asks for ours when we have been loaded.
__attribute__((used)) void (*tp_dispatcher_target)(void) = fail_unknown;

/*
 * A jump, not a call: what the entry returns is a structure whose size is LLVM's business, and
 * where the caller wants it is in a register that C has no name for.
 */
__asm__(".text\n"
	".globl " ENTRY "\n"
	".type " ENTRY ", @function\n"
	".p2align 4\n" ENTRY ":\n"
#if defined(__x86_64__)
	"	endbr64\n"
	"	jmp *tp_dispatcher_target(%rip)\n"
#elif defined(__aarch64__)
	"	bti c\n"
	"	adrp x16, tp_dispatcher_target\n"
	"	ldr x16, [x16, :lo12:tp_dispatcher_target]\n"
	"	br x16\n"
#elif defined(__riscv)
	"	lla t1, tp_dispatcher_target\n"
	"	ld t1, 0(t1)\n"
	"	jr t1\n"
#else
#error "unsupported processor"
#endif
	".size " ENTRY ", . - " ENTRY "\n");

static void plugin_path(char path[PATH_SIZE], const char *folder, unsigned major)
{
	snprintf(path, PATH_SIZE, "%s/llvm-%u/TeePerf.so", folder, major);
}

// The majors of which there is a plugin, as "14, 19"; nothing if there is none.
static void list_plugins(char *text, size_t size, const char *folder)
{
	char path[PATH_SIZE];
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < sizeof(supported) / sizeof(supported[0]); i++) {
		plugin_path(path, folder, supported[i]);
		if (access(path, R_OK) == 0 && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%u",
			    used ? ", clang-" : "clang-", supported[i]);
	}
}

static _Noreturn void refuse(const char *folder, unsigned major)
{
	char there[256];
	char remedy[128];
	bool builds = false;
	list_plugins(there, sizeof(there), folder);
	for (size_t i = 0; i < sizeof(supported) / sizeof(supported[0]); i++)
		builds |= supported[i] == major;
	if (builds)
		snprintf(remedy, sizeof(remedy),
		    "install clang-%u and llvm-%u-dev and build TeePerf again", major, major);
	else
		snprintf(remedy, sizeof(remedy), "TeePerf does not support it");
	tp_host_refuse("no TeePerf plugin for LLVM %u, which this compiler has, in '%s': %s%s%s%s",
	    major, folder, there[0] ? "use " : "", there, there[0] ? ", or " : "", remedy);
}

// Also for who only wants the options (-fplugin=), so not when LLVM asks for our entry.
__attribute__((constructor)) static void find_plugin(void)
{
	const unsigned major = tp_host_llvm();
	Dl_info self;
	char folder[PATH_MAX];
	char path[PATH_SIZE];
	if (!major || !dladdr((const void *)&tp_dispatcher_target, &self) || !self.dli_fname)
		return;
	snprintf(folder, sizeof(folder), "%s", self.dli_fname);
	char *slash = strrchr(folder, '/');
	snprintf(slash ? slash : folder, 2, "%s", slash ? "" : ".");
	plugin_path(path, folder, major);
	if (access(path, R_OK))
		refuse(folder, major);
	void *plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!plugin)
		tp_host_refuse(
		    "the TeePerf plugin for LLVM %u cannot be loaded: %s", major, dlerror());
	void *entry = dlsym(plugin, ENTRY);
	if (!entry)
		tp_host_refuse("'%s' is not a TeePerf plugin: it lacks " ENTRY, path);
	memcpy(&tp_dispatcher_target, &entry, sizeof(entry));
}
