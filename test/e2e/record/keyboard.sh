#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that Ctrl-C on a terminal is for the program, whenever it comes: also while 'record'
# starts; and that a program which the second one ends has not been left running.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake= # the functions are where the trace says

cat >twice.c <<'EOS'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void first(int number)
{
	signal(number, SIG_DFL);
	(void)!write(1, "once\n", 5);
}
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		signal(SIGINT, first);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
EOS
"$TEEPERF" cc -O1 -o twice twice.c

cat >keyboard.py <<'EOS'
"""keyboard.py RECORD...: keys that are pressed while 'teeperf record' runs on a terminal."""
import os
import pty
import select
import signal
import sys
import time

PATIENCE_S = 30


class Terminal:
    def __init__(self, command):
        self.text = b""
        # Python must not hear of it in the child.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        self.process, self.fd = pty.fork()
        if not self.process:
            os.execvp(command[0], command)
        # Before the terminal is the child's, nobody would hear a key.
        while self.owner() != self.process:
            time.sleep(0.0005)
        self.end = time.monotonic() + PATIENCE_S

    def owner(self):
        try:
            return os.tcgetpgrp(self.fd)
        except OSError:
            return 0

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return
        try:
            self.text += os.read(self.fd, 4096)
        except OSError:  # nobody has it open any more
            time.sleep(0.01)

    def wait_for(self, text):
        while text not in self.text:
            self.check(text)
            self.read(0.1)

    def check(self, what):
        if time.monotonic() > self.end:
            os.kill(self.process, signal.SIGKILL)
            sys.exit("no %s in %d s: %r" % (what, PATIENCE_S, self.text))

    def press(self):
        os.write(self.fd, b"\x03")

    def wait(self):
        while True:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self.read(0)
                os.close(self.fd)
                return status
            self.check("end")
            self.read(0.05)


record = sys.argv[1:]
# The recorder waits for 50 ms for a program that the keyboard ends. On a busy machine that may take
# longer, but not each time.
for _ in range(5):
    terminal = Terminal(record + ["-o", "twice.trace", "./twice", "first"])
    terminal.wait_for(b"ready")
    terminal.press()
    terminal.wait_for(b"once")
    terminal.press()
    status = terminal.wait()
    if b"runs on" not in terminal.text:
        break
if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGINT:
    sys.exit("the recorder did not end as the program: status %#x, %r" % (status, terminal.text))
if b"runs on" in terminal.text:
    sys.exit("the program is said to run on: %r" % terminal.text)
for delay in range(0, 60, 2):
    terminal = Terminal(record + ["-o", "early.trace", "./twice"])
    time.sleep(delay / 1000)
    terminal.press()
    terminal.wait()
EOS
timeout -k 5 600 python3 keyboard.py "$TEEPERF" record -q || fail 'Ctrl-C does not end the program'
facts twice.trace end_sections=1 exit=2/2
[ -z "$(pgrep -x twice -s 0 || true)" ] || fail 'a program is left'
