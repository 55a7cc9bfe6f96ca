#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the export "otlp" keeps the rules of OpenTelemetry's profiles (opentelemetry-proto
# 1.11.0), as protoc and a test of ours read it, with the calls and times of each function that we
# show; and that 'export --push' does what the specification of OTLP/HTTP says, against a small
# server of ours, which also takes the request and rejects the profile. No collector is run.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/export_traces.sh"
command -v protoc >/dev/null || skip "no reader (package protobuf-compiler)"

golden_traces
real_trace plain
set -- two-threads.trace
for trace in *.trace; do
	[ "$trace" = two-threads.trace ] || set -- "$@" "$trace"
done
python3 "$lib/export_otlp.py" "$@"
expect 129 "$TEEPERF" export --format otlp --push http://127.0.0.1:1 \
	--server parca two-threads.trace
says "goes to OpenTelemetry collectors only" err
expect 129 "$TEEPERF" export --format otlp --label a two-threads.trace
