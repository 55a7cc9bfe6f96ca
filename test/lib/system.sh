# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For tests of what the kernel permits some users only; after e2e.sh.

# users_of_machine: whether users here are those of the machine, not of a user namespace, whose root
# may do less. private_shm makes one for an ordinary user, as a container without root does.
users_of_machine() {
	[ "$(awk '{ print $3 }' /proc/self/uid_map)" = 4294967295 ]
}

# may_bpf: whether the kernel lets this user load BPF programs, by what it has, not by trying.
may_bpf() {
	[ -r /sys/kernel/btf/vmlinux ] && users_of_machine && python3 -c 'import sys
caps = int(next(line for line in open("/proc/self/status") if line.startswith("CapEff")).split()[1], 16)
sys.exit(not (caps >> 38 & 1 and caps >> 39 & 1))'
}
