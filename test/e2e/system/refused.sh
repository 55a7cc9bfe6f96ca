#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A user who may not load BPF programs learns the reason and the remedy; the calls are recorded, and
# the exit code is the program's. Wrong uses of --events are refused before anything runs.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >app.c <<'EOS'
int main(void)
{
	return 7;
}
EOS
expect 0 "$TEEPERF" cc -O1 -o app app.c

refused() {
	why=$1
	shift
	expect 129 "$TEEPERF" record -o no.trace "$@"
	says "$why" err
	[ ! -e no.trace ] || fail "there is a trace"
}
refused "unknown events 'disk': expected sched, syscalls, io, faults, mem or sgx" \
	--events io,disk -- ./app
refused "unknown events ''" --events io, -- ./app
refused "'--events' needs a program that is started here, or '--attach'" --events io \
	--attach "$PWD/log" --port gramine
refused "'--events' needs a program that is started here, or '--attach'" --events io \
	--stream "$PWD/fifo"
refused "'--events' cannot be combined with '--mode ring'" --events io --mode ring -- ./app

# Somewhere that everybody finds.
open=$(mktemp -d /tmp/teeperf-refused.XXXXXX)
trap 'rm -rf "$open"' EXIT
chmod 777 "$open"
cp "$TEEPERF" "$open/teeperf"
cp app "$open/app"
if [ "$(id -u)" = 0 ]; then
	set -- setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all \
		--inh-caps=-all
else
	set --
fi
(cd "$open" && expect 7 "$@" ./teeperf record -o run.trace \
	--events sched,syscalls,io,faults -- ./app && cp out err "$OLDPWD")
if [ -r /sys/kernel/btf/vmlinux ]; then
	says 'no system events are recorded: this user may not load BPF programs: run .* as root, or .*setcap cap_bpf' err
else
	says "no system events are recorded: cannot find '/sys/kernel/btf/vmlinux'" err
fi
expect 0 "$TEEPERF" query --format csv "$open/run.trace" \
	"SELECT calls FROM functions WHERE function = 'main'"
says '^1$' out
expect 1 "$TEEPERF" analyze --view system "$open/run.trace"
says 'has no system events: ' err
expect 7 "$TEEPERF" record -q -o plain.trace -- ./app
expect 1 "$TEEPERF" analyze --view system plain.trace
says "has no system events: record with '--events" err
