#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report of a joined trace shows the TEE: colours by side, marks where a call goes
# over the border, the share inside; that its tables of transitions and contention are the rows of
# the views of these names; and that others have no such tabs.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# A call into the TEE, a call back, a function of one name on both sides; two threads at once.
cat >sides.txt <<'EOS'
trace machine=62
clock kind=tsc hz=1000000000
command
	string "/"
	string "client"
symbols
	symbol 0x401000 main file="host.c" line=1
	symbol 0x401010 invoke file="host.c" line=2
	symbol 0x401020 answer file="host.c" line=3
	symbol 0x501000 command file="tee.c" line=1
	symbol 0x501010 "<img src=x onerror=hacked=1>" file="tee.c" line=2
modules
	module start=0x401000 end=0x402000 path="/client"
	module start=0x501000 end=0x502000 flags=4 path="/application"
threads
	thread tid=100 name="one"
	thread tid=101 name="two"
chunk thread=0 tid=100
	0 enter main
	1000 enter invoke
	2000 enter command
	2500 enter 0x501010
	3500 exit 0x501010
	4000 enter answer
	4500 exit answer
	6000 exit command
	7000 exit invoke
	8000 enter invoke
	8100 enter command
	9000 exit command
	9500 exit invoke
	10000 exit main
chunk thread=1 tid=101
	0 enter main
	3000 enter invoke
	3200 enter command
	5200 exit command
	6000 exit invoke
	10000 exit main
end
EOS
# Without sides, and gates by name.
sed 's/ flags=4//; s/symbol 0x501000 command/symbol 0x501000 ecall_command/; s/enter command/enter ecall_command/; s/exit command/exit ecall_command/' \
	sides.txt >gates.txt
sed 's/^	thread tid=101.*//; /^chunk thread=1/,/exit main/d; s/ flags=4//' \
	sides.txt >alone.txt
for name in sides gates alone; do
	expect 0 "$TEEPERF" dump --assemble $name.txt -o $name.trace
	expect 0 "$TEEPERF" report --raw -o $name.html $name.trace
done
for view in transitions contention; do
	for name in sides gates; do
		expect 0 "$TEEPERF" analyze --view $view --format json $name.trace
		mv out $name.$view.json
	done
done
! grep -Eq 'id="data-(transitions|contention)"' alone.html || fail "tables of nothing"
cp "$root/test/golden/locks/trace.txt" locks.txt
expect 0 "$TEEPERF" dump --assemble locks.txt -o locks.trace
expect 0 "$TEEPERF" report -o locks.html locks.trace
expect 0 "$TEEPERF" analyze --view contention --format json locks.trace
mv out locks.contention.json
same() {
	python3 -c 'import json, sys
sys.path.insert(0, sys.argv[1])
import report_data
blocks = report_data.read_page(open(sys.argv[2] + ".html", encoding="utf-8").read())
wanted = json.load(open(sys.argv[2] + "." + sys.argv[3] + ".json", encoding="utf-8"))
print(len(wanted[sys.argv[3]]), "rows")
sys.exit(json.loads(blocks[sys.argv[3]]) != wanted or bool(report_data.failures))' "$lib" "$1" "$2"
}
for of in "sides transitions" "sides contention" "gates transitions" "gates contention" \
	"locks contention"; do
	# shellcheck disable=SC2086 # words are meant
	expect 0 same $of
	says '^[1-9][0-9]* rows$' out
done

if ! [ -x /usr/bin/chromium ] || ! command -v chromedriver >/dev/null; then
	echo "not looked at: no browser (packages chromium and chromium-driver)"
	exit 0
fi
export HOME="$PWD"
expect 0 python3 "$lib/browser_sides.py" sides gates alone
says '^0 failures' out
