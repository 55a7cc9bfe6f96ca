#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# record --pid of a program that becomes another one by exec: nothing is called in that. And of one
# that may not open the log: the call crashes and is undone, and the program loads libraries and
# ends as it would.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"
command -v strace >/dev/null || skip 'no strace'

cat >becomes.c <<'EOC'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void work(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }
int main(int count, char **arguments)
{
	puts("ready");
	fflush(stdout);
	while (getchar() == 'w')
		work(count);
	return count > 1 ? execv(arguments[1], arguments + 1) : 0;
}
EOC
cat >another.c <<'EOC'
#include <stdio.h>
int main(void)
{
	puts("another");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 3;
}
EOC
"$TEEPERF" cc -O1 -static -o becomes becomes.c
${CC:-cc} -O1 -static -o another another.c

begin becomes sh -c 'exec ./becomes ./another <commands'
exec 3>commands
await becomes.out ready
begin record strace -f -o calls -e trace=ptrace "$TEEPERF" record --pid "$begun" --size 16M \
	-o exec.trace 3>&-
await record.err 'recording process'
before=$(grep -c PTRACE_SEIZE calls)
printf 'wwwww\n' >&3
await becomes.out another
# Nobody has the log any more, so it ends by itself.
ended 0 record
[ "$(grep -c PTRACE_SEIZE calls)" = "$before" ] || fail 'the program that came by exec was stopped'
exec 3>&-
ended 3 becomes
"$TEEPERF" analyze exec.trace --format csv >top.csv 2>err
says '^work,5,' top.csv

cat >forbids.c <<'EOC'
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
__attribute__((noinline)) void work(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }
int main(int count, char **arguments)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog program = {4, filter};
	void *library = dlopen(arguments[count - 1], RTLD_NOW);
	puts("ready");
	fflush(stdout);
	if (!library || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	while (getchar() != EOF)
		work(count);
	return dlclose(library) ? 2 : 6;
}
EOC
echo 'int library_work(int n) { return n + 1; }' >library.c
"$TEEPERF" cc -O1 -shared -fPIC -o library.so library.c
"$TEEPERF" cc -O1 -o forbids forbids.c -ldl
begin forbids sh -c 'exec ./forbids ./library.so <commands'
exec 3>commands
await forbids.out ready
await_true "grep -q '^Seccomp:.*2' /proc/$begun/status" 'the filter'
expect 1 "$TEEPERF" record --pid "$begun" --size 16M -o none.trace
says 'has a seccomp filter, which may kill it .*--force' err
expect 1 "$TEEPERF" record --force --pid "$begun" --size 16M -o none.trace
says 'could not run the runtime: .*seccomp' err
exec 3>&-
ended 6 forbids

# A recorder that is killed in the middle of the call leaves a thread in the runtime's entry, which
# the next one puts back to where it was: the program goes on as if nothing had been.
late=0
for kill in 3 4 5 6 7 8 9 10 11 12 13 14; do
	start spin
	"$TEEPERF" record --pid "$program" --size 16M -o none.trace --duration 1ms 3>&-
	strace -f -o calls -e trace=ptrace -e inject=ptrace:signal=KILL:when=$kill \
		"$TEEPERF" record --pid "$program" --size 16M -o none.trace --duration 1ms \
		>none.out 2>&1 3>&- || true
	expect 0 timeout 60 \
		"$TEEPERF" record --pid "$program" --size 16M -o next.trace --duration 1ms
	! grep -q "had been left in a recorder's call" err || late=$((late + 1))
	[ "$(cut -d ' ' -f 19 "/proc/$program/stat")" = "$(cut -d ' ' -f 19 /proc/$$/stat)" ] ||
		fail "after $kill calls of ptrace a thread has another nice value"
	go 100
	over
done
[ $late -gt 0 ] || fail 'no recorder was killed within the call'
ls /dev/shm >left
! grep 'teeperf.thread' left || fail 'what a thread was is left behind'
