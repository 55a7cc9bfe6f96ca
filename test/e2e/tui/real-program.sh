#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves on the Lua interpreter, built unmodified from Debian's source package, that 'teeperf tui'
# shows what 'teeperf analyze --format csv' has, on each page.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/tui.sh"
plain_folder

source=$("$root/tools/fetch-source" lua5.4 2>fetch.log) || {
	cat fetch.log >&2
	skip "the source package 'lua5.4' cannot be fetched here"
}
cp -R "$source" lua5.4
for patch in 0002-lua-modules-paths 0001-build-system; do
	patch -d lua5.4 -R -p1 -s <"$source/debian/patches/$patch.patch"
done
expect 0 make -s -C lua5.4/src linux CC="$TEEPERF cc" MYCFLAGS=-g
cat >work.lua <<'EOS'
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, 500 do words[i] = string.format("%05d", (i * 7919) % 3001) end
table.sort(words)
local text = table.concat(words, ",")
for word in text:gmatch("%d+") do fib(3) end
print(fib(12), #text:gsub("1", "one"))
EOS
expect 0 "$TEEPERF" record -q --mode full --size 256M --ready 256M -o lua.trace lua5.4/src/lua work.lua
tui_walk walk lua.trace luaH_resize
