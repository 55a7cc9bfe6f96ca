#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# What a build costs while nobody records, counted on Lua: instructions, and misses of a simulated
# first instruction cache.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/counts.sh"
. "$lib/programs.sh"
plain_folder

cat >work.lua <<'EOS'
local words = {}
for i = 1, 1500 do words[i] = string.format("%05d", (i * 7919) % 3001) end
table.sort(words)
local counts, sum = {}, 0
for word in table.concat(words, ","):gmatch("%d+") do
	local key = word:sub(1, 3)
	counts[key] = (counts[key] or 0) + 1
	sum = sum + tonumber(word)
end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
for i = 1, 200 do pcall(load, "return " .. i) end
print(fib(14), sum, #counts, select("#", table.unpack(words, 1, 10)))
EOS
# The long form is optimised as Lua is used.
level=-O1
[ "${TEEPERF_FULL:-0}" = 0 ] || level=-O2
lua_program $level || skip "there is no Lua"

# The two binaries differ in the pass alone: seeds and addresses that move what they do are fixed.
count() {
	name=$1
	valgrind --tool=cachegrind --I1=32768,8,64 --cachegrind-out-file="$name.out" \
		"$2" work.lua >"$name.said" 2>"$name.log" || fail "cachegrind: $(cat "$name.log")"
	# "events: Ir I1mr ILmr ...", and "summary:" with the numbers of the same columns.
	awk '/^events:/ { for (i = 2; i <= NF; i++) if ($i == "I1mr") column = i }
		/^summary:/ { print $2, $column }' "$name.out" >"$name.counts"
}
count dual "$lua"
printf 'default:skip\n' >none.allow
cp -R "$sources" src
make -s -C src clean linux ALL=lua CC="$TEEPERF cc --allowlist=$PWD/none.allow" MYLDFLAGS=-no-pie \
	MYCFLAGS="$level -gdwarf-4 $lua_switches" >build.log 2>&1 || {
	cat build.log >&2
	fail "Lua cannot be built"
}
count native src/lua
cmp native.said dual.said || fail "they do not do the same"
read -r instructions misses <native.counts
read -r with with_misses <dual.counts
echo "native: $instructions instructions, $misses misses; with records that nobody takes:" \
	"$with, $with_misses"
[ "$with" -gt "$instructions" ] || fail "nothing is instrumented"
[ $((with * 100)) -le $((instructions * 105)) ] || fail "more than 5 % more instructions"
# All that runs of native Lua fits into 32 KiB, nearly: a ratio of a few misses says little.
[ "$with_misses" -le $((misses * 3 / 2 + instructions / 2000)) ] || fail "too many misses"
