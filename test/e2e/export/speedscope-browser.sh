#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that speedscope itself opens both forms of its export, and shows our functions with their
# times. Speedscope is no package of Debian's: it is looked for among npm's global packages, or in
# the folder TEEPERF_SPEEDSCOPE.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/export_traces.sh"
speedscope=${TEEPERF_SPEEDSCOPE:-$(npm root -g 2>/dev/null || true)/speedscope/dist/release}
[ -e "$speedscope/index.html" ] ||
	skip "speedscope is not there (npm install -g speedscope, or TEEPERF_SPEEDSCOPE)"
[ -x /usr/bin/chromium ] && command -v chromedriver >/dev/null ||
	skip "no browser (packages chromium and chromium-driver)"
export HOME="$PWD"

golden_traces
real_trace plain
for trace in recursion cxx real-plain; do
	expect 0 "$TEEPERF" export --format speedscope --thread 0 -o $trace.json $trace.trace
	expect 0 "$TEEPERF" analyze --thread 0 --format csv $trace.trace
	mv out $trace.csv
	expect 0 python3 "$lib/browser_speedscope.py" "$speedscope" $trace.json $trace.csv
	says '[1-9][0-9]* functions shown, 0 failures' out
	expect 0 "$TEEPERF" export --format speedscope --calls --thread 0 \
		-o $trace-events.json $trace.trace
	expect 0 "$TEEPERF" analyze --raw --thread 0 --format csv $trace.trace
	mv out $trace-raw.csv
	expect 0 python3 "$lib/browser_speedscope.py" "$speedscope" $trace-events.json \
		$trace-raw.csv
	python3 -c 'import jsonschema' 2>/dev/null || continue
	for json in $trace.json $trace-events.json; do
		python3 -W ignore -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \
			$json "$speedscope/file-format-schema.json"
	done
done
