// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The system calls of Linux.
#include "system_calls.h"

#include <elf.h>
#include <stddef.h>

static const struct tp_system_call x86_64[] = {
#define TP_SYSTEM_CALL(name, x86_64, generic, use) [x86_64] = {#name, TP_SYSTEM_CALL_##use},
#define TP_SYSTEM_CALL_X86_64(name, number, use) [number] = {#name, TP_SYSTEM_CALL_##use},
#define TP_SYSTEM_CALL_GENERIC(name, number, use)
#include "system_calls.def"
#undef TP_SYSTEM_CALL
#undef TP_SYSTEM_CALL_X86_64
#undef TP_SYSTEM_CALL_GENERIC
};

static const struct tp_system_call generic[] = {
#define TP_SYSTEM_CALL(name, x86_64, generic, use) [generic] = {#name, TP_SYSTEM_CALL_##use},
#define TP_SYSTEM_CALL_X86_64(name, number, use)
#define TP_SYSTEM_CALL_GENERIC(name, number, use) [number] = {#name, TP_SYSTEM_CALL_##use},
#include "system_calls.def"
#undef TP_SYSTEM_CALL
#undef TP_SYSTEM_CALL_X86_64
#undef TP_SYSTEM_CALL_GENERIC
};

static const struct tp_system_call *find(
    const struct tp_system_call *calls, size_t count, uint32_t number)
{
	return number < count && calls[number].name ? &calls[number] : NULL;
}

const struct tp_system_call *tp_system_call(uint32_t machine, uint32_t number)
{
	if (machine == EM_X86_64)
		return find(x86_64, sizeof(x86_64) / sizeof(x86_64[0]), number);
	if (machine == EM_AARCH64 || machine == EM_RISCV)
		return find(generic, sizeof(generic) / sizeof(generic[0]), number);
	return NULL;
}

const struct tp_system_call *tp_system_call_here(uint32_t number)
{
#if defined(__x86_64__)
	return tp_system_call(EM_X86_64, number);
#else
	return tp_system_call(EM_AARCH64, number);
#endif
}
