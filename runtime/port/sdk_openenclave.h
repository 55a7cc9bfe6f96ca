/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the port needs of the Open Enclave SDK; used where its own headers are not. */
#ifndef TP_SDK_OPENENCLAVE_H
#define TP_SDK_OPENENCLAVE_H

#if __has_include(<openenclave/enclave.h>)
#include <openenclave/enclave.h>
#else
#include <stdbool.h>
#include <stddef.h>
/* Whether all of [address, address + size) is outside of the enclave. */
bool oe_is_outside_enclave(const void *address, size_t size);
#endif

/* Where the enclave, and with it its ELF image, begins: of the SDK's internal headers. */
const void *__oe_get_enclave_start_address(void);

#endif
