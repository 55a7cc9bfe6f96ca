#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Any clang, opt or lld can be given lib/teeperf/TeePerf.so: it instruments with the plugin of its
# own LLVM major, and where there is none, or where it is given that of another major, it ends with
# one sentence and no crash.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
libraries=$(cd "$(dirname "$TEEPERF")/../lib/teeperf" && pwd)
plugin=$libraries/TeePerf.so
built=$(ls -d "$libraries"/llvm-*/TeePerf.so | sed 's|.*/llvm-\([0-9]*\)/.*|\1|')
[ -f "$plugin" ] && [ ! -L "$plugin" ] || fail "$plugin is not there, or only a link"
! nm -D --undefined-only "$plugin" | grep -Ei 'llvm|_Z' || fail "it needs symbols of LLVM or C++"

cat >app.c <<'C'
__attribute__((noinline)) int twice(int x)
{
	__asm__ volatile("" : "+r"(x));
	return 2 * x;
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 100; i++)
		sum += twice(i);
	return sum != 9900;
}
C

# refused PATTERN COMMAND...: it fails with one line that says so, not by a signal, and leaves no
# object file.
refused() {
	pattern=$1
	shift
	rm -f refused.o
	got=0
	"$@" >out 2>err || got=$?
	[ $got = 1 ] || fail "exit status $got: $*: $(cat err)"
	[ "$(grep -c . err)" = 1 ] || fail "more than one sentence: $* says $(cat err)"
	says "$pattern" err
	[ ! -s refused.o ] || fail "an object file is there all the same: $*"
	! ls refused-*.tmp 2>/dev/null || fail "half of an output file stays: $*"
}

mkdir -p "empty folder/none" one
cp "$plugin" "empty folder/none/TeePerf.so"
cp "$plugin" one/TeePerf.so
tried=0
for clang in /usr/bin/clang-[0-9]*; do
	major=${clang#/usr/bin/clang-}
	case $major in *[!0-9]*) continue ;; esac
	"$clang" -O1 -c app.c -o plain.o || continue
	tried=$((tried + 1))
	refused "^error: no TeePerf plugin for LLVM $major, .* in '.*empty folder/none'" \
		"$clang" -fpass-plugin="empty folder/none/TeePerf.so" -O1 -c app.c -o refused.o
	refused "^error: no TeePerf plugin for LLVM $major," \
		"$clang" -fplugin=one/TeePerf.so -O1 -c app.c -o refused.o
	if [ ! -e "$libraries/llvm-$major/TeePerf.so" ]; then
		refused "^error: no TeePerf plugin for LLVM $major,.*use clang-" \
			"$clang" -fpass-plugin="$plugin" -O1 -c app.c -o refused.o
	else
		expect 0 "$clang" -fpass-plugin="$plugin" -g -O1 -c app.c -o app.o
		[ ! -s err ] || fail "clang $major says $(cat err)"
		nm app.o | grep -q __teeperf_ || fail "clang $major has not instrumented anything"
		# Options of LLVM need the plugin before the pipeline does.
		expect 0 "$clang" -fplugin="$plugin" -fpass-plugin="$plugin" -mllvm \
			-teeperf-level=count -O1 -c app.c -o count.o
		nm count.o | grep -q __teeperf_count || fail "clang $major has not taken the level"
		# The recording has the calls that ran.
		"$clang" -O1 app.o "$libraries/../libteeperf.a" -o app
		expect 0 "$TEEPERF" record --quiet -o app.trace -- ./app
		"$TEEPERF" analyze app.trace --format csv | grep -q '^"\{0,1\}twice"\{0,1\},100,' ||
			fail "clang $major: the calls are not recorded: $("$TEEPERF" analyze \
				app.trace)"
		opt=$(dirname "$(readlink -f "$clang")")/opt
		if [ -x "$opt" ]; then
			"$clang" -O1 -S -emit-llvm app.c -o app.ll
			expect 0 "$opt" -load-pass-plugin="$plugin" -passes=teeperf -S app.ll \
				-o out.ll
			grep -q __teeperf_ out.ll ||
				fail "opt of LLVM $major has not instrumented anything"
			refused "^error: no TeePerf plugin for LLVM $major," \
				"$opt" -load-pass-plugin=one/TeePerf.so -passes=teeperf -S app.ll \
				-o refused.o
		fi
		lld=$(dirname "$(readlink -f "$clang")")/ld.lld
		if [ "$major" -ge 15 ] && [ -x "$lld" ]; then
			"$clang" -flto -O1 -c app.c -o lto.o
			expect 0 "$clang" -flto -O1 --ld-path="$lld" \
				-Wl,--load-pass-plugin="$plugin" lto.o \
				"$libraries/../libteeperf.a" -o lto
			nm lto | grep -q __teeperf_module ||
				fail "lld of LLVM $major has not instrumented"
			expect 1 "$clang" -flto -O1 --ld-path="$lld" \
				-Wl,--load-pass-plugin=one/TeePerf.so lto.o -o refused.o
			says "^error: no TeePerf plugin for LLVM $major," err
		fi
	fi
	# The plugin of another major, named by its own path.
	for other in $built; do
		[ "$other" != "$major" ] || continue
		refused "^error: '.*' is the TeePerf plugin for LLVM $other, but this compiler has LLVM $major:" "$clang" \
			-fpass-plugin="$libraries/llvm-$other/TeePerf.so" -O1 -c app.c -o refused.o
	done
done
[ $tried -gt 0 ] || fail "no clang was tried"

# The message names existing plugins.
for major in $built; do
	mkdir "one/llvm-$major"
	: >"one/llvm-$major/TeePerf.so"
done
clang=$(ls /usr/bin/clang-[0-9]* | grep -E 'clang-[0-9]+$' | head -n 1)
major=${clang#/usr/bin/clang-}
rm -rf "one/llvm-$major"
if [ "$(ls -d one/llvm-* 2>/dev/null)" ]; then
	refused "use clang-[0-9].*, or install clang-$major and llvm-$major-dev and build TeePerf again\$|: use clang-[0-9].*" \
		"$clang" -fpass-plugin=one/TeePerf.so -O1 -c app.c -o refused.o
fi
# A file that is no plugin.
mkdir -p "one/llvm-$major"
echo nonsense >"one/llvm-$major/TeePerf.so"
refused "^error: the TeePerf plugin for LLVM $major cannot be loaded: " \
	"$clang" -fpass-plugin=one/TeePerf.so -O1 -c app.c -o refused.o
# A program without LLVM only loads it.
python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$plugin" ||
	fail "it ends a program without LLVM"
