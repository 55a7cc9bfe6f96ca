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
count=0
cd "$tmp"

# golden_fail WHAT: go on, and fail at the end.
golden_fail() {
	echo "FAIL $*"
	failed=1
}

teeperf() {
	"$TEEPERF" "$@"
}

# The part that is the same in each build and at each time: no version, age of a file, style or
# script.
steady() {
	sed -e 's/"teeperf [0-9.]*"/"teeperf VERSION"/' -e 's/^\(# .*TeePerf\) [0-9.]*$/\1 X/' \
		-e 's/ ([0-9,]* \(s\|min\|h\) ago)$//' -e '/<style>/,/<\/style>/d' \
		-e '/<script>/,/<\/script>/d'
}

# golden_case CASE: run its commands in the current folder, and compare what they write.
golden_case() {
	ran=0
	for expected in "$here/$1"/*; do
		what=$1/${expected##*/}
		case $what in *.*) continue ;; esac
		IFS= read -r line <"$expected" || true
		case $line in
		'$ '*) command=${line#??} ;;
		*) golden_fail "$what does not begin with '$ COMMAND'"; continue ;;
		esac
		case $command in
		*' # exit '*) wanted=${command##* # exit } ;;
		*) wanted=0 ;;
		esac
		ran=$((ran + 1))
		status=0
		(eval "$command") >printed 2>printed.err || status=$?
		if [ "$status" != "$wanted" ]; then
			golden_fail "$what: exit status $status, not $wanted: $command"
			cat printed.err
			continue
		fi
		{
			printf '%s\n' "$line"
			steady <printed
		} >shown
		if [ "$update" = --update ]; then
			cat shown >"$expected"
		elif ! diff -u "$expected" shown; then
			golden_fail "$what differs"
			cat printed.err
		fi
	done
	[ $ran -gt 0 ] || golden_fail "$1 has no command"
	count=$((count + ran))
}

# golden_end: how it went.
golden_end() {
	echo "$count outputs compared"
	[ $count -gt 0 ] && exit $failed
	exit 1
}
