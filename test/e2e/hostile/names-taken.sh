#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What another process puts into /dev/shm keeps nobody from recording: sockets with the names of
# coming recorders, those that claim to record a program, and a link beside the log of a recorder
# that was killed. Where there can be no socket for 'teeperf ctl', that is a warning.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
build_fake

# The names of process ids to come, as sockets were called that had nothing else in their names:
# folders, which not even root renames something over.
python3 - <<'EOP'
import os
last = int(open("/proc/sys/kernel/ns_last_pid").read())
most = int(open("/proc/sys/kernel/pid_max").read())
for pid in range(last + 1, min(last + 3000, most)):
    for name in f"/dev/shm/teeperf-{pid}.ctl", f"/dev/shm/teeperf-{pid}.ctl.new":
        os.mkdir(name)
EOP
expect 0 "$TEEPERF" record -o x.trace ./fake 10 0
! grep -q 'teeperf ctl' err || fail "$(cat err)"
find /dev/shm -name 'teeperf-*.ctl*' -delete
facts x.trace lost=0

# A recording is found by the process that listens, not by what a name says, nor by what others
# claim to record.
begin claimed "$TEEPERF" record -q -o y.trace ./fake 10 pause
recorder=$begun
await claimed.out ready
program=$(sed -n 's/^ready //p' claimed.out)
[ "$(find /dev/shm -name "teeperf-$recorder.????????????????.ctl" | wc -l)" = 1 ] ||
	fail "$(ls /dev/shm)"
if other_users; then
	# where the other user may go: the checkout may be in a home that is closed to him
	users=$(mktemp -d)
	trap 'rm -rf "$users"' EXIT
	chmod 755 "$users"
	cat >lie.c <<'EOC'
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "recorder/control/control.h"
int main(int argc, char **argv)
{
	const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct tp_control_request request;
	const unsigned recorder = (unsigned)atoi(argv[1]);
	const unsigned program = (unsigned)atoi(argv[argc - 1]);
	const struct tp_control_reply reply = {.version = TP_CONTROL_VERSION,
	    .recorder = recorder, .program = program, .attached = program};
	snprintf(address.sun_path, sizeof(address.sun_path), "/dev/shm/teeperf-%u.0000000000000000.ctl", recorder);
	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) || listen(listener, 8))
		return 1;
	puts("listening");
	for (;;) {
		fflush(stdout);
		const int connection = accept(listener, NULL, NULL);
		puts("asked");
		if (recv(connection, &request, sizeof(request), 0) > 0)
			send(connection, &reply, sizeof(reply), MSG_NOSIGNAL);
	}
}
EOC
	${CC:-cc} -I "$root" -I "$root/include" -o "$users/lie" lie.c
	begin lie setpriv --reuid=65534 --regid=65534 \
		--clear-groups "$users/lie" "$recorder" "$program"
	await lie.out listening
	for pid in $recorder $program; do
		expect 0 "$TEEPERF" ctl status "$pid"
		says "^recorder   process $recorder\$" out
		says "^program    process $program\$" out
		says "y.trace" out
	done
	! grep -q asked lie.out || fail "another user's socket was asked"
	kill "$begun"
	gone "$begun"
	rm -f "/dev/shm/teeperf-$recorder.0000000000000000.ctl"
else
	echo "not tried: other users, whom only root can play"
fi
kill -TERM "$program"
wait "$recorder" || true

# No name for a socket is free, as the folder takes none: recorded all the same. The log is
# elsewhere.
if [ "${private:-}" ] && [ "$(id -u)" = 0 ]; then
	cat >closed.sh <<'EOS'
mount -t tmpfs -o ro tmpfs /dev/shm && exec "$@"
EOS
	"$TEEPERF" cc -O1 -o named -x c - <<'EOC'
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
int main(void)
{
	for (int i = 0; i < 1000; i++)
		leaf();
	return 0;
}
EOC
	# shellcheck disable=SC2086 # words are meant
	begin place unshare $private sh closed.sh "$TEEPERF" record -o z.trace --size 1M \
		--attach "$PWD/log.place"
	await place.err 'now start'
	TEEPERF_LOG=$PWD/log.place ./named
	ended 0 place
	says "'teeperf ctl' cannot reach this recording: .*cannot make a socket" place.err
	says '20[0-9][0-9] records' place.err
else
	echo "not tried: a folder that takes no socket"
fi

# Another's link beside our log says nothing of where it belongs: the log stays for 'recover', which
# gets all from it.
if other_users && [ "${private:-}" ]; then
	begin killed "$TEEPERF" record -q -o killed.trace --drain end ./fake 10 pause
	recorder=$begun
	await killed.out ready
	program=$(sed -n 's/^ready //p' killed.out)
	note=$(find /dev/shm -name "teeperf-$recorder-*.trace")
	kill -KILL "$recorder" "$program"
	wait "$recorder" 2>/dev/null || true
	gone "$program"
	rm "$note"
	setpriv --reuid=65534 --regid=65534 --clear-groups ln -s "$PWD/x.trace" "$note"
	expect 0 "$TEEPERF" record -q -o next.trace true
	[ -e "${note%.trace}" ] || fail "the log of a killed recorder is gone"
	facts x.trace lost=0
	expect 0 "$TEEPERF" recover killed.trace
	[ ! -e "${note%.trace}" ] || fail "the log is still there"
	says 'records' err
else
	echo "not tried: another user's link beside a log"
fi
