#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that a program that shares no memory with the recorder, and sends frames, is recorded
# exactly as one that shares it: through a file, one that grows, a FIFO, standard input and a
# socket, whatever the size of its private log; and that a stream that is cut off, damaged or
# hostile gives what was whole before, one message, and no crash.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
fake=
rounds=21
[ "${TEEPERF_FULL:-0}" = 0 ] || rounds=2000
${CC:-cc} -O1 -I "$root/include" -o send "$lib/send_stream.c" || skip "no C compiler (CC=${CC:-cc})"
cat >app.c <<'EOC'
#include <pthread.h>
__attribute__((noinline)) static int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
static void *work(void *argument)
{
	int x = 0;
	for (int i = 0; i < 20000; i++)
		x = step(x);
	return argument;
}
int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 7;
}
EOC
"$TEEPERF" cc -O1 -g -pthread -o app app.c
profile='main=1 step=60000 work=3 '

# same TRACE: it holds all calls of the program.
same() {
	"$TEEPERF" analyze "$1" --view top --format csv >top.csv 2>/dev/null
	[ "$(awk -F, 'NR > 1 { print $1 "=" $2 }' top.csv | sort | tr '\n' ' ')" = "$profile" ] || {
		cat top.csv >&2
		show_trace "$1" 'calls are missing'
		fail "not all calls are in $1"
	}
	"$TEEPERF" analyze "$1" --view threads --format csv 2>/dev/null >threads.csv
	[ "$(awk -F, 'NR > 1 && $6 == 20001' threads.csv | wc -l)" = 3 ] ||
		fail "the threads are not exact in $1"
	facts "$1" exit=1/7 attach=1 lost=0 end_sections=1
}

# A file that is complete. 64 chunks are enough for all of it.
rm -f whole growing part.*
./send whole 64 ./app
expect 0 "$TEEPERF" record -o file.trace --stream whole
says 'the program exited with 7; the program reported its end' err
same file.trace
# What the kernel here knows of threads is of no use, whatever number the program says that it has.
for view in top tree threads; do
	expect 0 "$TEEPERF" analyze --view $view file.trace
	says '^waits .*not known: the program sent its log, with a clock and thread numbers of its own' out
done
expect 1 "$TEEPERF" analyze --time cpu file.trace
says 'has wall time only, not running and waiting times: the program sent its log' err
# The rate of the clock is what the program says of it.
"$TEEPERF" dump file.trace | grep -A1 '^clock' | grep -q point ||
	fail "the clock's points are missing"
# Into a pipe, where the trace cannot be patched, too.
"$TEEPERF" record -q -o /dev/stdout --stream whole | cat >pipe.trace
same pipe.trace
# A recorder that has room for a few chunks only: the stream waits for it.
expect 0 "$TEEPERF" record -q -o small.trace --size 512K --compress --stream whole
same small.trace
# One that grows, begun before there is anything.
: >growing
"$TEEPERF" record -q -o growing.trace --stream growing &
recorder=$!
split -b 100000 whole part.
for part in part.*; do
	cat "$part" >>growing
	sleep 0.05
done
wait $recorder
same growing.trace
rm -f fifo
mkfifo fifo
"$TEEPERF" record -q -o fifo.trace --port occlum --stream fifo &
recorder=$!
./send fifo 64 ./app
wait $recorder
same fifo.trace
facts fifo.trace host.port=occlum host.transport=stream
./send - 64 ./app | "$TEEPERF" record -q -o stdin.trace --stream -
same stdin.trace
for round in new again; do
	"$TEEPERF" record -q -o unix.trace --stream unix:socket &
	recorder=$!
	./send unix:socket 64 ./app
	wait $recorder
	same unix.trace
	[ ! -e socket ] || fail "the socket was left"
done

# Others who connect first are sent away, the recording is the program's; and when it has come,
# nobody else waits.
cat >stranger.py <<'EOP'
import socket, sys
with socket.socket(socket.AF_UNIX) as stranger:
    stranger.connect("socket")
    stranger.sendall(eval(sys.argv[1]))
    stranger.shutdown(socket.SHUT_WR)
    try:
        if stranger.recv(1):
            raise SystemExit("the recorder has sent something")
    except ConnectionResetError:
        pass
EOP
begin recorder "$TEEPERF" record -o unix.trace --stream unix:socket
recorder=$begun
await_true '[ -S socket ]'
for sent in "b''" "b'GET / HTTP/1.0'" "b'?' * 5000"; do
	python3 stranger.py "$sent" || fail "the recorder has not closed a stranger's connection"
done
head -c 1000 whole >begun
python3 stranger.py 'open("begun", "rb").read()' ||
	fail "the recorder has not closed a connection without START"
python3 - whole <<'EOP'
import os, socket, sys, time
whole = open(sys.argv[1], "rb").read()
with socket.socket(socket.AF_UNIX) as program, socket.socket(socket.AF_UNIX) as late:
    program.connect("socket")
    program.sendall(whole[:5000])
    while os.path.exists("socket"):
        time.sleep(0.02)
    program.sendall(whole[5000:])
EOP
wait $recorder || fail "the recording has failed: $(cat recorder.err)"
same unix.trace
[ "$(grep -c 'a connection was closed' recorder.err)" = 4 ] ||
	fail "not 4 strangers: $(cat recorder.err)"

# A listener whose queue is full is somebody's: the next recorder says so, and does not wait.
python3 - <<'EOP' || fail "a recorder waits for a listener that is busy"
import os, socket, subprocess
with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as first:
    busy.bind("busy")
    busy.listen(0)
    first.connect("busy")
    with socket.socket(socket.AF_UNIX) as second:
        second.setblocking(False)
        try:
            second.connect("busy")
        except BlockingIOError:
            pass
        done = subprocess.run([os.environ["TEEPERF"], "record", "-o", "x.trace", "--stream", "unix:busy"],
            stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "cannot make the socket" in done.stderr, done
    assert os.path.exists("busy")
EOP

# A pipe where nothing comes: signals and the timeout count, before the first frame and behind it.
head -c 4120 whole >start
python3 - <<'EOP' || fail "a pipe that stays silent cannot be left"
import os, signal, subprocess, sys
def default():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
def begin(*options):
    # A recording of nothing would not replace an older trace.
    for trace in "silent.trace", "silent.trace.old":
        if os.path.exists(trace):
            os.remove(trace)
    return subprocess.Popen([os.environ["TEEPERF"], "record", "-o", "silent.trace", "--stream", "-", *options],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default)
def end(recorder, status, text):
    code = recorder.wait(60)
    said = recorder.stderr.read().decode()
    assert code == status and text in said, (code, said)
recorder = begin()
assert b"waiting" in recorder.stderr.readline()
recorder.send_signal(signal.SIGINT)
# The signal may come before it is listened for, and then ends the process.
code = recorder.wait(60)
assert code in (1, -signal.SIGINT), code
assert code < 0 or b"ended by signal 2 before a program" in recorder.stderr.read()
end(begin("--attach-timeout", "1"), 1, "no program has sent anything")
for how in signal.SIGINT, None:
    recorder = begin(*([] if how else ["--attach-timeout", "5"]))
    recorder.stdin.write(open("start", "rb").read())
    recorder.stdin.flush()
    while how and subprocess.run([os.environ["TEEPERF"], "ctl", "status", str(recorder.pid)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        pass
    if how:
        recorder.send_signal(how)
    end(recorder, 0, "records of 0 threads")
EOP
"$TEEPERF" dump silent.trace | grep -q "^end" ||
	fail "a recording that was left has no end in its trace"

# A file with two runs, of which one is read.
cat whole whole >twice
expect 0 "$TEEPERF" record -o file.trace --stream twice
says "warning: $(stat -c %s whole) bytes of another run follow and were not read" err
same file.trace

# Nobody comes, or something else does.
expect 1 "$TEEPERF" record -o x.trace --stream unix:socket --attach-timeout 0
says 'no program has sent anything' err
[ ! -e socket ] || fail "the socket was left"
expect 1 "$TEEPERF" record -o x.trace --stream vsock::29999 --attach-timeout 0
says 'no program has sent anything|no vsock sockets' err
expect 1 "$TEEPERF" record -o x.trace --stream vsock:x --attach-timeout 0
says "'vsock:x' is not of the form 'vsock::PORT'" err
expect 1 "$TEEPERF" record -o x.trace --stream app.c --attach-timeout 0
says "no frame begins here: it is not a program's stream" err
expect 1 "$TEEPERF" record -o x.trace --stream nothing --attach-timeout 0
expect 1 "$TEEPERF" record -o x.trace --stream . --attach-timeout 0
[ ! -e x.trace ] || fail "a recording that did not begin has left a trace"
for wrong in '--stream whole ./app' '--stream whole --mode full' '--stream whole --clock soft' \
	'--port occlum ./app' '--port nowhere ./app' '--port vm ./app'; do
	expect 129 "$TEEPERF" record $wrong
done

# Cut off: each whole chunk counts.
head -c 400000 whole >cut
expect 1 "$TEEPERF" record -o cut.trace --stream cut --attach-timeout 0
says "'cut' at offset 400000: the stream ends within a frame" err
[ "$("$TEEPERF" dump cut.trace | grep -c '^chunk ')" = 6 ] ||
	fail "not all whole chunks are in the trace"
head -c 4120 whole >start
expect 0 "$TEEPERF" record -o start.trace --stream start --attach-timeout 0
says 'ended without an end mark' err

# Damaged.
checked=${TEEPERF_BUILD:-}/asan/bin/teeperf
[ -x "$checked" ] || checked=$TEEPERF
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1
number=0
failures=0
while [ $number -lt $rounds ]; do
	rm -f bad.trace
	python3 "$lib/damage_stream.py" whole bad $number
	got=0
	# More than this it must not need, whatever the numbers in the stream say.
	(ulimit -v 4000000 2>/dev/null; exec "$TEEPERF" record -q -o bad.trace --stream bad \
		--attach-timeout 0) >out 2>err || got=$?
	[ $got -le 1 ] || {
		cat err >&2
		fail "exit status $got for damage $number"
	}
	[ $got = 0 ] || failures=$((failures + 1))
	[ $got = 0 ] || [ -s err ] || fail "nothing was said of damage $number"
	if [ -e bad.trace ]; then
		got=0
		timeout 60 "$checked" analyze bad.trace >out 2>err || got=$?
		[ $got -le 1 ] || fail "exit status $got: analyze of damage $number"
	fi
	number=$((number + 1))
done
echo "$failures of $rounds damaged streams were refused or cut short"
[ $failures -gt $((rounds / 4)) ] || fail "hardly any damage was noticed"

# That it waits is said when it can be reached: while nobody can read that, its socket is there.
cat >quiet.py <<'EOF'
import os, subprocess, sys, time
out, to = os.pipe()
os.set_blocking(to, False)
try:
    while True:
        os.write(to, b"x")
except BlockingIOError:
    os.set_blocking(to, True)
recorder = subprocess.Popen([sys.argv[1], "record", "-o", "quiet.trace", "--stream", "unix:quiet", "--attach-timeout", "600"], stderr=to)
os.close(to)
for _ in range(3000):
    if os.path.exists("quiet") or recorder.poll() is not None:
        break
    time.sleep(0.01)
there = os.path.exists("quiet")
recorder.kill()
recorder.wait()
sys.exit(0 if there else "nothing can be reached before the recorder has said that it waits")
EOF
expect 0 python3 quiet.py "$TEEPERF"
