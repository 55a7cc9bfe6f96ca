#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tools/setup: packages that are added to a set are there in whichever order one asks, --build and
# --compile are parts of what the tests need, and what --long adds is not among it.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

printed() {
	"$root/tools/setup" "$@" --print
}
printed --bench --all-llvm --suites >first
printed --suites --all-llvm --bench >second
for package in llvm-14-dev llvm-16-dev llvm-22-dev tcl-dev gnuplot-nox cmake; do
	says "^$package$" first
done
sort first >one
sort second >other
cmp one other || fail 'the order of options makes a difference'
printed >all
for part in --build --compile; do
	printed $part >part
	[ -s part ] || fail "$part: no packages"
	while read -r package; do
		grep -Fxq "$package" all || fail "$part: '$package' is not needed otherwise"
	done <part
	! grep -q '^gnuplot-nox$' part || fail "$part: a package of the benchmarks"
done
printed --long >long
sort all >one
sort long | comm -13 one - >more
for package in golang-go fish libboost-fiber-dev libc6-dev-riscv64-cross; do
	says "^$package$" more
done
printed --compile --cross | sort >other
[ -z "$(sort long | comm -13 - other)" ] || fail "--long lacks a package of --cross"
expect 129 "$root/tools/setup" --no-such-option
says '^usage: tools/setup' err
