#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --events sgx where the kernel has no SGX driver: a warning and a note say so, the other events are
# recorded, and so are the calls. Where it has one, a program that has no enclave calls none of its
# functions. (u_bpf_functions: that functions are timed.)
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
fake=

cat >app.c <<'EOS'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) static void asks(void)
{
	for (int i = 0; i < 40; i++)
		syscall(SYS_getppid);
}
int main(void)
{
	asks();
	return 7;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -o app app.c
query() {
	"$TEEPERF" query --format csv run.trace "$1" 2>query.err | sed 1d
}
is() {
	got=$(query "$2")
	[ "$got" = "$1" ] || fail "not '$1' but '$got': $2"
}

expect 7 "$TEEPERF" record -o run.trace --events sgx,syscalls -- ./app
if ! may_bpf; then
	says 'warning: no system events are recorded: ' err
	echo "no BPF here: record says why"
	exit 0
fi
is '40' "SELECT count(*) FROM syscalls WHERE function = 'asks' AND call = 'getppid'"
is '1' "SELECT calls FROM functions WHERE function = 'main'"
is '0' "SELECT count(*) FROM sgx"
if grep -qw sgx_vma_fault /proc/kallsyms; then
	! grep 'events of SGX' err || fail "the kernel has the driver"
	exit 0
fi
says 'warning: no events of SGX are recorded: this kernel has no SGX driver: this needs ' err
expect 0 "$TEEPERF" analyze run.trace
says '^system +there are no SGX events: this kernel has no SGX driver' out

# Alone there is nothing to be recorded.
expect 7 "$TEEPERF" record -o run.trace --events sgx -- ./app
says 'warning: no system events are recorded: this kernel has no SGX driver: ' err
expect 1 "$TEEPERF" analyze --view system run.trace
says 'has no system events: this kernel has no SGX driver' err
