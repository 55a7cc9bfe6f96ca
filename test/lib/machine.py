#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A virtual machine for tests: Linux in QEMU (TCG), with files of this machine at the places that
they have here.

machine.py start FOLDER KERNEL INIT [--cpu MACHINE] [--memory FILE] [--stream SOCKET] FILE...
    KERNEL: what tools/fetch-kernel prints; INIT: test/tee/machine_init.c, static. The files'
    libraries come along. Memory in FILE is the machine's ivshmem device; its port 'teeperf'
    connects to SOCKET again and again.
machine.py run FOLDER [NAME=VALUE...] PROGRAM [ARGUMENTS...]
    as if it were run here: output, exit code
machine.py ask FOLDER start|kill|wait|get|await ...
    what else the machine does (machine_init.c)
machine.py stop FOLDER
    an orderly end; 'kill FOLDER': at once
"""

import glob
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

BOOT_S = 900  # a machine that has not booted by then will not: it takes seconds
LIFE_S = 3000  # nothing is left behind by a test that was killed
ANSWER_S = 900  # nor does a test wait for ever
MODULES = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci",
           "virtio_console", "vsock", "vmw_vsock_virtio_transport_common", "vsock_loopback"]
MACHINES = {
    "x86_64": (["-M", "q35", "-cpu", "max"], "ttyS0"),
    "aarch64": (["-M", "virt", "-cpu", "max,pauth=off"], "ttyAMA0"),
}


def die(text):
    sys.stderr.write("machine.py: %s\n" % text)
    sys.exit(1)


class Archive:
    """A file system for the kernel to begin with: cpio, "newc"."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.count = 0
        self.folders = {"/"}

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.count += 1
        name = name.strip("/").encode() + b"\0"
        fields = (self.count, mode, 0, 0, 1, 0, len(data), 0, 0) + device + (len(name), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self.file.write(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))

    def add_folder(self, name):
        if name not in self.folders:
            self.add_folder(os.path.dirname(name))
            self.folders.add(name)
            self.add(name, 0o40755)

    def add_file(self, source, name):
        if name not in self.folders:
            self.add_folder(os.path.dirname(name))
            self.folders.add(name)
            with open(source, "rb") as file:
                self.add(name, 0o100755, file.read())

    def close(self):
        self.add("TRAILER!!!", 0)
        self.file.close()


def libraries(path):
    """What the program at PATH is loaded with, as the loader finds it; a static one's: nothing."""
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    return re.findall(r"(/\S+) \(0x", done.stdout)


def write_archive(path, kernel, init, files):
    archive = Archive(path)
    archive.add_folder("/dev")
    archive.add("/dev/console", 0o20600, device=(5, 1))
    archive.add_file(init, "/init")
    for i, module in enumerate(MODULES):
        found = glob.glob(os.path.join(kernel, "**", module + ".ko"), recursive=True)
        if not found:
            die("there is no module '%s' below '%s'" % (module, kernel))
        archive.add_file(found[0], "/modules/%d.ko" % i)
    for file in files:
        file = os.path.abspath(file)
        archive.add_file(file, file)
        for library in libraries(file):
            archive.add_file(library, library)
    archive.close()


def pid_of(folder):
    with open(os.path.join(folder, "pid"), encoding="ascii") as file:
        return int(file.read())


def runs(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def connect(folder):
    client = socket.socket(socket.AF_UNIX)
    # Paths of sockets are short; the folder's may be long.
    place = os.open(folder, os.O_PATH)
    client.connect("/proc/self/fd/%d/control" % place)
    os.close(place)
    return client


def ask(folder, words):
    """Send the line, return the three parts of the answer."""
    with connect(folder) as client:
        client.settimeout(ANSWER_S)
        client.sendall((" ".join(words) + "\n").encode())
        stream = client.makefile("rb")
        line = stream.readline()
        if not line.endswith(b"\n"):
            die("the machine has ended: see '%s/console'" % folder)
        what, number, size = line.decode().split()
        data = stream.read(int(size))
        if len(data) != int(size):
            die("the machine has ended: see '%s/console'" % folder)
        return what, int(number), data


def console(folder):
    try:
        with open(os.path.join(folder, "console"), encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-25:])
    except OSError:
        return ""


def await_boot(folder, process):
    """Until the machine answers."""
    until = time.monotonic() + BOOT_S
    while time.monotonic() < until:
        if process.poll() is not None:
            with open(os.path.join(folder, "said"), encoding="utf-8", errors="replace") as file:
                die("the machine has ended at its start: %s%s" % (file.read(), console(folder)))
        try:
            with connect(folder) as client:
                client.settimeout(2)
                client.sendall(b"ready\n")
                if client.recv(1):
                    # The answers to what was asked while it booted.
                    try:
                        client.settimeout(0.2)
                        while client.recv(4096):
                            pass
                    except socket.timeout:
                        pass
                    return
        except OSError:
            pass
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    die("the machine has not booted in %d s:\n%s" % (BOOT_S, console(folder)))


def start(folder, arguments):
    options = {"--cpu": "x86_64", "--memory": None, "--stream": None}
    kernel, init, *files = arguments
    kernel = os.path.abspath(kernel)
    while files and files[0] in options:
        options[files[0]] = files[1]
        files = files[2:]
    os.makedirs(folder, exist_ok=True)
    for name in ("control", "pid", "console"):
        if os.path.lexists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))
    begin = time.monotonic()
    write_archive(os.path.join(folder, "initrd"), kernel, init, files)
    model, tty = MACHINES[options["--cpu"]]
    command = ["timeout", "-s", "KILL", str(LIFE_S), "qemu-system-" + options["--cpu"], *model,
               "-accel", "tcg,thread=multi", "-smp", "2", "-m", "512", "-nodefaults",
               "-no-user-config", "-display", "none", "-no-reboot", "-pidfile", "pid",
               "-kernel", glob.glob(os.path.join(kernel, "boot", "vmlinuz-*"))[0],
               "-initrd", "initrd", "-append", "console=%s quiet panic=-1" % tty,
               "-serial", "file:console", "-device", "virtio-serial-pci",
               "-chardev", "socket,id=control,path=control,server=on,wait=off",
               "-device", "virtserialport,chardev=control,name=control"]
    if options["--memory"]:
        path = os.path.abspath(options["--memory"])
        command += ["-object", "memory-backend-file,id=log,share=on,mem-path=%s,size=%d" %
                    (path, os.path.getsize(path)), "-device", "ivshmem-plain,memdev=log,addr=0x10"]
    if options["--stream"]:
        command += ["-chardev", "socket,id=stream,path=%s,server=off,reconnect=1" %
                    os.path.relpath(options["--stream"], folder),
                    "-device", "virtserialport,chardev=stream,name=teeperf"]
    with open(os.path.join(folder, "said"), "wb") as said:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=said, start_new_session=True)
    await_boot(folder, process)
    print("booted in %.1f s" % (time.monotonic() - begin))


def stop(folder, at_once):
    pid = pid_of(folder)
    if not at_once:
        ask(folder, ["off"])
    elif runs(pid):
        os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + BOOT_S
    while runs(pid):
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
            die("the machine did not go off in %d s:\n%s" % (BOOT_S, console(folder)))
        time.sleep(0.02)


def main():
    if len(sys.argv) < 3:
        die(__doc__)
    verb, folder, *words = sys.argv[1:]
    if verb == "start":
        start(folder, words)
    elif verb in ("stop", "kill"):
        stop(folder, verb == "kill")
    else:
        what, number, data = ask(folder, [verb] + words if verb == "run" else words)
        sys.stdout.buffer.write(data)
        if what == "what":
            die("the machine does not know '%s'" % " ".join(words))
        sys.exit(number if what in ("exit", "file") else 0)


try:
    main()
except socket.timeout:
    die("no answer in %d s: see '%s/console'" % (ANSWER_S, sys.argv[2]))
except OSError as failure:
    die("%s (%s)" % (failure, sys.argv[1]))
