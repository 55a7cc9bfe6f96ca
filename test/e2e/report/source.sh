#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that source lines are in a report only with --source, only those of recorded functions, of
# files below that folder alone whatever a trace names and wherever links lead, and that the browser
# shows them as text.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

rm -rf tree
mkdir -p tree/src
cat >tree/src/main.c <<'EOT'
// not to be shown: far above
int far;



static int leaf(int n)
{
	return n; // </script><img src=x onerror="window.hacked=1"> &amp;
}
int secret_between = 42;




int main(void)
{
	return leaf(1);
}
int secret_below = 43;
EOT
printf '// \342\200\256 turned\n' >>tree/src/main.c
printf 'KEY=secret_key\n' >secret.txt
ln -s ../../secret.txt tree/src/link.c
mkfifo tree/src/pipe.c
cat >source.txt <<'EOT'
clock kind=tsc hz=1000000000
command
	string "/"
	string "program"
symbols
	symbol 0x401000 main file="/build/app/src/main.c" line=15
	symbol 0x401010 leaf file="/build/app/src/main.c" line=6
	symbol 0x401020 up file="../secret.txt" line=1
	symbol 0x401030 link file="/build/app/src/link.c" line=1
	symbol 0x401040 pipe file="src/pipe.c" line=1
	symbol 0x401050 gone file="/build/app/src/<b>gone</b>.c" line=1
chunk
	0 enter main
	100 enter leaf
	300 exit leaf
	300 enter up
	310 exit up
	310 enter link
	320 exit link
	320 enter pipe
	330 exit pipe
	330 enter gone
	340 exit gone
	340 enter leaf
	400 exit leaf
	1000 exit main
end
EOT
expect 0 "$TEEPERF" dump --assemble source.txt -o source.trace
expect 0 "$TEEPERF" report -o without.html source.trace
expect 0 "$TEEPERF" report --source tree -o with.html source.trace
expect 1 "$TEEPERF" report --source nowhere -o never.html source.trace
says "^teeperf report: 'nowhere': no such folder; --source takes" err
[ ! -e never.html ] || fail "a report was written without its sources"
says 'this page has 14 lines of 1 source files' with.html
says '4 files were not found' with.html
expect 0 python3 "$lib/report_source.py" with.html without.html
says '^0 failures' out

needs chromium chromedriver
export HOME="$PWD"
modules=${TEEPERF_AXE:-$(npm root -g 2>/dev/null || true)}
axe=$modules/axe-core/axe.min.js
[ -e "$axe" ] || axe=
expect 0 python3 "$lib/browser_source.py" with.html without.html "$axe"
says '^0 failures' out
