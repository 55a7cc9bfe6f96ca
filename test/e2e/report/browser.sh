#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the report works in a real browser, with mouse and with keyboard alone: all of its
# views, search, selection of a stretch of time, comparison; that it asks the network for nothing,
# shows hostile names as text, has enough contrast, and says so when it cannot be shown.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
needs chromium chromedriver

head='clock kind=tsc hz=1000000000
command
	string "/"
	string "program"
host
	line "cost_in_ps=0"
	line "cost_out_ps=0"
	line "cost_untimed_ps=0"
	line "cost_in_off_ps=5000"
	line "cost_out_off_ps=2000"
symbols
	symbol 0x401000 main file="prog.c" line=1
	symbol 0x401010 left file="prog.c" line=2
	symbol 0x401020 x file="prog.c" line=3
	symbol 0x401030 y file="prog.c" line=4
	symbol 0x401040 "operator<<&\">" file="prog.c" line=5
	symbol 0x401050 "</script></title></noscript><script>window.hacked=1</script><img src=x onerror=hacked=2>"
	symbol 0x401060 turn file="prog.c" line=7
	symbol 0x401070 loop file="prog.c" line=8
	symbol 0x401080 leaf file="prog.c" line=9
	symbol 0x401090 gone file="prog.c" line=10'
cat >report.txt <<EOF
$head
threads
	thread tid=11 name="one"
	thread tid=12 name="two"
chunk thread=0 tid=11
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
chunk thread=1 tid=12
	0 enter loop
	100 enter turn
	200 enter turn
	300 enter turn
	400 enter leaf
	600 exit leaf
	700 exit turn
	900 exit turn
	1000 exit turn
	1000 exit loop
end
EOF
cat >old.txt <<EOF
$head
chunk
	0 enter main
	0 enter left
	300 exit left
	300 enter 0x401040
	600 exit 0x401040
	600 enter gone
	800 exit gone
	800 exit main
	800 enter loop
	2800 exit loop
end
EOF
{
	printf '%s\n' "$head" | sed 's/^clock.*/clock kind=none/'
	cat <<EOF
chunk
	0 enter main
	0 enter left
	0 exit left
	0 enter left
	0 exit left
	0 exit main
end
EOF
} >timeless.txt
printf '%s\nend\n' "$head" >empty.txt
for name in report old timeless empty; do
	expect 0 "$TEEPERF" dump --assemble $name.txt -o $name.trace
	expect 0 "$TEEPERF" report -o $name.html $name.trace
done
expect 0 "$TEEPERF" report --baseline old.trace -o diff.html report.trace
export HOME="$PWD"
expect 0 python3 "$lib/browser_report.py" report.html diff.html timeless.html empty.html
says '^0 failures' out
