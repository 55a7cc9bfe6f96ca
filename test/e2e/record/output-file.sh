#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves what becomes of the output file: an older one is kept, one that cannot be written is
# reported, and one that cannot be finished holds all that fitted.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake

expect 0 "$TEEPERF" record -o x.trace ./fake 10 0
expect 0 "$TEEPERF" record -o x.trace ./fake 20 0
says "the older trace is now 'x.trace.old'" err
facts x.trace records=20
facts x.trace.old records=10

# The program is not even started if there is nowhere to write.
expect 1 "$TEEPERF" record -o nowhere/x.trace sh -c 'touch started'
says "'nowhere/x.trace': cannot create the trace: No such file or directory" err
expect 1 "$TEEPERF" record -o . sh -c 'touch started'
expect 1 "$TEEPERF" record -o /dev/full sh -c 'touch started'
says "'/dev/full': cannot write the trace: No space left on device" err
[ ! -e started ] || fail "the program ran although the trace cannot be written"
[ -c /dev/full ] || fail "/dev/full was renamed"

# ... nor if the log could not be found again should the recorder die.
mkdir small
in_page() {
	unshare -m sh -c 'mount -t tmpfs -o size=4k tmpfs small && exec "$@"' sh "$@"
}
if in_page true 2>err; then
	expect 1 in_page "$TEEPERF" record -o small/x.trace sh -c 'touch started' \
		"$(head -c 3900 /dev/zero | tr '\0' x)"
	says "'small/x.trace': cannot write the trace: No space left on device" err
	[ ! -e started ] || fail "the program ran although its log is not named"
fi
# Below /proc, only a descriptor's link is followed: others may be a program's.
echo precious >precious
ln -s precious link.trace
expect 1 "$TEEPERF" record -o "/proc/self/root$PWD/link.trace" sh -c 'touch started'
says 'is a symbolic link, which is not followed' err
[ "$(cat precious)" = precious ] || fail 'a link below /proc was followed'
# A FIFO is not waited for.
mkfifo fifo
expect 1 "$TEEPERF" record -o fifo sh -c 'touch started'
says "'fifo': is a FIFO without a reader: start the reader first, or name a file" err
[ ! -e started ] || fail "the program ran although nobody reads the trace"
begin reader cat fifo
exec 3>fifo
expect 0 "$TEEPERF" record -q -o fifo ./fake 100 0
exec 3>&-
ended 0 reader
facts reader.out records=100 end_sections=1

# A limit that is reached half-way stands for a disk that runs full. The program runs to its end.
(
	ulimit -f 8192 # 4 MiB, in blocks of 512 bytes
	expect 1 "$TEEPERF" record -o cut.trace --size 512K ./fake 1000000 7 wait
)
says "'cut.trace': cannot write the trace: File too large" err
says "lacks the last [0-9]+ chunks" err
facts cut.trace end_sections=1 exit=1/7 threads=1
[ "$(fact records)" -gt 100000 ] || fail "only $(fact records) records were kept"

# A trace that is no longer there, or no longer whole, is no success.
for what in ': >' 'rm' 'mkdir away && mv' 'rm -r ../folder #'; do
	mkdir -p folder
	moved=
	[ "$what" != 'mkdir away && mv' ] || moved=away
	code=0
	(
		cd folder
		"$TEEPERF" record -o x.trace -- \
			sh -c "../fake 10 0; $what x.trace $moved"
	) 2>err || code=$?
	[ $code = 1 ] || fail "'$what': exit status $code, $(cat err)"
	grep -E "'x.trace': was (truncated|moved, removed or replaced) while" err >told ||
		fail "'$what': $(cat err)"
	[ "$(wc -l <told)" = 1 ] || fail "'$what' is told more than once"
	! grep 'next:' err || fail "suggests to analyze what is not there"
	rm -rf folder
done

# A pipe takes a trace too.
expect 0 sh -c '"$TEEPERF" record -q -o /dev/stdout ./fake 100 0 | cat >piped.trace'
facts piped.trace records=100 end_sections=1

# What the program prints does not get into it, and what we print may not either.
expect 0 sh -c '"$TEEPERF" record -o /dev/stdout -- sh -c "echo one; ./fake 100 0; echo two" | cat >piped.trace'
facts piped.trace records=100 end_sections=1
says '^one$' err
says '^two$' err
says "so the program.s output goes to standard error" err
expect 0 sh -c '"$TEEPERF" record -q -o /dev/stdout -- sh -c "echo one; ./fake 100 0; echo two" >plain.trace'
facts plain.trace records=100 end_sections=1
printf 'one\ntwo\n' | diff - err >&2 || fail "quiet says more than the program"
for way in '>both 2>&1' '2>both >&2'; do
	for name in stdout stderr fd/2; do
		expect 129 sh -c "\"\$TEEPERF\" record -o /dev/$name -- sh -c 'touch started' $way"
		says "standard error goes to '/dev/$name', too, .*redirect it, or choose another file" both
	done
done
[ ! -e started ] || fail "the program ran although its output would destroy the trace"
expect 0 sh -c '"$TEEPERF" record -q -o same.trace -- sh -c "echo one; ./fake 10 0" >same.trace'
facts same.trace records=10
says '^one$' same.trace.old
expect 0 sh -c '"$TEEPERF" record -o /dev/null ./fake 10 0 >/dev/null 2>&1'

# Names that are none, and '-', which is a file's name to no other command.
for name in '' -; do
	expect 129 "$TEEPERF" record -o "$name" sh -c 'touch started'
	says "option '--output' (needs a name|takes no '-' here: name /dev/stdout)" err
done
[ ! -e started ] || fail "the program ran although the trace has no name"
[ ! -e ./- ] || fail "a file '-' was made"

# What to do next can be pasted into a shell.
for name in "a b" "it's" '$(touch started)' -x.trace '~' 'a;b'; do
	expect 0 "$TEEPERF" record -o "$name" ./fake 10 0
	command=$(sed -n 's/.*; next: teeperf //p' err)
	eval "expect 0 \"\$TEEPERF\" $command"
	[ ! -e started ] || fail "'$name' was run"
done
name=$(printf 'a\033[1mb')
expect 0 "$TEEPERF" record -o "$name" ./fake 10 0
says "in 'a.\[1mb'; next: teeperf analyze 'a.\[1mb'" err
! grep -q "$(printf '\033')" err || fail "an escape sequence came through"
