# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The teeperf that is tested, for tests that run hundreds of short commands: 'run' is
subprocess.run([TEEPERF, ...], capture_output=True) by a process of test/lib/many.c, which forks for
each command instead of starting anew. Commands run in the folder in which the first one did. Where
no such process lies beside TEEPERF, each starts by itself; one that is older is refused, as it is
another program."""
import atexit
import os
import signal
import subprocess
import sys
import tempfile

TEEPERF = os.environ["TEEPERF"]
MANY = TEEPERF + "-many"
_helper = None
_folder = None


def run(*arguments, timeout=60):
    global _helper, _folder
    if not os.path.exists(MANY):
        return subprocess.run([TEEPERF, *arguments], capture_output=True, timeout=timeout)
    if not _helper:
        if os.stat(MANY).st_mtime_ns < os.stat(TEEPERF).st_mtime_ns:
            raise SystemExit(MANY + " is older than teeperf: build both, or remove it")
        _folder = tempfile.TemporaryDirectory(prefix="many-", dir=os.environ.get("TEST_TMP"))
        _helper = subprocess.Popen([MANY, TEEPERF], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        atexit.register(_helper.stdin.close)
    out, err = (os.path.join(_folder.name, name) for name in ("out", "err"))
    words = [os.fsencode(word) for word in (str(len(arguments)), out, err, *arguments)]
    signal.alarm(timeout * 10)  # ends this test: nothing hangs
    _helper.stdin.write(b"".join(word + b"\0" for word in words))
    _helper.stdin.flush()
    status = _helper.stdout.readline()
    signal.alarm(0)
    if not status:
        raise SystemExit("%s has ended: %s" % (MANY, " ".join(map(os.fsdecode, words))))
    with open(out, "rb") as file:
        printed = file.read()
    with open(err, "rb") as file:
        said = file.read()
    return subprocess.CompletedProcess([TEEPERF, *arguments],
                                       os.waitstatus_to_exitcode(int(status)), printed, said)


def run_quick(command, **keywords):
    """subprocess.run, by the helper where it is a teeperf with nothing to read."""
    text = keywords.get("text")
    known = {"check", "capture_output", "stdout", "stderr", "text", "errors", "timeout", "input"}
    if os.fspath(command[0]) != TEEPERF or set(keywords) - known or \
            keywords.get("input") is not None or \
            keywords.get("stdout", subprocess.PIPE) not in (subprocess.PIPE, subprocess.DEVNULL):
        return subprocess.run(command, **keywords)
    done = run(*command[1:])
    if not keywords.get("capture_output") and keywords.get("stderr") is None:
        sys.stderr.write(done.stderr.decode(errors="replace"))
    if text:
        errors = keywords.get("errors") or "strict"
        done.stdout = done.stdout.decode(errors=errors).replace("\r\n", "\n")
        done.stderr = done.stderr.decode(errors=errors).replace("\r\n", "\n")
    if keywords.get("check"):
        done.check_returncode()
    return done
