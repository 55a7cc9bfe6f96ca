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

# Without Python, with an older one, or without the package, the command says so.
printf '[[tasks]]\nexecutable = "true"\n' >plan.toml
mkdir bin
PATH=$PWD/bin expect 1 "$TEEPERF" experiment plan.toml
says "cannot run python3: No such file or directory; 'teeperf experiment' needs Python 3.11" err
expect 1 python3 -c 'import runpy, sys
sys.version_info = (3, 9, 2)
runpy.run_path(sys.argv[1], run_name="__main__")' "$root/python/teeperf/experiment"
says '^teeperf experiment: this needs Python 3.11 or later, and python3 is 3.9' err
cp "$TEEPERF" bin/teeperf
expect 1 bin/teeperf experiment plan.toml
says 'the Python package of teeperf is neither in .*/share/teeperf/python nor in ' err
