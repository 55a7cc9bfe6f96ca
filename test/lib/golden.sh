# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# Golden cases, for test/golden*/run, which source this. A case is a folder: its inputs, whose names
# have a dot, and a file for each command, whose name has none. The file's first line is the
# command, the others are its standard output:
#     $ teeperf analyze --view tree border.trace
# The command is one of the shell. It must succeed, or end with STATUS where the line ends in "#
# exit STATUS". --update writes the other lines anew: a new file needs the first line only.
: "${TEEPERF:?is to be the teeperf to test}"
here=$(cd "$(dirname "$0")" && pwd)
tmp=${TEST_TMP:-$(mktemp -d)}
update=${1:-}
failed=0
cd "$tmp"

# golden_fail WHAT: go on, and fail at the end.
golden_fail() {
	echo "FAIL $*"
	failed=1
}

teeperf() {
	"$TEEPERF" "$@"
}

# golden_cases [--traces] CASE...: run their commands in the current folder, and compare what they
# write. With --traces, CASE/trace.txt becomes CASE.trace, which must also come back from its dump
# unchanged.
golden_cases() {
	golden_traces=
	if [ "$1" = --traces ]; then
		golden_traces=--traces
		shift
	fi
	python3 -B "$here/../lib/golden.py" $golden_traces "$here" "$update" "$@" || failed=1
}

# golden_folders FILE: the cases that have this file, or all.
golden_folders() {
	(cd "$here" && for golden_folder in */"${1:-}"; do
		echo "${golden_folder%%/*}"
	done)
}
