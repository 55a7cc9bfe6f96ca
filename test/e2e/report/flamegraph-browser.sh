#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the flame graph works in a real browser: it asks the network for nothing, zooms on a
# click, searches by keyboard, resets, shows hostile names as text, and follows the colour scheme.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
needs chromium chromedriver

cat >flame.txt <<'EOS'
clock kind=tsc hz=1000000000
command
	string "/"
	string "program"
symbols
	symbol 0x401000 main
	symbol 0x401010 left
	symbol 0x401020 x
	symbol 0x401030 y
	symbol 0x401040 "operator<<&\">"
	symbol 0x401050 "</title></text><script>window.hacked=1</script>"
chunk
	0 enter main
	0 enter left
	0 enter x
	300 exit x
	300 enter y
	500 exit y
	600 exit left
	600 enter 0x401040
	900 exit 0x401040
	900 enter 0x401050
	1000 exit 0x401050
	1000 exit main
end
EOS
expect 0 "$TEEPERF" dump --assemble flame.txt -o flame.trace
expect 0 "$TEEPERF" export --format flamegraph -o flame.svg flame.trace
{
	printf 'command\n\tstring "/"\n\tstring "program"\nchunk\n'
	seq 100 | sed 's/.*/\t& enter 0x401000/'
	seq 101 200 | sed 's/.*/\t& exit 0x401000/'
	echo end
} >tall.txt
expect 0 "$TEEPERF" dump --assemble tall.txt -o tall.trace
expect 0 "$TEEPERF" export --format flamegraph -o tall.svg tall.trace
export HOME="$PWD"
expect 0 "$TEEPERF" export --format flamegraph --icicle -o icicle.svg flame.trace
expect 0 python3 "$lib/browser_flamegraph.py" flame.svg tall.svg icicle.svg
says '^0 failures' out
