#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that the exports with sums by call path are exact on programs of some size: on Lua, with
# its errors by longjmp, coroutines and deep recursion, and on a trace of thousands of call paths
# (in the long form, 100,000).
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/export_traces.sh"
. "$lib/programs.sh"
export HOME="$PWD"
paths=2000
[ "${TEEPERF_FULL:-0}" = 0 ] || paths=100000

python3 "$lib/many_paths.py" $paths >many.txt
expect 0 "$TEEPERF" dump --assemble many.txt -o many.trace
expect 0 "$TEEPERF" export --format folded -o many.folded many.trace
[ "$(wc -l <many.folded)" -ge $((paths * 9 / 10)) ] || fail "too few paths"
set -- many.trace

case $TEEPERF in
*[[:space:]]*) lua= ;; # its makefile takes none
*) lua_program -O1 || lua= ;;
esac
if [ "$lua" ]; then
	cat >work.lua <<'EOS'
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local function thrower(depth)
	if depth == 0 then error({ code = 7 }) end
	local ok, e = pcall(thrower, depth - 1)
	error(e)
end
for i = 1, 40 do pcall(thrower, i % 20) end
local function generate(n)
	return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
end
local total = fib(12)
for i in generate(300) do total = total + i end
local words = {}
for i = 1, 200 do words[i] = string.format("%05d", (i * 7919) % 3001) end
table.sort(words, function(a, b) return a > b end)
print(total, #table.concat(words):gsub("1", "one"))
EOS
	expect 0 "$TEEPERF" record -q --clock tsc -o real-lua.trace -- "$lua" work.lua
	"$TEEPERF" dump real-lua.trace |
		sed '/^\tpoint/d; s/^clock kind=tsc hz=[0-9]*/clock kind=tsc hz=1000000000/' \
		>1ghz.txt
	expect 0 "$TEEPERF" dump --assemble 1ghz.txt -o real-lua-1ghz.trace
	set -- "$@" real-lua.trace real-lua-1ghz.trace
else
	echo "without Lua"
fi
python3 "$lib/export_speedscope.py" "$@"
if command -v protoc >/dev/null; then
	python3 "$lib/export_pprof.py" "$@"
fi
if command -v callgrind_annotate >/dev/null; then
	python3 "$lib/export_callgrind.py" "$@"
fi
if perf version >/dev/null 2>&1; then
	python3 "$lib/export_perfdata.py" "$@"
fi
for trace; do
	expect 0 "$TEEPERF" export --format flamegraph --inverted --min-width 2 -o out.svg $trace
	expect 0 "$TEEPERF" analyze --format csv $trace
	mv out top.csv
	expect 0 python3 "$lib/flamegraph_frames.py" out.svg inverted top.csv 2.05
done
