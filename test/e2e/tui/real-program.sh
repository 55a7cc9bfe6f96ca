#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves on the Lua interpreter, built unmodified from Debian's source package, that 'teeperf tui'
# shows what 'teeperf analyze --format csv' has, on each page.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/tui.sh"
. "$lib/programs.sh"
plain_folder

lua_program -O1 || skip "there is no Lua"
cat >work.lua <<'EOS'
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, 500 do words[i] = string.format("%05d", (i * 7919) % 3001) end
table.sort(words)
local text = table.concat(words, ",")
for word in text:gmatch("%d+") do fib(3) end
print(fib(12), #text:gsub("1", "one"))
EOS
expect 0 "$TEEPERF" record -q --mode full --size 256M --ready 256M -o lua.trace "$lua" work.lua
tui_walk walk lua.trace luaH_resize
