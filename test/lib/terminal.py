# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command on a terminal: terminal.py COLUMNS[xROWS] COMMAND...

Prints what the terminal got, without carriage returns, and exits as the command did. Standard error
is not the terminal's. What standard input has is typed.
"""
import fcntl
import os
import pty
import struct
import sys
import termios

size, command = sys.argv[1], sys.argv[2:]
columns, _, rows = size.partition("x")
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows or 1000), int(columns), 0, 0))
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    os.dup2(theirs, 0)
    os.dup2(theirs, 1)
    os.close(ours)
    os.close(theirs)
    os.environ.setdefault("TERM", "xterm")
    os.execvp(command[0], command)
os.close(theirs)
typed = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
if typed:
    os.write(ours, typed)
text = b""
while True:
    try:
        part = os.read(ours, 65536)
    except OSError:  # nobody has the other end any more
        break
    if not part:
        break
    text += part
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(text.replace(b"\r", b""))
sys.stdout.flush()
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
