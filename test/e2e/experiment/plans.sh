#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tier: quick
#
# Proves without a run that plans are read, or refused at the place of the mistake; that grids,
# names and orders are those of the seed; that keys, medians and intervals have not changed, so that
# older results stay valid; that a result is whole or none; and that tables have the values.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

PYTHONPATH=$root/python/teeperf/experiment PYTHONDONTWRITEBYTECODE=1 \
	python3 "$lib/experiment_plans.py" >out 2>&1 || fail "$(cat out)"

# Without Python, or with an older one, the command says so.
printf '[[tasks]]\nexecutable = "true"\n' >plan.toml
mkdir bin
PATH=$PWD/bin expect 1 "$TEEPERF" experiment plan.toml
says "cannot run python3: No such file or directory; 'teeperf experiment' needs Python 3.11" err
