#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A thread that hangs in a function is shown by GDB as there for as long as it is, not for 0 ns up
# to its own last record; and where nobody knows what time it is, as in a core file, that is said.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
needs gdb
helper=$root/gdb/teeperf-gdb.py
cat >hang.c <<'EOS'
__attribute__((noinline)) void stop_here(void) { __asm__ volatile(""); }
__attribute__((noinline)) void leaf(void) { for (;;) stop_here(); }
int main(void) { leaf(); }
EOS
printf 'default:allow\nfun:stop_here=skip\n' >list
"$TEEPERF" cc -O1 -g --allowlist=list hang.c -o hang
cat >look.py <<'EOP'
import re, time
import gdb
NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
def ns(text):
    number, unit = text.split()
    return float(number) * NS[unit]
def look(known):
    # A soft clock may stand still for a while.
    for _ in range(300):
        time.sleep(0.2)
        text = gdb.execute("teeperf stacks", to_string=True)
        frames = re.findall(r"^  #\d+ +(\S+)  (at least |)(.*)$", text, re.M)
        if not known or all(ns(f[2]) > 150e6 for f in frames):
            break
    assert [f[0] for f in frames] == ["leaf", "main"], text
    if known:
        assert all(not f[1] and ns(f[2]) > 150e6 for f in frames), text
        age = re.search(r": 2 open calls, last record (.*) ago$", text, re.M)
        assert age and ns(age.group(1)) > 150e6, text
        assert "to now\n" in text, text
    else:
        assert all(f[1] for f in frames), text
        assert ": 2 open calls, last record: the newest of all\n" in text, text
        assert "its age is unknown" in text, text
    gdb.write("SEEN %s\n" % known)
EOP
gdb_run() {
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex "source $helper" \
		-ex 'source look.py' "$@"
}
for clock in tsc soft; do
	[ $clock != tsc ] || grep -q constant_tsc /proc/cpuinfo || continue
	expect 0 "$TEEPERF" record -q --size 8M --ready 8M --mode full --clock $clock -o run.trace \
		-- gdb -nx -batch -ex 'set debuginfod enabled off' -ex "source $helper" \
		-ex 'source look.py' -ex 'break stop_here' -ex run -ex 'python look(True)' \
		-ex 'python open("/proc/%d/coredump_filter" % gdb.selected_inferior().pid, "w").write("0x3b")' \
		-ex "gcore core.$clock" -ex kill --args ./hang
	says '^SEEN True$' out
	[ $clock = soft ] || {
		gdb_run -ex 'python look(False)' ./hang core.$clock >out 2>err ||
			fail "$(cat out err)"
		says '^SEEN False$' out
	}
done
