# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# What the figures depend on: machine, system, compilers, tools, commit.

machine_commit() {
	commit=$(git -c safe.directory='*' -C "$top" rev-parse --short=10 HEAD 2>/dev/null) || {
		echo unknown
		return
	}
	if ! git -c safe.directory='*' -C "$top" diff \
		--quiet HEAD -- . ':!benchmarks/results' 2>/dev/null; then
		commit=$commit-changed
	fi
	echo "$commit"
}

machine_cpu() {
	sed -n 's/^\(model name\|CPU implementer\|CPU part\)[[:space:]]*: *//p' \
		/proc/cpuinfo | sort -u | head -n 2 | tr '\n' ' '
	awk -F': *' '
		/^cpu family/ { family = $2 }
		/^model[ \t]*:/ { model = $2 }
		END { if (family) printf "(family %s model %s)", family, model }' /proc/cpuinfo
}

# First line of a tool's version, or that it is missing.
machine_tool() {
	"$@" 2>/dev/null </dev/null | head -n 1 | grep . || echo "$1: not installed"
}

machine_describe() {
	if [ -n "${command_line:-}" ]; then
		echo "TeePerf benchmarks, $size: $command_line"
		echo
	fi
	echo "date      ${started:-$(date -u +%Y-%m-%dT%H:%M:%SZ)}"
	echo "commit    $(machine_commit)"
	echo "cpu       $(machine_cpu)"
	echo "cores     $(nproc), $(grep -qw hypervisor /proc/cpuinfo &&
		echo 'in a virtual machine' || echo 'no virtual machine seen')"
	# On x86 the kernel's BogoMIPS are twice the rate of the time stamp counter.
	echo "tsc       $(awk '/^bogomips/ { printf "%.0f MHz", $3 / 2; exit }' \
		/proc/cpuinfo), clock source $(cat \
		/sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null ||
		echo unknown)"
	echo "memory    $(awk '/^MemTotal/ { printf "%.1f GiB", $2 / 1048576 }' /proc/meminfo)"
	echo "kernel    $(uname -sr)"
	echo "system    $(sed -n 's/^PRETTY_NAME="\(.*\)"$/\1/p' /etc/os-release)"
	echo "clang     $(machine_tool "clang-$llvm" --version)"
	echo "gcc       $(machine_tool gcc --version)"
	echo "peers     $(machine_tool perf --version); $(machine_tool uftrace \
		--version); $(machine_tool valgrind --version)"
	echo "rounds    $rounds, interleaved; medians"
	echo "load      $(cut -d' ' -f1-3 /proc/loadavg) at the end"
}
