#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that each kind of variant runs what it says: a build that is made once and measured under
# the recorder, with its figures; 'perf stat', with its; Gramine, by stand-ins for its tools, with a
# manifest for each experiment and a folder for each kind of storage; that the times of all are
# those of the program; and that the deep trace has calls and system events.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >app.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) static int once(int i) { __asm__ volatile("" : "+r"(i)); return i; }
int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < atoi(argv[1]); i++)
		sum += once(i);
	FILE *file = fopen(argv[2], "w");
	if (!file || argc != 3)
		return 1;
	for (int i = 0; i < 100; i++)
		(void)!write(fileno(file), "0123456789", 10);
	usleep(20000);
	return fclose(file) || sum < 0;
}
EOF
cat >plan.toml <<'EOF'
[globals]
output_directory = "results"
sample_size = 2
deep_trace = true
system_events = true
[variants.profiled]
kind = "teeperf"
build_executable = "./build"
build_args = ["{{ build_directory }}/app"]
allowlist = "app.allow"
executable = "{{ build_directory }}/app"
options = ["--clock", "soft"]
[variants.kept]
kind = "teeperf"
executable = "results/build/profiled/app"
keep_traces = true
[[tasks]]
name = "app"
executable = "./app"
args = ["{{ calls }}", "{{ output_directory }}/file"]
variants = ["native", "profiled", "kept", "perf-stat"]
factors = { calls = [10, 2000] }
EOF
cat >build <<'EOF'
#!/bin/sh
echo "$TEEPERF_ALLOWLIST" >>builds
exec "$TEEPERF" cc -O1 -o "$1" app.c
EOF
chmod +x build
echo 'fun:once' >app.allow
export TEEPERF
cc -O1 -o app app.c 2>/dev/null || skip "no C compiler"
expect 0 "$TEEPERF" experiment plan.toml
[ "$(cat builds)" = "$PWD/app.allow" ] ||
	fail "built otherwise than once, with the list: $(cat builds)"
cp err notes
perf=yes
grep -q 'perf is not installed' notes && perf=no
[ "$(ls results/*/*/teeperf.trace | wc -l)" = $((4 + 6)) ] ||
	fail "traces: $(ls results/*/*/teeperf.trace)"
python3 - $perf <<'EOF'
import csv, sys
runs = list(csv.DictReader(open("results/runs.csv")))
assert len(runs) == 2 * 2 * (4 if sys.argv[1] == "yes" else 3), len(runs)
for row in runs:
    what = row["experiment"] + "/" + row["iteration"]
    assert row["status"] == "done", row
    # The program's own time, without what is around it. perf looks at its clock after it let the program go: on a busy
    # machine it may be late.
    least = 0 if row["variant"] == "perf-stat" else 0.02
    assert least < float(row["wall_time_s"]) <= float(row["command_time_s"] or 1e9), (what, row)
    assert float(row["command_time_s"] or 1e9) >= 0.02, (what, row)
    if row["variant"] in ("profiled", "kept"):
        # An enter and an exit of each call, or one record for both, and some others.
        assert int(row["calls"].split(".")[0]) <= float(row["trace_records"]) <= 2 * float(row["calls"]) + 200, (what, row)
        assert float(row["lost_events"]) == 0 and float(row["trace_bytes"]) > 1000, (what, row)
        assert row["cpu_time_s"], (what, row)
    else:
        assert row["trace_records"] == "", (what, row)
    assert row["task_clock_s"] and row["page_faults"], (what, row)
    # 100 writes, and what the C library does at the start.
    if row["variant"] == "native" and row.get("system_write_calls"):
        assert 100 <= float(row["system_write_calls"]) < 110, (what, row)
    elif row["variant"] == "native":
        assert "note: no system events: " in open("notes").read(), (what, row)
deep = list(csv.DictReader(open("results/deep_traces.csv")))
assert sorted(row["experiment"] for row in deep) == ["app-%s-%d" % (v, c) for v in ("kept", "native", "profiled") for c in (10, 2000)], deep
EOF
expect 0 "$TEEPERF" analyze --format csv results/app-profiled-2000/deep-trace/teeperf.trace
says '^once,2000,' out

# A list is part of what a build is.
echo 'fun:main' >>app.allow
expect 1 "$TEEPERF" experiment plan.toml
says 'results are of other settings or another program .*app-(profiled|kept)' err
[ "$(wc -l <builds)" = 2 ] || fail "not built anew"

# ---- Gramine: its tools as the manual has them
mkdir -p bin enclave
cat >bin/gramine-manifest <<'EOF'
#!/bin/sh
definitions=$(for word; do
	[ "${word#-D}" = "$word" ] || echo "# $word"
done)
while [ "${1#-D}" != "$1" ]; do
	shift
done
echo "$definitions" >"$2"
cat "$1" >>"$2"
EOF
cat >bin/gramine-direct <<'EOF'
#!/bin/sh
[ -s "$1.manifest" ] || exit 8
program=$(sed -n 's/^# -Dentrypoint=//p' "$1.manifest")
shift
exec "$program" "$@"
EOF
chmod +x bin/*
cat >enclave/plan.toml <<'EOF'
[[tasks]]
name = "app"
executable = "../app"
args = ["1", "{{ output_directory }}/file"]
storage_type = ["encrypted", "untrusted"]
enclave_size = ["64M", "1G"]
variants = ["gramine-direct", "gramine-sgx"]
[[tasks]]
name = "templated"
executable = "../app"
args = ["1", "{{ output_directory }}/file"]
variants = ["own"]
[variants.own]
kind = "gramine-direct"
manifest = "own.template"
EOF
echo 'my = "own"' >enclave/own.template
PATH=$PWD/bin:$PATH expect 0 "$TEEPERF" experiment enclave/plan.toml
says "note: (Gramine is not installed: 'gramine-sgx'|this machine has no SGX).* \(4 experiments\)" \
	err
cd enclave/plan.results
for size in 64M 1G; do
	for kind in encrypted untrusted; do
		cell=app-gramine-direct-$size-$kind
		[ "$(wc -c <$cell/1/$kind/file)" = 1000 ] || fail "$cell has no file in its folder"
		for definition in enclave_size=$size storage_type=$kind "entrypoint=.*/app" \
			"cell_directory=.*/$cell"; do
			says "^# -D$definition\$" $cell/manifest/program.manifest
		done
		says '^sgx.enclave_size = "{{ enclave_size }}"$' $cell/manifest/program.manifest
	done
done
says '^my = "own"$' templated-own/manifest/program.manifest
