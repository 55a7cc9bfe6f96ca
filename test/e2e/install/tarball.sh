#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# 'make dist' writes the same bytes each time, whoever calls it, and what is in them is the commit's tree; it configures
# without git, and the runtime builds. In full form all of it builds, and says the version.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

git -C "$root" -c safe.directory='*' rev-parse -q --verify HEAD >commit 2>/dev/null ||
	skip "this is not a git checkout, of which tarballs are made"
version=$(sed -n 's/^#define TEEPERF_VERSION "\(.*\)"/\1/p' "$root/include/teeperf/version.h")
one=$("$root/tools/dist" one 2>err) || fail "$(cat err)"
