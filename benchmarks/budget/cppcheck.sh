# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
# Cppcheck of Debian's source package, a large C++ program, built by its own makefile; it checks
# files of its own sources.
bench_names=cppcheck

bench_prepare() {
	fetch cppcheck
}

bench_build() {
	rm -rf "$2.tree"
	cp -R "$bench_source/cppcheck" "$2.tree"
	make -C "$2.tree" -j"$jobs" CXX="$CXX" CXXFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" \
		FILESDIR="$bench_source/cppcheck" cppcheck
	cp "$2.tree/cppcheck" "$2"
}

bench_arguments() {
	echo --quiet lib/utils.cpp
}
