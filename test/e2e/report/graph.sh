#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report's call graph is that of export --format dot, and laid out by graphviz; that
# without graphviz, or with a dot that writes anything else, the page says so and is whole; and that
# it can be used in a browser.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

for name in recursion cxx counts no-clock two-threads; do
	expect 0 "$TEEPERF" dump --assemble "$root/test/golden/$name/trace.txt" -o $name.trace
done
# More functions than are drawn, in a chain with a call back.
awk 'BEGIN {
	print "clock kind=tsc hz=1000000000\ncommand\n\tstring \"/\"\n\tstring \"many\"\nsymbols"
	for (i = 0; i < 120; i++)
		printf "\tsymbol 0x%x f%d\n", 4198400 + 16 * i, i
	print "chunk"
	for (i = 0; i < 120; i++)
		printf "\t%d enter f%d\n", i * 10, i
	print "\t1200 enter f3\n\t1250 exit f3"
	for (i = 119; i >= 0; i--)
		printf "\t%d exit f%d\n", 3000 - i * 10, i
	print "end"
}' >many.txt
expect 0 "$TEEPERF" dump --assemble many.txt -o many.trace

# ---- no dot, and others that are none
mkdir -p empty fake
PATH=$PWD/empty "$TEEPERF" report --raw -o without.html recursion.trace
blocks() {
	expect 0 python3 -c 'import sys
sys.path.insert(0, sys.argv[1])
import report_data
print(report_data.read_page(open(sys.argv[2], encoding="utf-8").read()).get("graph", b"none").decode())
sys.exit(bool(report_data.failures))' "$lib" "$1"
}
blocks without.html
says '"why":"Graphviz, which lays out the call graph, was not installed' out
says '"nodes":\[\],"edges":\[\]' out
for answer in 'exit 1' 'echo graph 1 2 3' 'cat' 'yes' 'echo "graph 1 1 1
node n0 1e9 1 1 1 x"' 'echo "graph 1 1 1
node n7 1 1 1 1 x"' 'echo "graph 1 1 1
node n0 1 1 1 1
node n1 1 1 1 1
node n2 1 1 1 1
edge n0 n1 4000000000 1 1"' 'echo "</script><script>hacked=1</script>"'; do
	printf '#!/bin/sh\n%s\n' "$answer | head -c 100000" >fake/dot
	chmod +x fake/dot
	PATH=$PWD/fake:$PATH "$TEEPERF" report --raw -o fake.html recursion.trace
	blocks fake.html
	says '"why":"Graphviz could not lay out this call graph' out
	! grep -q 'hacked=1' out || fail "what dot wrote is in the page"
done
command -v dot >/dev/null ||
	skip "no dot (package graphviz); without it the report is as it should be"

# ---- the same graph
for name in recursion cxx counts no-clock two-threads; do
	"$TEEPERF" report --raw -o $name.html $name.trace || [ -e $name.html ] ||
		fail "no report of $name"
	"$TEEPERF" export --raw --format dot -o $name.dot $name.trace || [ -e $name.dot ] ||
		fail "no graph of $name"
	left=$("$TEEPERF" export --raw --format dot -o - $name.trace 2>&1 >&- |
		sed -n 's/.*: \([0-9]*\) functions and .*/\1/p')
	expect 0 python3 "$lib/report_graph.py" $name.html $name.dot ${left:-0}
	cat out
	# Graphviz takes all names.
	expect 0 dot -Tsvg -o $name.svg $name.dot
done
expect 0 "$TEEPERF" report --raw -o many.html many.trace
blocks many.html
says '"nodes_left":40,' out
expect 129 "$TEEPERF" export --format dot --min-share 101 many.trace
expect 129 "$TEEPERF" export --format folded --min-share 1 many.trace
expect 0 "$TEEPERF" export --format dot --min-share 50 -o half.dot many.trace
says 'functions and .* are too light to be drawn; --min-share 0 draws all' err
! grep -q 'tooltip="f119"' half.dot || fail "a light function is drawn"
says 'tooltip="f0"' half.dot

# ---- in a browser
if ! [ -x /usr/bin/chromium ] || ! command -v chromedriver >/dev/null; then
	echo "not looked at: no browser (packages chromium and chromium-driver)"
	exit 0
fi
export HOME="$PWD"
expect 0 python3 "$lib/browser_graph.py" recursion.html many.html without.html no-clock.html
cat out
says '^0 failures' out
