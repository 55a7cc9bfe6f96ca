#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the example of the existing harness for enclaves is taken as it is, and yields its
# figures, or a note where the machine lacks what they need. The short form has a shorter run of
# each program.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
[ -x /usr/bin/sysbench ] || skip "no sysbench (package sysbench)"

cp "$lib/harness.toml" demo.toml
blocks=1000000
expect 0 "$TEEPERF" experiment --dry-run demo.toml
says '^12 experiments, ' out
if [ "${TEEPERF_FULL:-0}" != 1 ]; then
	blocks=20000
	sed -i "s/count=1000000/count=$blocks/; s/\"cpu\", \"run\"/\"cpu\", \"run\", \"--time=1\"/" demo.toml
fi
expect 0 "$TEEPERF" experiment demo.toml
cp err notes

cd demo-result
for threads in 1 2 4; do
	says "^Number of threads: $threads\$" sysbench-native-$threads-1G/1/stdout
	[ -s sysbench-native-$threads-1G/deep-trace/teeperf.trace ] ||
		fail "no deep trace with $threads threads"
done
# The file is gone, and what it took is known.
[ ! -e dd-native-256M/1/data ] || fail "dd's file was not removed: $(ls dd-native-256M/1/data)"
python3 - $blocks <<'EOF'
import csv, sys
rows = {row["experiment"]: row for row in csv.DictReader(open("runs.csv"))}
wanted = {"sysbench-native-%d-1G" % n for n in (1, 2, 4)} | {"dd-native-256M", "dd-native-512M"}
assert wanted <= set(rows), set(rows)
for name in wanted:
    row = rows[name]
    assert row["status"] == "done", row
    for column in ("wall_time_s", "max_rss_bytes", "cpu_clock_s", "task_clock_s", "page_faults"):
        assert float(row[column]) > 0, (name, column, row[column])
    assert row["user_time_s"] and row["system_time_s"], row
for name in ("dd-native-256M", "dd-native-512M"):
    assert 512 * int(sys.argv[1]) <= float(rows[name]["write_call_bytes"]) < 512 * int(sys.argv[1]) + 2000, rows[name]
    assert float(rows[name]["write_calls"]) >= int(sys.argv[1]), rows[name]
EOF
# What its eBPF programs tell, of the deep trace; or why not.
if [ "$(sed -n '1s/.*\(system_write_calls\).*/\1/p' deep_traces.csv)" ]; then
	python3 - $blocks <<'EOF'
import csv, sys
for row in csv.DictReader(open("deep_traces.csv")):
    if row["task"] == "dd":
        assert int(sys.argv[1]) <= float(row["system_write_calls"]) < int(sys.argv[1]) + 100, row
        assert float(row["system_write_mean_s"]) >= 0, row
EOF
else
	says 'no system events are recorded: ' dd-native-256M/deep-trace/stderr
fi
cd ..
command -v gramine-sgx >/dev/null ||
	says 'note: Gramine is not installed: .* \(7 experiments\)' notes
[ -e /sys/class/powercap/intel-rapl ] || says 'note: not measured: energy: ' notes
