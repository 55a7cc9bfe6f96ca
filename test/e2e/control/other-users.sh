#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A recording obeys its owner and root, and says so to others.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
other_users || skip "only root can play two users"
other() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
build_fake
# Where the other user may go too: the checkout may be in a home that is closed to others.
users=$(mktemp -d)
trap 'rm -rf "$users"' EXIT
chmod 755 "$users"
cp "$TEEPERF" "$users/teeperf"
cp fake "$users"
cd "$users"
TEEPERF=$users/teeperf

begin mine "$TEEPERF" record -o mine.trace ./fake 10 pause
recorder=$begun
await mine.out ready
program=$(sed -n 's/^ready //p' mine.out)
expect 1 other "$TEEPERF" ctl off "$recorder"
says "the recording of process $recorder belongs to another user: run this as that user, or as root" err
expect 1 other "$TEEPERF" ctl status "$program"
says "process $program is neither your 'teeperf record'" err
expect 0 "$TEEPERF" ctl status "$program"
says '^asked for|^recording  on' out
kill -TERM "$program"
wait "$recorder" || true

# The other way round: root may.
mkdir -p theirs
chown 65534:65534 theirs
begin theirs other "$TEEPERF" record -o theirs/their.trace ./fake 10 pause
await theirs.out ready
program=$(sed -n 's/^ready //p' theirs.out)
expect 0 "$TEEPERF" ctl status "$program"
expect 0 other "$TEEPERF" ctl flush "$program"
kill -TERM "$program"
wait "$begun" || true
