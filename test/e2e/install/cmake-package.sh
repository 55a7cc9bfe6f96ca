#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What "make install" leaves is complete: a CMake project that says find_package(TeePerf), one that
# uses pkg-config, and the installed teeperf cc build programs whose calls are recorded, and CMake
# refuses a compiler that has no plugin in one sentence.
set -eu

fail() {
	echo "failed: $*"
	exit 1
}
prefix=$TEST_TMP/prefix
cmake --install "$TEEPERF_BUILD" --prefix "$prefix" >install.log || fail "$(cat install.log)"
for file in bin/teeperf lib/libteeperf.a lib/libteeperf.so lib/teeperf/TeePerf.so \
	include/teeperf/log.h lib/cmake/TeePerf/TeePerfConfig.cmake lib/pkgconfig/teeperf.pc \
	share/bash-completion/completions/teeperf share/zsh/site-functions/_teeperf \
	share/fish/vendor_completions.d/teeperf.fish share/man/man1/teeperf.1 \
	lib/systemd/system/teeperf@.service; do
	[ -e "$prefix/$file" ] || fail "$file is not installed"
done
for file in atomic hardware_clock; do
	[ ! -e "$prefix/include/teeperf/$file.h" ] ||
		fail "$file.h is installed, which is for our own sources"
done
grep -q "^ExecStart=$prefix/bin/teeperf record --daemon " \
	"$prefix/lib/systemd/system/teeperf@.service" || fail "the unit does not start this teeperf"
major=$(sed -n 's/^set(TeePerf_LLVM_MAJORS "\(.*\)")/\1/p' \
	"$prefix/lib/cmake/TeePerf/TeePerfConfig.cmake" |
	tr ';' '\n' | grep -Fx 19 || ls "$prefix/lib/teeperf" | sed -n 's/^llvm-//p' | tail -n 1)

mkdir project
cat >project/app.c <<'C'
#include <stdio.h>

__attribute__((noinline)) long triangle(long n)
{
	long sum = 0;
	for (long i = 1; i <= n; i++)
		sum += i;
	__asm__ volatile("" : "+r"(sum));
	return sum;
}

int main(void)
{
	long sum = 0;
	for (long i = 0; i < 1000; i++)
		sum += triangle(i);
	printf("%ld\n", sum);
	return 0;
}
C
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(app C)
find_package(TeePerf REQUIRED)
add_executable(app app.c)
target_link_libraries(app PRIVATE TeePerf::instrument)
CMAKE

# PROGRAM records 1000 calls of triangle, and runs alone too.
check() {
	[ "$("$1")" = 166666500 ] || fail "$1 computes something else"
	"$prefix/bin/teeperf" record --quiet -o "$1.trace" -- "$1" >output ||
		fail "recording $1"
	[ "$(cat output)" = 166666500 ] || fail "$1, recorded, computes something else"
	"$prefix/bin/teeperf" analyze "$1.trace" --view top --format csv >"$1.csv"
	calls=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
		$column["function"] == "triangle" { print $column["calls"] }' "$1.csv")
	[ "$calls" = 1000 ] || fail "$1: '$calls' calls of triangle instead of 1000"
}

cmake -G Ninja -S project -B cmake-build -DCMAKE_PREFIX_PATH="$prefix" \
	-DCMAKE_C_COMPILER="clang-$major" >cmake.log 2>&1 || fail "$(cat cmake.log)"
cmake --build cmake-build >>cmake.log 2>&1 || fail "$(cat cmake.log)"
check "$PWD/cmake-build/app"
cmake_calls=$calls

"$prefix/bin/teeperf" cc -O2 -g -o cc-app project/app.c
check "$PWD/cc-app"

command -v pkg-config >/dev/null || fail "'pkg-config' is not there: run tools/setup"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion teeperf)" = "$("$prefix/bin/teeperf" --version |
	awk '{ print $2 }')" ] || fail "pkg-config and teeperf --version disagree"
# As in a makefile: what it prints is for a shell.
eval "clang-$major -O2 -g $(pkg-config --cflags teeperf) -o pc-app project/app.c \
	$(pkg-config --static --libs teeperf)"
check "$PWD/pc-app"

if command -v gcc >/dev/null; then
	if cmake -G Ninja -S project -B gcc-build -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_C_COMPILER=gcc >gcc.log 2>&1; then
		fail "CMake accepts gcc"
	fi
	grep -q 'TeePerf::instrument needs clang' gcc.log || fail "$(cat gcc.log)"
fi
rm -r "$prefix/lib/teeperf/llvm-$major"
if cmake -G Ninja -S project -B other-build -DCMAKE_PREFIX_PATH="$prefix" \
	-DCMAKE_C_COMPILER="clang-$major" >other.log 2>&1; then
	fail "CMake accepts a clang without plugin"
fi
grep -q "no plugin for clang $major" other.log || fail "$(cat other.log)"
echo "$cmake_calls calls each way"
