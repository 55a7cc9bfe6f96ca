#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tools/setup: packages that are added to a set are there in whichever order one asks, and
# --build and --compile are parts of what the tests need.
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
expect 129 "$root/tools/setup" --no-such-option
says '^usage: tools/setup' err
