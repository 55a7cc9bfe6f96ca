#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# Each system call that the program makes is recorded once, by the function that makes it: in
# threads and forked children, too. Held against strace in the very same run, and against the bytes
# that /proc/self/io counts. Where the kernel lets nobody load BPF programs, record says so and goes
# on.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
fake=

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int zero, null;
struct io {
	long long read, written;
};
__attribute__((noinline)) static struct io tell(void)
{
	char text[512];
	struct io io = {0};
	const int fd = open("/proc/self/io", O_RDONLY);
	const ssize_t size = read(fd, text, sizeof(text) - 1);
	if (size <= 0 || close(fd))
		abort();
	text[size] = 0;
	if (sscanf(text, "rchar: %lld wchar: %lld", &io.read, &io.written) != 2)
		abort();
	return io;
}
__attribute__((noinline)) static void reads(void)
{
	char bytes[7];
	for (int i = 0; i < 150; i++)
		if (read(zero, bytes, sizeof(bytes)) != sizeof(bytes))
			abort();
}
__attribute__((noinline)) static void writes(int count)
{
	for (int i = 0; i < count; i++)
		if (write(null, "hello", 5) != 5)
			abort();
}
__attribute__((noinline)) static void fails(void)
{
	char byte;
	for (int i = 0; i < 3; i++)
		if (read(-1, &byte, 1) != -1)
			abort();
}
static void *asks(void *unused)
{
	for (int i = 0; i < 40; i++)
		syscall(SYS_getppid);
	return unused;
}
int main(void)
{
	pthread_t threads[3];
	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	const struct io before = tell();
	reads();
	writes(200);
	fails();
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, asks, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	const struct io after = tell();
	const pid_t child = fork();
	if (!child) {
		writes(25);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("%lld %lld\n", after.read - before.read, after.written - before.written);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -pthread -o app app.c

if ! may_bpf; then
	expect 0 "$TEEPERF" record -o run.trace --events syscalls -- ./app
	says "warning: no system events are recorded: .*(BTF|root|libbpf)" err
	expect 1 "$TEEPERF" analyze --view system run.trace
	says 'has no system events: ' err
	echo "no BPF here: record says why"
	exit 0
fi

query() {
	"$TEEPERF" query --format csv "$1" "$2" 2>query.err | sed 1d
}
is() {
	got=$(query run.trace "$2")
	[ "$got" = "$1" ] || fail "not '$1' but '$got': $2"
}

expect 0 "$TEEPERF" record -q -o run.trace --events syscalls -- ./app
told=$(cat out)
! grep 'no system events' err || fail "they are refused"
is '150,1050' "SELECT count(*), sum(bytes) FROM syscalls WHERE function = 'reads' AND call = 'read'"
is '200,1000' \
	"SELECT count(*), sum(bytes) FROM syscalls WHERE function = 'writes' AND call = 'write'"
is '3,-9,1' "SELECT count(*), min(result), sum(bytes) IS NULL FROM syscalls WHERE function = 'fails' AND call = 'read'"
is '120,3' "SELECT count(*), count(DISTINCT thread) FROM syscalls WHERE function = 'asks' AND call = 'getppid'"
is '1' "SELECT count(DISTINCT pid) FROM syscalls"
is '0' "SELECT count(*) FROM syscalls WHERE call LIKE 'exit%' OR duration_ns < 0"
# From the first look at /proc/self/io, which is in the difference, to the second.
is "$(echo "$told" | cut -d' ' -f1),$(echo "$told" | cut -d' ' -f2)" "
	WITH look AS (SELECT min(start_ns) AS first, max(start_ns) AS last FROM io WHERE function = 'tell' AND call = 'read')
	SELECT sum(CASE WHEN call LIKE '%read%' THEN bytes END), sum(CASE WHEN call LIKE '%write%' THEN bytes END)
	FROM io, look WHERE start_ns >= first AND start_ns < last"
expect 0 "$TEEPERF" analyze --view system run.trace
says '^ *200 .* 1,000  write +writes$' out
says '^ *150 .* 1,050  read +reads$' out
says ' total; bytes of calls$' out
expect 0 "$TEEPERF" analyze --view system --function writes --format csv run.trace
says '^200,([0-9]+,){4}1000,write,writes,$' out
[ "$(wc -l <out)" = 2 ] || fail "--function writes has rows of other functions"

# A followed child has its events in its own trace, by its own functions.
rm run.trace
expect 0 "$TEEPERF" record -q -f -o run.trace --events io -- ./app
is '200' "SELECT count(*) FROM io WHERE function = 'writes'"
child=$(query "$(ls run.trace.*)" \
	"SELECT count(*), sum(bytes), count(DISTINCT pid) FROM io WHERE function = 'writes'")
[ "$child" = 25,125,1 ] || fail "the child's events are not in its trace: $child"

# strace is the program, and what it traces is followed. From the execve on, which is before the
# trace's first record.
needs strace
expect 0 "$TEEPERF" record -q -f -o all.trace --events syscalls -- strace -f -c -o counts ./app
"$TEEPERF" query --format csv --attach child="$(ls all.trace.*)" all.trace "
	WITH app AS (SELECT pid FROM syscalls WHERE call = 'getppid' GROUP BY pid),
	family AS (SELECT pid FROM app UNION SELECT s.result FROM syscalls s
	JOIN app ON app.pid = s.pid
		WHERE s.call IN ('clone', 'clone3', 'fork', 'vfork') AND s.result > 0),
	main AS (SELECT call FROM syscalls JOIN family USING (pid) WHERE NOT unfinished
		AND rowid >= (SELECT max(rowid) FROM syscalls WHERE call = 'execve' AND result = 0))
	SELECT call, count(*) FROM (SELECT call FROM main UNION ALL SELECT call FROM child.syscalls
	WHERE NOT unfinished)
	GROUP BY call" 2>query.err | sed -e 1d -e 's/,/ /' | LC_ALL=C sort >ours
awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4 }' counts | LC_ALL=C sort >theirs
cmp ours theirs || {
	diff ours theirs >&2 || true
	fail "strace has counted otherwise"
}
says '^write 22[0-9]$' ours
echo "$(awk '{ sum += $2 } END { print sum }' \
	ours) system calls, as strace counts them; $told bytes"
