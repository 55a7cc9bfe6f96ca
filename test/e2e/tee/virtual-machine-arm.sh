#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The same for a virtual machine of another processor, aarch64, with Debian's kernel for it: a
# program there and this machine's recorder, through memory of a device and through frames.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/calls.sh"
. "$lib/guest.sh"
fake=
if [ "$(uname -m)" = aarch64 ] ||
	[ ! -e "$TEEPERF_BUILD/lib/teeperf/aarch64/ports/libteeperf-vm.a" ] ||
	[ ! -e /usr/aarch64-linux-gnu/lib/libstdc++.so.6 ]; then
	skip "nothing can be linked for aarch64 as another processor"
fi
machine aarch64 arm64 --target=aarch64-linux-gnu

calls_list >list
build threads cc "$threads" -pthread -static
build contexts cc "$contexts" -static
build unwind c++ "$unwind" -static
start
at_work 'the machine runs'
through_memory threads contexts unwind
through_port threads contexts unwind
guest stop on
at_work 'the machine is off'
