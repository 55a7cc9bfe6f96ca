# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pass tests for one LLVM major: lit --param major=N --param build=DIR [--param config=PROGRAM]
[--param shape=dual].

With a shape all is compiled in it that does not say its own (Inputs/shape/FileCheck).

The tools of that major come first in PATH, so tests write clang, opt, FileCheck, llvm-objdump, not.
"""

import os
import platform
import shutil
import subprocess
import sys

import lit.formats

major = lit_config.params["major"]
build = os.path.abspath(lit_config.params["build"])
if " " in build + os.path.abspath(__file__):
    print("skipped: lit's substitutions take no folder with spaces in its name", flush=True)
    os._exit(77)
llvm_config = lit_config.params.get("config", "llvm-config-" + major)
bindir = subprocess.check_output([llvm_config, "--bindir"], text=True).strip()

config.name = "TeePerf pass, LLVM " + major
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".c", ".cpp", ".ll", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(build, "test-tmp", "pass-llvm-" + major, "out")

config.environment["PATH"] = os.pathsep.join([bindir, os.environ["PATH"]])
config.environment["TEEPERF_LLVM"] = major
for name in ("TEEPERF_ALLOWLIST", "TEEPERF_CLOCK", "TEEPERF_TAIL_CALLS", "TEEPERF_THREADS",
             "TEEPERF_EXITS", "TEEPERF_LEVEL", "TEEPERF_SHAPE", "TEEPERF_LOG", "TEEPERF_INVENTORY",
             "TEEPERF_MODULE", "TEEPERF_SWITCHES"):
    config.environment.pop(name, None)
# Texts of the sequence are looked for where it is in line; two_bodies* and all_texts have the other
# shapes.
config.environment["TEEPERF_SHAPE"] = "inline"

shape = lit_config.params.get("shape")
if shape:
    config.name += ", shape " + shape
    config.test_exec_root += "-" + shape
    config.environment["TEEPERF_SHAPE"] = shape
    # They are about the text in line alone.
    config.excludes += ["hotpath_x86_64.c", "hotpath_aarch64.c", "hotpath_riscv64.c"]
    config.environment["TEEPERF_FILECHECK"] = os.path.join(bindir, "FileCheck")
    config.environment["PATH"] = (os.path.join(config.test_source_root, "Inputs/shape") +
                                  os.pathsep + config.environment["PATH"])

source = os.path.dirname(os.path.dirname(config.test_source_root))
plugin = os.path.join(build, "lib/teeperf/llvm-" + major, "TeePerf.so")
# lld 14 does not know what this processor's assemblers leave to linkers.
riscv64_linker = os.path.join("/usr/lib/llvm-19/bin" if int(major) < 15 else bindir, "ld.lld")
config.substitutions += [
    ("%clangxx", os.path.join(bindir, "clang++")),
    ("%clang", os.path.join(bindir, "clang")),
    ("%opt", os.path.join(bindir, "opt")),
    ("%plugin", plugin),
    ("%teeperf", os.path.join(build, "bin/teeperf")),
    ("%cross_runtime", os.path.join(build, "lib/teeperf")),
    ("%runtime", os.path.join(build, "lib/libteeperf.a")),
    # lld 14 cannot load plugins: there the compile step instruments.
    ("%lto_plugin", "-Wl,--load-pass-plugin=" + plugin if int(major) >= 15 else ""),
    ("%llvm_major", major),
    ("%unpack", sys.executable + " " + os.path.join(config.test_source_root, "Inputs/unpack.py")),
    ("%source", source),
    ("%qemu_aarch64", "qemu-aarch64 -L /usr/aarch64-linux-gnu"),
    ("%aarch64", "--target=aarch64-linux-gnu -fuse-ld=lld"),
    ("%qemu_riscv64", "qemu-riscv64 -L /usr/riscv64-linux-gnu"),
    ("%riscv64", "--target=riscv64-linux-gnu -fuse-ld=lld --ld-path=" + riscv64_linker),
]

config.available_features.add("llvm-" + major)
for other in (15, 16, 17, 18, 19, 20, 21, 22):
    if int(major) >= other:
        config.available_features.add("llvm-at-least-%d" % other)
if platform.machine() == "x86_64":
    config.available_features.add("x86_64")
if platform.machine() == "aarch64":
    config.available_features.add("aarch64")
for cross, linker in ("aarch64", os.path.join(bindir, "ld.lld")), ("riscv64", riscv64_linker):
    if (
        os.path.exists(os.path.join(build, "lib/teeperf", cross, "libteeperf.a"))
        and shutil.which("qemu-" + cross)
        and os.path.exists(linker)
    ):
        config.available_features.add(cross + "-cross")
if os.path.exists(os.path.join(bindir, "ld.lld")):
    config.available_features.add("lld")
