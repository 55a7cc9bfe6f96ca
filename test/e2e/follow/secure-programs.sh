#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs with other rights than their caller's are not recorded, and the reason is reported;
# processes that give up their rights or see another root are followed nevertheless.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
other_users || skip "only root can make programs of other users"

cat >app.c <<'EOS'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}
static void leave(char **argv)
{
	if (!strcmp(argv[1], "chroot") ? chroot(".") || chdir("/") : setgid(65534) || setuid(65534))
		_exit(1);
}
int main(int argc, char **argv)
{
	called();
	if (argc == 1)
		return 0;
	if (fork() == 0) {
		leave(argv);
		for (int i = 0; i < 2; i++)
			called();
		if (fork() == 0) {
			for (int i = 0; i < 5; i++)
				called();
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -o app app.c
for how in chroot dropped; do
	rm -f run.trace*
	expect 0 "$TEEPERF" record -f -o run.trace -- ./app $how
	! grep 'not recorded' err || fail "$how"
	for trace in run.trace*; do
		"$TEEPERF" analyze "$trace" --format csv 2>heading |
			awk -F, '$1 == "called" { print $2 }'
	done | sort -n | tr '\n' ' ' >calls
	[ "$(cat calls)" = "1 2 5 " ] || fail "$how: $(cat calls)"
done

case $(findmnt -no OPTIONS -T . 2>/dev/null || true) in
*nosuid*) skip "set-user-ID has no effect in this folder" ;;
esac
for what in u:user g:group; do
	cp app secure
	chown 65534:65534 secure
	chmod ${what%%:*}+s,a+x secure
	expect 0 "$TEEPERF" record -o run.trace -- ./secure
	says "'./secure' ran without recording: it is set-${what##*:}-ID" err
	! grep -q 'is not built with' err || fail "two reasons"
	PATH=$PWD:$PATH expect 0 "$TEEPERF" record -o run.trace -- secure
	says "it is set-${what##*:}-ID" err
done
# File capabilities have that effect for a user who has none.
if command -v setpriv >/dev/null; then
	users=$(mktemp -d)
	chmod 755 "$users"
	cp "$TEEPERF" "$users/teeperf"
	cp app "$users/secure"
	mkdir "$users/out"
	chown 65534:65534 "$users/out"
	# Version 2, effective; CAP_NET_BIND_SERVICE.
	if python3 - "$users/secure" 2>xattr.err <<'EOS'
import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))
EOS
	then
		got=0
		setpriv --reuid=65534 --regid=65534 --clear-groups "$users/teeperf" record \
			-o "$users/out/run.trace" -- "$users/secure" 2>err || got=$?
		[ $got = 0 ] || fail "a program with capabilities: $got: $(cat err)"
		says "secure' ran without recording: its file gives it capabilities" err
	else
		echo "not tested: file capabilities: $(tail -1 xattr.err)"
	fi
	rm -rf "$users"
fi
# Without effect, so recorded.
chown 0:0 secure
chmod u+s secure
expect 0 "$TEEPERF" record -o run.trace -- ./secure
! grep -q 'without recording' err || fail "recorded, and yet: $(cat err)"
