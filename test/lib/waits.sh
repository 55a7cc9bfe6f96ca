# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions for tests with a recorder that waits for somebody else's program; after e2e.sh.

# waits OPTIONS...: a recorder in the background that does, $recorder.
waits() {
	begin recorder "$TEEPERF" record "$@"
	recorder=$begun
	await_true 'grep -Eq "now start|waiting for" recorder.err || ! kill -0 $recorder 2>/dev/null' \
		'a recorder that waits'
	grep -Eq 'now start|waiting for' recorder.err || {
		cat recorder.err >&2
		fail "the recorder has ended"
	}
}

# ends STATUS PATTERN: the recorder does so, by itself.
ends() {
	got=0
	wait $recorder || got=$?
	[ $got = "$1" ] || {
		cat recorder.err >&2
		fail "the recorder's exit status is $got, not $1"
	}
	says "$2" recorder.err
}
