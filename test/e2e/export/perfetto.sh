#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that protoc reads an export for Perfetto by the fields that Perfetto has, that sequences,
# interned names and the clock of each sequence give each call with its times, and that losses and
# gaps are there.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/slices.sh"
needs protoc

slices_traces
slices_check perfetto
for name in lost switches program; do
	protoc --proto_path="$lib" --decode=Trace perfetto.proto <$name.perfetto >$name.text
done
says 'name: "\[3 events lost\]"' lost.text
says 'name: "\[5 events lost in all\]"' lost.text
says 'name: "switched off"' switches.text
says 'thread_name: "worker 1"' program.text
says 'file_name: ".*app.cpp"' program.text
