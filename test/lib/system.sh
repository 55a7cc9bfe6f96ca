# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For tests of 'record --events'; after e2e.sh.

# may_bpf: whether the kernel lets this user load BPF programs, by what it has, not by trying.
may_bpf() {
	[ -r /sys/kernel/btf/vmlinux ] && python3 -c 'import sys
caps = int(next(line for line in open("/proc/self/status") if line.startswith("CapEff")).split()[1], 16)
sys.exit(not (caps >> 38 & 1 and caps >> 39 & 1))'
}
