#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a program waits for before it begins, counted: the log's memory, and system calls. More
# memory comes from another thread while it starts. With '--ready' all of it is there before.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
needs strace

cat >app.c <<'EOS'
__attribute__((noinline)) static int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int main(void)
{
	return step(-1);
}
EOS
"$TEEPERF" cc -O1 app.c -o app

# look OPTION...: a recording. In `calls` are the system calls of its first thread before the
# program begins, in `bytes` and `own` what the log has got by then, and how much of that from the
# first thread.
look() {
	expect 0 strace -f -o strace.out "$TEEPERF" record -q --size 256M --clock none \
		-o app.trace "$@" -- ./app
	# A call during which another thread's is noted has two lines, "unfinished ..." and
	# "resumed".
	# shellcheck disable=SC2046 # three words
	set -- $(awk '
		NR == 1 { main = $1 }
		/ execve\("\.\/app"/ { exit }
		/ fallocate\(/ {
			split($0, part, /[,)] */)
			bytes += part[4]
			own += $1 == main ? part[4] : 0
		}
		$1 == main && !/ resumed>/ { calls++ }
		END { print calls + 0, bytes + 0, own + 0 }' strace.out)
	calls=$1
	bytes=$2
	own=$3
}

# With time more memory comes: where starting took seconds it is another case.
for _ in 1 2 3 4 5; do
	look
	[ "$bytes" -gt $((28 * 1024 * 1024)) ] || break
done
echo "$calls system calls, $bytes bytes, $own of them by the first thread"
mib=$((1024 * 1024))
[ "$bytes" -ge $((16 * mib)) ] || fail "only $bytes bytes are there before the program starts"
[ "$bytes" -le $((28 * mib)) ] || fail "the program waits for $bytes bytes"
[ "$own" -le $((4 * mib)) ] || fail "the first thread fetches $own bytes"
# Half of them are the loader's.
[ "$calls" -le 320 ] || fail "$calls system calls before the program starts"

look --ready 48M
[ "$own" -ge $((48 * mib)) ] || fail "--ready 48M: $own bytes"
