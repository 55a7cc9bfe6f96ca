#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# docs/tutorial.md, start to end in an empty folder: each command works, and prints the output of
# the document, numbers aside. To write the outputs anew: TUTORIAL_UPDATE=1 (run_tutorial.py says
# how they are compared).
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
plain_folder

# What the page does before: build, and put the command into PATH.
mkdir TeePerf
ln -s "$root/tools" TeePerf/tools
PATH=$(dirname "$TEEPERF"):$PATH
export PATH
unset CFLAGS CC
cd TeePerf
python3 "$lib/run_tutorial.py" "$root/docs/tutorial.md" ${TUTORIAL_UPDATE:+--update}
