#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each file that 'cmake --install' installs is in exactly one Debian package, and each line of
# debian/*.install names one. That the packages build, install and go away again: install/packages.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

DESTDIR=$PWD/stage cmake --install "$TEEPERF_BUILD" --prefix /usr >install.log ||
	fail "$(cat install.log)"
# debian/rules builds no runtime for other processors, whatever is there.
for machine in x86_64 aarch64 riscv64; do
	rm -rf "stage/usr/lib/teeperf/$machine"
done
python3 "$lib/package_lists.py" "$root" stage >lists || fail "$(cat lists)"
cat lists

# It can fail: a file more, one that is gone, one that is in two packages.
mkdir copy
cp -R "$root/debian" copy/
: >stage/usr/lib/more
expect 1 python3 "$lib/package_lists.py" copy stage
says "'usr/lib/more' is installed, but in no package" out
rm stage/usr/lib/more
echo usr/lib/gone >>copy/debian/teeperf.install
echo usr/lib/libteeperf.a >>copy/debian/teeperf.install
expect 1 python3 "$lib/package_lists.py" copy stage
says "nothing is 'usr/lib/gone'" out
says "'usr/lib/libteeperf.a' is listed more than once: teeperf, libteeperf-dev" out
