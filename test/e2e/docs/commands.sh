#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each command line that README, the recipes and docs/commands.md show names a command and options
# that are there, and views and formats that are.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cd "$root"
python3 "$lib/doc_commands.py" "$TEEPERF" README.md SECURITY.md docs/commands.md docs/tutorial.md \
	docs/howto/*.md
