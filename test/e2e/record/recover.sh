#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a trace whose recorder was killed is completed by 'teeperf recover', wherever the
# recorder was, and that nothing is touched that is not the trace of that log.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
build_fake

# orphan RECORDS [OPTIONS]: leave x.trace without its recorder; its log is $log, its program has
# ended. With $drained, a fact, the trace has all complete chunks by then, and the recorder is not
# in the middle of a section.
drained=
orphan() {
	records=$1
	shift
	begin run "$TEEPERF" record -q -o x.trace --size 1M "$@" ./fake "$records" pause
	recorder=$begun
	await run.out ready
	await_true '[ -s x.trace ] && (facts x.trace log_sections=1 threads=1 modules=1 $drained) 2>err' \
		'the tables of x.trace'
	log=$(find /dev/shm -name "teeperf-$recorder-*" ! -name '*.trace')
	kill -KILL "$recorder"
	wait "$recorder" || true
	program=$(sed -n 's/^ready //p' run.out)
}
end_program() {
	kill -KILL "$program"
	gone "$program"
}

# While the program runs nothing is done; then all is there, once.
for options in '--mode stream --drain now' '--mode stream --drain end' '--mode full --compress'; do
	orphan 50000 $options
	expect 1 "$TEEPERF" recover x.trace
	says "the program \(process $program\) is still writing to the log '$log'" err
	expect 1 "$TEEPERF" analyze x.trace
	says "the program \(process $program\) runs on: when it has ended, 'teeperf recover x.trace'" err
	end_program
	expect 1 "$TEEPERF" analyze x.trace
	says "lacks records that are still in its log: 'teeperf recover x.trace' adds them" err
	expect 0 "$TEEPERF" recover x.trace
	says "teeperf recover: [0-9]+ chunks with [0-9]+ records were added to 'x.trace', 0 events" err
	[ ! -e "$log" ] && [ ! -L "$log.trace" ] || fail "the log is still there"
	facts x.trace records=50000 threads=1 names=fake modules=1 machine=62 end_sections=1 \
		exit=0/0 attach=1
	[ "$(fact host.recovered)" -gt 0 ] || fail "it does not say how many chunks were recovered"
	expect 0 "$TEEPERF" analyze x.trace
	says '^recovered  the recorder was killed; [0-9]+ chunk(s were| was) added from its' out
	expect 0 "$TEEPERF" recover x.trace
	says "'x.trace' is complete: there is nothing to recover" err
done

# A section that was half written is cut off; the file's last bytes may be anything that a section
# begins with. Chunks that were written already do not come twice.
drained=records=57288 # seven chunks
orphan 60000 --drain now
drained=
end_program
cp x.trace whole
for cut in 1 8 23 24 100 70000; do
	cp whole x.trace
	head -c "$cut" /dev/zero >tail
	printf 'TPSC\001\000\000\000\000\000\003\000\000\000\000\000\000\000\000\000\000\000\000\000' |
		cat - tail | head -c "$cut" >>x.trace
	cp "$log" saved
	expect 0 "$TEEPERF" recover x.trace
	says "$cut bytes of a half-written section were cut off" err
	facts x.trace records=60000 end_sections=1
	# As if it had not been removed.
	mv saved "$log"
done

# A recorder that dies after the trace was read and before its log was locked: what it wrote in
# between stays.
cat >late.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
int flock(int fd, int operation)
{
	close(open("waits", O_CREAT | O_WRONLY, 0600));
	while (access("go", F_OK))
		usleep(10000);
	return (int)syscall(SYS_flock, fd, operation);
}
END
${CC:-cc} -shared -fPIC -o late.so late.c
half=$(($(wc -c <whole) / 2))
head -c "$half" whole >x.trace
cp "$log" saved
begin recover env LD_PRELOAD=./late.so "$TEEPERF" recover x.trace
await_true '[ -e waits ]' 'the call of flock'
tail -c +$((half + 1)) whole >>x.trace
touch go
ended 0 recover
facts x.trace records=60000 end_sections=1
mv saved "$log"

# A trace that is damaged before its end is left as it is, with its log.
cp whole x.trace
printf 'rubbish that is no section at all' >>x.trace
cp x.trace damaged
expect 1 "$TEEPERF" recover x.trace
says "no section begins here, and 33 bytes follow: the trace is damaged and was left unchanged" err
cmp x.trace damaged || fail "a damaged trace was changed"
[ -e "$log" ] || fail "the log of a damaged trace was removed"

# A disk that is full: what fitted stays, and so does the log.
orphan 60000 --drain end
end_program
(
	ulimit -f $(($(wc -c <x.trace) / 512 + 100))
	expect 1 "$TEEPERF" recover x.trace
)
says "'x.trace': cannot write the trace: File too large" err
[ -e "$log" ] || fail "the log was removed although the disk is full"
facts x.trace end_sections=0
expect 0 "$TEEPERF" recover x.trace
facts x.trace records=60000 end_sections=1

# The next recording does it as well, where the trace is, or where it went.
orphan 30000
end_program
expect 0 "$TEEPERF" record -o y.trace ./fake 10 0
says "/x.trace', whose recorder had been killed, was completed" err
facts x.trace records=30000 end_sections=1
orphan 30000
mv x.trace x.trace.old
echo "another file" >x.trace
end_program
expect 0 "$TEEPERF" record -o y.trace ./fake 10 0
says "/x.trace.old', whose recorder had been killed, was completed" err
facts x.trace.old records=30000 end_sections=1
[ "$(cat x.trace)" = "another file" ] || fail "another file was changed"

# It follows no link, and trusts no path: the log goes into the trace that has its number.
orphan 30000
mv x.trace elsewhere
ln -s elsewhere x.trace
cp elsewhere before
end_program
expect 0 "$TEEPERF" record -o y.trace ./fake 10 0
says 'warning: the log of a killed recorder was kept.*Too many levels of symbolic links' err
cmp elsewhere before || fail "a link was followed"
[ -e "$log" ] || fail "the log was removed"
orphan_log=$log
rm x.trace
cp y.trace x.trace
expect 0 "$TEEPERF" record -o z.trace ./fake 10 0
says "the log of a killed recorder was removed, as its trace '.*/x.trace' is gone" err
cmp x.trace y.trace || fail "a log went into the trace of another"
[ ! -e "$orphan_log" ] || fail "the log is still there"

# A log whose owner left it, and that says it is larger than it is, or of another shape.
orphan 30000 --mode full --drain end
end_program
truncate -s 2662144 "$log"
printf 'XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX' |
	dd of="$log" conv=notrunc 2>err
expect 0 "$TEEPERF" recover x.trace
facts x.trace end_sections=1
[ "$(fact records)" -gt 0 ] || fail "nothing was taken from a log that was cut"

# A path that would steer the terminal.
orphan 30000
end_program
name=$(printf 'x\033[2J\302\233.trace')
mv x.trace "$name"
expect 0 "$TEEPERF" recover "$name"
says "were added to 'x\?\[2J\?\?\.trace'" err
rm "$name"

# A number in the log that is no process of this user keeps nobody from it.
if other_users; then
	orphan 30000
	end_program
	users=$(mktemp -d)
	cp "$TEEPERF" "$users/teeperf"
	mv x.trace "$users"
	python3 - "$log" "$root/docs/format.md" <<'EOF'
import re, sys
with open(sys.argv[2], encoding="utf-8") as text:
    offset = int(re.search(r"^\| (\d+) \| 8 \| `pid` \|", text.read(), re.M)[1])
with open(sys.argv[1], "r+b") as log:
    log.seek(offset)
    log.write((1).to_bytes(8, "little"))
EOF
	chown -R 65534:65534 "$users" "$log"
	expect 0 setpriv --reuid=65534 --regid=65534 --clear-groups "$users/teeperf" recover \
		"$users/x.trace"
	facts "$users/x.trace" records=30000 end_sections=1
	rm -rf "$users" "$log" "$log.trace"
fi

# A file that is not a trace, and a trace from before logs had names.
expect 1 "$TEEPERF" recover fake
says "'fake' at offset 0: not a TeePerf trace" err
expect 1 "$TEEPERF" recover nowhere.trace
says "'nowhere.trace': cannot open the trace for writing: No such file" err
printf 'trace\nhost\n' >old.txt
"$TEEPERF" dump --assemble old.txt -o old.trace
expect 1 "$TEEPERF" recover old.trace
says "'old.trace': it does not name its log" err
orphan 10
end_program
rm "$log"
expect 1 "$TEEPERF" recover x.trace
says "its log '$log' does not exist" err
expect 129 "$TEEPERF" recover
[ -z "$(find /dev/shm -name 'teeperf-*.trace')" ] || expect 0 "$TEEPERF" record -q ./fake 10 0
[ -z "$(find /dev/shm -name 'teeperf-*.trace')" ] || fail "notes without a log are left"
