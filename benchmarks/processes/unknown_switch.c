// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A switch by a name that the pass does not know; compiled without it.
#include <ucontext.h>

void other_swap(ucontext_t *from, ucontext_t *to)
{
	swapcontext(from, to);
}
