#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a program that damages the shared log in every way it can (cuts its file short,
# punches holes, fills the tables with rubbish, moves every word), poses as another process, floods
# the control socket, sends signals, or puts a link where the trace is, cannot crash or stop the
# recorder, make it write elsewhere or fill its memory; that what comes of it is a trace that is
# read without harm; and that nothing in it steers a terminal. Recorder and readers are those built
# with sanitizers, if there are.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
${CC:-cc} -O1 -I "$root/include" -o damage "$root/test/hostile/damage_log.c" ||
	skip "no C compiler (CC=${CC:-cc})"
plain=$TEEPERF
checked=${TEEPERF_BUILD:-}/asan/bin/teeperf
[ -x "$checked" ] || checked=$TEEPERF
export ASAN_OPTIONS=exitcode=99:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
ms=40
[ "${TEEPERF_FULL:-0}" = 0 ] || ms=5000
fake=

# unharmed FILE...: no sanitizer has spoken, and nothing steers a terminal.
unharmed() {
	! grep -E 'Sanitizer|runtime error' "$@" || fail "a sanitizer has found something"
	! LC_ALL=C grep -q -P '[\x00-\x08\x0b-\x1f\x7f]' "$@" || {
		cat -v "$@" | head -40 >&2
		fail "a control character is in the output"
	}
}

read_it() {
	"$checked" analyze x.trace >views 2>notes || [ $? = 1 ] || fail "analyze: exit status $?"
	# shellcheck disable=SC2043 # one, so far
	for view in threads; do
		"$checked" analyze --view $view x.trace >>views 2>>notes || [ $? = 1 ] ||
			fail "analyze --view $view: exit status $?"
	done
	"$checked" dump x.trace 2>>notes >dumped || [ $? = 1 ] || fail "dump: exit status $?"
	head -c 100000 dumped >>views
	# shellcheck disable=SC2043 # one, so far
	for format in flamegraph; do
		"$checked" export --format $format x.trace >exported 2>>notes || [ $? = 1 ] ||
			fail "export --format $format: exit status $?"
	done
	unharmed views notes
}

# attack WHAT [ARGUMENT]: record a program that does it. Memory is the recorder's own at the end, in
# KiB: that of the log that was replaced is part of it, and sanitizers need some.
attack() {
	what=$1
	for mode in $modes; do
		expect 7 timeout 600 "$checked" record -o x.trace --mode $mode --size 512K \
			--drain now ./damage "$what" $ms ${2:-}
		unharmed err
		memory=$(sed -n 's/^anon=//p' out)
		[ "$memory" -lt 65536 ] || fail "the recorder has $memory KiB of memory of its own"
		echo "$what, $mode: $(tr '\n' ' ' <out)$(wc -c <x.trace) bytes"
	done
}

for what in cut holes grow tables claim words flood signals; do
	# What differs between the modes is which chunks are taken.
	modes=stream
	[ $what != words ] || modes='full stream'
	attack $what
	facts x.trace end_sections=1 exit=1/7
	read_it
	if [ $what = cut ]; then
		says 'KiB of the shared log were lost' err
		says '^gone +[0-9]+ KiB of the log were lost' views
	fi
done

# A file that somebody puts in the trace's place while it is written is not touched, and this is
# reported.
mkdir -p there
cd there
echo precious >precious
expect 1 "$plain" record -o y.trace --size 512K --drain now ../damage replace $ms y.trace
says "'y.trace': was moved, removed or replaced while it was written" err
[ "$(cat precious)" = precious ] || fail "the recorder has written through a link"
# Nor is what was put there before.
rm -f y.trace
ln -s precious y.trace
expect 1 "$plain" record -o y.trace --size 512K touch started
says "'y.trace': is a symbolic link, which is not followed: name the file itself" err
[ "$(cat precious)" = precious ] && [ ! -e started ] || fail "the recorder has followed a link"
rm precious
expect 1 "$plain" record -o y.trace --size 512K touch started
[ ! -e precious ] && [ ! -e started ] || fail "the recorder has made a file behind a link"
# The system's own links are followed.
expect 0 sh -c '"$1" record -q -o /dev/fd/3 --size 512K true 3>z.trace' - "$plain"
[ -s z.trace ] || fail "there is no trace in z.trace"
