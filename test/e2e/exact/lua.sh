#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves on the Lua interpreter, built unmodified from Debian's source package, that the profile
# counts each call of each function, recorded, sampled or only counted: the same as callgrind, with
# errors thrown by longjmp, coroutines, deep recursion, finalizers and callbacks from the C library.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/counts.sh"
. "$lib/programs.sh"
plain_folder

cat >work.lua <<'EOS'
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
print("fib", fib(15))

local words = {}
for i = 1, 1000 do words[i] = string.format("%05d", (i * 7919) % 3001) end
table.sort(words)
table.sort(words, function(a, b) return a > b end)
local text = table.concat(words, ",")
local sum = 0
for word in text:gmatch("%d+") do sum = sum + tonumber(word) end
print("text", sum, #text:gsub("1", "one"), text:reverse():sub(1, 20), text:find("00999", 1, true))

-- Errors leave many frames at once, of Lua and of C, and pass through inner handlers.
local function thrower(depth)
	if depth == 0 then error({ code = 7 }) end
	local ok, e = pcall(thrower, depth - 1)
	error(e)
end
local caught = 0
for i = 1, 200 do
	local ok, e = pcall(thrower, i % 20)
	if not ok and e.code == 7 then caught = caught + 1 end
	if not pcall(string.rep) then caught = caught + 1 end
	if not pcall(table.sort, { 3, 1, "x", 2 }) then caught = caught + 1 end
	xpcall(function() local t = nil; return t.x end, function(m) caught = caught + 1 return m end)
	pcall(string.gsub, "hello", "l", function() error("in a callback") end)
end
print("caught", caught)
print(select(2, pcall(function() local function f() return f() + 1 end return f() end)):sub(1, 40))

local function generate(n)
	return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
end
local total = 0
for i in generate(1000) do total = total + i end
for i = 1, 50 do
	local co = coroutine.create(function(...) local x = coroutine.yield(...); error(x) end)
	coroutine.resume(co, i)
	if not coroutine.resume(co, "stop") then total = total + 1 end
	coroutine.close(coroutine.create(function() end))
end
print("coroutines", total)

local finalized = 0
local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({ x = a.x + b.x }, Point) end
Point.__eq = function(a, b) return a.x == b.x end
Point.__gc = function() finalized = finalized + 1 end
Point.__close = function() total = total + 1 end
local p = setmetatable({ x = 0 }, Point)
for i = 1, 1000 do
	p = p + setmetatable({ x = i }, Point)
	if p == setmetatable({ x = -1 }, Point) then print("never") end
	do local guard <close> = p end
end
collectgarbage()
collectgarbage("generational")
for i = 1, 1000 do words[i % 100] = { i, tostring(i) .. "x" } end
collectgarbage("incremental")
print("objects", p.x, finalized > 1700, total)

for i = 1, 30 do
	local source = ("local a, b = %d, { %d, x = 'y' } return function(c) for k, v in pairs(b) do "
		.. "c = c .. tostring(v) end return c, a // 2 ^ 0.5, a & 3, a ~= 4 and not a end"):format(i, i)
	load(string.dump(load(source)))()("z")
end
print("code", load("return 1 +"))
print(string.pack("i4s2", 77, "abc"):byte(1, -1), utf8.char(228, 8364), utf8.len("äöü"),
	math.floor(3.7), math.tointeger("8"), ("%q"):format(1 / 3), os.getenv("NO_SUCH_VARIABLE"))
for line in io.lines("work.lua") do total = total + #line end
print("end", total, next({}), rawlen({ 1, 2 }), select("#", table.unpack(words, 1, 10)))
EOS

# The long form is optimised as Lua is used; so is suites/lua.suite.
level=-O1
[ "${TEEPERF_FULL:-0}" = 0 ] || level=-O2
lua_program $level || skip "there is no Lua"
unset LUA_INIT LUA_INIT_5_4 LUA_PATH LUA_CPATH LUA_PATH_5_4 LUA_CPATH_5_4
compare_counts 0 "$sources" /dev/null "$lua" work.lua

# The same with functions that are counted, and others of which some calls are recorded, also of
# those that errors pass through.
cat >levels.allow <<'EOS'
default:count
fun:lua_*=sample/3
fun:luaD_*=sample/2
fun:luaV_*=sample/64
fun:luaB_*=allow
fun:luaG_*=sample/5
EOS
cp -R "$sources" src
make -s -C src clean linux ALL=lua CC="$TEEPERF cc --allowlist=$PWD/levels.allow" \
	MYLDFLAGS=-no-pie MYCFLAGS="$level -gdwarf-4 $lua_switches" >build.log 2>&1 || {
	cat build.log >&2
	fail "Lua cannot be built"
}
compare_counts 0 src /dev/null src/lua work.lua
"$TEEPERF" analyze run.trace --format json >top.json
grep -q '"unmatched_enters":0,"unmatched_exits":0,"unknown_resyncs":0,' top.json ||
	fail "stacks are not whole"
python3 - <<'EOS' || fail "samples"
import csv, sys
rows = [r for r in csv.DictReader(open("top.csv")) if r["function"].startswith("luaV_")]
wrong = [r for r in rows if int(r["timed_calls"]) != (int(r["calls"]) + 63) // 64]
sys.exit(not rows or bool(wrong))
EOS
