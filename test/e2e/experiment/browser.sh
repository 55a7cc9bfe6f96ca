#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the page of an experiment shows its plots in a real browser: marks and whiskers where
# the medians are, a choice of figures and axes, names that mean harm as text, light and dark, no
# network, and without a script a table.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
[ -x /usr/bin/chromium ] && command -v chromedriver >/dev/null ||
	skip "no browser (packages chromium and chromium-driver)"

cat >plan.toml <<'EOF'
[globals]
sample_size = 4
[factors]
size = ["1K", "4K", "16K"]
kind = ["plain", "</script><script>window.hacked=1</script>"]
[variants.other]
kind = "native"
env = { MORE = "2" }
[[tasks]]
name = "writes<b>"
executable = "sh"
args = ["-c", "head -c {{ size }} /dev/zero >{{ output_directory }}/file; [ $MORE ] && head -c {{ size }} /dev/zero >{{ output_directory }}/other; true"]
variants = ["native", "other"]
[[tasks]]
name = "single"
executable = "true"
sample_size = 2
factors = { size = [], kind = [] }
variants = ["native", "other", "gramine-direct"]
EOF
expect 0 "$TEEPERF" experiment plan.toml
export HOME="$PWD"
expect 0 python3 "$lib/browser_experiment.py" plan.results/report.html plan.results/summary.csv
says '^0 failures' out
