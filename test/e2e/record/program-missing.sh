#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a program that cannot be run is distinguished from one that fails, leaves no trace
# behind, and that an uninstrumented one runs as usual.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake

expect 0 "$TEEPERF" record ./fake 10 0
expect 127 "$TEEPERF" record no-such-program
says "program 'no-such-program' was not found in PATH" err
expect 127 "$TEEPERF" record ./no-such-program
says "program './no-such-program' does not exist" err
echo text >script
expect 126 "$TEEPERF" record ./script
says "cannot run './script': Permission denied" err
printf '#!/no/such/interpreter\n' >script
chmod +x script
expect 127 "$TEEPERF" record ./script
says "interpreter that does not exist" err
facts teeperf.trace records=10
[ ! -e teeperf.trace.old ] || fail "a trace was put aside for nothing"

# Nor does any of these, or a program without instrumentation, cost an older trace.
expect 0 "$TEEPERF" record ./fake 20 0
says "the older trace is now 'teeperf.trace.old'" err
facts teeperf.trace.old records=10
touch before after
ls >before
for program in ./no-such-program ./script no-such-program true true; do
	code=0
	"$TEEPERF" record $program 2>err || code=$?
	case $program in
	true) expected=0 ;;
	*) expected=127 ;;
	esac
	[ $code = $expected ] || fail "$program: exit status $code"
	facts teeperf.trace records=20
	facts teeperf.trace.old records=10
done
says "nothing was recorded in .*, so no trace was written: 'teeperf.trace' is the older one" err
! grep 'next:' err || fail "suggests to analyze an older trace"
ls >after
diff before after || fail "files were left behind"
expect 0 "$TEEPERF" record ./fake 30 0
says "the older trace becomes 'teeperf.trace.old' as soon as something is recorded" err
facts teeperf.trace.old records=20
rm teeperf.trace teeperf.trace.old

expect 3 "$TEEPERF" record sh -c 'echo "$TEEPERF_LOG" >path; exit 3'
says "'sh' ran without recording: it is not built with 'teeperf cc'" err
says '; the program exited with 3$' err
! grep -q 'next:' err || fail "suggests to analyze nothing"
facts teeperf.trace records=0 exit=1/3 attach=0 end_sections=1
says '^/dev/shm/teeperf-' path
[ ! -e "$(cat path)" ] || fail "the shared log was left behind"

# A program whose library is missing has not been built without instrumentation: the loader says why
# it failed.
echo 'int missing(void) { return 0; }' >missing.c
echo 'int missing(void); int main(void) { return missing(); }' >loads.c
${CC:-cc} -shared -fPIC -o libmissing.so missing.c
${CC:-cc} -o loads loads.c ./libmissing.so
rm libmissing.so
expect 127 "$TEEPERF" record -o loads.trace ./loads
says "nothing was recorded: './loads' exited with 127, as programs do that cannot be loaded" err
says '; the program exited with 127$' err
! grep -q 'not built with' err || fail "says that it is not instrumented"
expect 143 sh -c '"$TEEPERF" record -o killed.trace sh -c "kill -TERM \$\$"; exit $?'
says '; the program was killed by signal 15 \(' err

# Nothing of ours comes between what the program prints, if that is wanted.
expect 0 "$TEEPERF" record -q -o none.trace sh -c 'echo only >&2'
says 'ran without recording' err
expect 0 "$TEEPERF" record -q --no-warnings -o none.trace sh -c 'echo only >&2'
[ "$(cat err)" = only ] || fail "not only the program's output: $(cat err)"

# The program's options are its own, and it gets the signals that the caller had.
expect 0 "$TEEPERF" record -q sh -c 'echo "$0 $*"' -o --help
says '^-o --help$' out
# (Signals 32 and 33 are glibc's own: they change hands as soon as a process has threads.)
low_signals='s/[0-9a-f]*([0-9a-f]{7})$/\1/'
expect 0 "$TEEPERF" record -q grep -E '^Sig(Blk|Ign)' /proc/self/status
sed -E "$low_signals" out >ours
grep -E '^Sig(Blk|Ign)' /proc/self/status | sed -E "$low_signals" >theirs
cmp ours theirs || fail "the program's signal state differs"

# A program that a script starts is found.
expect 4 "$TEEPERF" record -o nested.trace sh -c './fake 100 4; exit $?'
facts nested.trace records=100 exit=1/4

expect 129 "$TEEPERF" record
says "Try 'teeperf record --help'" err
expect 129 "$TEEPERF" record --mode round ./fake 1 0
says "'--mode' takes stream\|full\|ring, not 'round'" err
