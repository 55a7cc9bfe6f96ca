#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the Firefox Profiler's own code opens its export, and has self and inclusive times of
# each function as we do. Its command line is no package of Debian's: it is looked for in PATH, or
# TEEPERF_PROFILER_CLI.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/slices.sh"
cli=${TEEPERF_PROFILER_CLI:-$(command -v profiler-cli || true)}
[ -n "$cli" ] || skip "no profiler-cli (npm install -g @firefox-devtools/profiler-cli, or" \
	"TEEPERF_PROFILER_CLI)"
export HOME="$PWD"

slices_traces
daemon=
trap '[ -z "$daemon" ] || kill $daemon' EXIT
for name in program recursion resync switches cxx; do
	expect 0 "$TEEPERF" export --format firefox -o $name.json traces/$name.trace
	# What its command "load" starts, but that gives up after half a second.
	begin daemon "$cli" --daemon "$PWD/$name.json" --session $name
	daemon=$begun
	await_true '"$cli" profile info --session $name --json >out 2>err' \
		"profiler-cli to load $name.json"
	python3 -c 'import json, sys
for process in json.load(open("out"))["processes"]:
    for thread in process["threads"]:
        print(thread["threadHandle"])' >threads
	rm -f functions.*
	while read -r thread; do
		expect 0 "$cli" thread functions --session $name --thread "$thread" --limit 0 --json
		cp out functions.$thread
	done <threads
	python3 - traces/$name.csv functions.* <<'EOS' || fail "$name"
import collections, csv, json, sys
own, total = collections.Counter(), collections.Counter()
for path in sys.argv[2:]:
    data = json.load(open(path))
    if data["weightType"] != "tracing-ms":
        sys.exit("weights are no times")
    for function in data["functions"]:
        own[function["name"]] += round(function["selfSamples"] * 10**6)
        total[function["name"]] += round(function["totalSamples"] * 10**6)
count = 0
for row in csv.DictReader(open(sys.argv[1])):
    name = row["function"]
    if (own[name], total[name]) != (int(row["self_ns"]), int(row["inclusive_ns"])):
        sys.exit(f"{name}: {own[name]} {total[name]}, not {row['self_ns']} {row['inclusive_ns']}")
    count += 1
print(f"{count} functions: equal")
EOS
	kill $daemon
	daemon=
done
