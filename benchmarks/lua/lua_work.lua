-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
-- What a script asks of the Lua interpreter: calls, closures, tables, strings, patterns, sorting,
-- objects with metatables, coroutines, errors. lua_work.lua SIZE prints the results.
local size = tonumber(arg[1]) or error("usage: lua lua_work.lua SIZE")

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
print("fib", fib(20 + size // 20))

local words, seed = {}, 42
local function random(limit)
	seed = (seed * 1103515245 + 12345) % 2147483648
	return seed // 65536 % limit
end
for i = 1, size * 400 do words[i] = string.format("%c%d", 97 + random(26), random(size * 100)) end
table.sort(words)
local counts = {}
for _, word in ipairs(words) do counts[word] = (counts[word] or 0) + 1 end
local distinct, most = 0, 0
for _, count in pairs(counts) do
	distinct = distinct + 1
	if count > most then most = count end
end
print("words", #words, distinct, most, words[1], words[#words])

local text = table.concat(words, " ")
local length = 0
for letter, number in text:gmatch("(%a)(%d+)") do length = length + #letter + #number end
print("text", length, select(2, text:gsub("7+", "seven")), #text:upper():reverse())

local Vector = {}
Vector.__index = Vector
function Vector.new(x, y) return setmetatable({ x = x, y = y }, Vector) end
function Vector.__add(a, b) return Vector.new(a.x + b.x, a.y + b.y) end
function Vector:dot(other) return self.x * other.x + self.y * other.y end
local sum, dots = Vector.new(0, 0), 0
for i = 1, size * 1000 do
	local v = Vector.new(i % 7, i % 11)
	sum = sum + v
	dots = dots + v:dot(sum) % 13
end
print("objects", sum.x, sum.y, dots)

local produced = 0
local generate = coroutine.wrap(function() for i = 1, size * 500 do coroutine.yield(i) end end)
for i = 1, size * 500 do produced = produced + generate() end
local caught = 0
for i = 1, size * 200 do
	if not pcall(error, { code = i }) then caught = caught + 1 end
end
print("control", produced, caught)
