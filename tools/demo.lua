-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
--
-- The work that "make demo" records: what a script language is used for, in small. The same numbers
-- each time: no clock, no random seed. The argument is the number of rounds, 3 if there is none.

local words = {}
do -- A text, from a linear congruential generator.
	local state = 42
	local function random(n)
		state = (state * 1103515245 + 12345) % 2147483648
		return state // 65536 % n + 1
	end
	local syllables = { "ka", "lo", "mi", "ren", "su", "ta", "vo", "ne", "shi", "dor" }
	for i = 1, 6000 do
		local parts = {}
		for j = 1, random(3) do
			parts[j] = syllables[random(#syllables)]
		end
		words[i] = table.concat(parts)
	end
end
local text = table.concat(words, " ")

-- Patterns and tables: how often is each word used?
local function count_words(input)
	local counts = {}
	for word in input:gmatch("%a+") do
		counts[word] = (counts[word] or 0) + 1
	end
	return counts
end

-- Sorting with a closure as the order.
local function most_frequent(counts, limit)
	local list = {}
	for word, count in pairs(counts) do
		list[#list + 1] = { word = word, count = count }
	end
	table.sort(list, function(a, b)
		if a.count ~= b.count then
			return a.count > b.count
		end
		return a.word < b.word
	end)
	return table.move(list, 1, limit, 1, {})
end

-- Strings, recursion: values as text.
local function serialize(value)
	if type(value) == "table" then
		local parts = {}
		if #value > 0 then
			for i, item in ipairs(value) do
				parts[i] = serialize(item)
			end
		else
			for key, item in pairs(value) do
				parts[#parts + 1] = ("%s=%s"):format(key, serialize(item))
			end
			table.sort(parts)
		end
		return "{" .. table.concat(parts, ",") .. "}"
	end
	return ("%q"):format(value)
end

-- Objects through metatables.
local Vector = {}
Vector.__index = Vector
Vector.__add = function(a, b)
	return setmetatable({ x = a.x + b.x, y = a.y + b.y }, Vector)
end
function Vector:length()
	return math.sqrt(self.x * self.x + self.y * self.y)
end

local function walk(steps)
	local at = setmetatable({ x = 0, y = 0 }, Vector)
	local far = 0
	for i = 1, steps do
		at = at + setmetatable({ x = math.cos(i), y = math.sin(i * i) }, Vector)
		far = math.max(far, at:length())
	end
	return far
end

-- Coroutines: a producer, two filters, a consumer.
local function sieve(limit)
	local function numbers()
		return coroutine.wrap(function()
			for i = 2, limit do
				coroutine.yield(i)
			end
		end)
	end
	local function without(prime, source)
		return coroutine.wrap(function()
			for n in source do
				if n % prime ~= 0 then
					coroutine.yield(n)
				end
			end
		end)
	end
	local count = 0
	for _ in without(3, without(2, numbers())) do
		count = count + 1
	end
	return count
end

-- Errors: pcall and error, which leave the C functions between them through longjmp.
local function deep_error(depth)
	if depth == 0 then
		error({ reason = "as planned" })
	end
	local _, reason = ("x"):gsub(".", function()
		deep_error(depth - 1)
	end)
	return reason
end
local function survive(times)
	local caught = 0
	for _ = 1, times do
		local fine, problem = pcall(deep_error, 1)
		if not fine and problem.reason then
			caught = caught + 1
		end
	end
	return caught
end

-- The compiler: source text made and run at run time.
local function compile(times)
	local sum = 0
	for i = 1, times do
		local source = ("local a, b = ... return (a + %d) * b - #'%s'"):format(i, words[i])
		sum = sum + load(source)(i, 2)
	end
	return sum
end

for round = 1, tonumber(arg and arg[1]) or 3 do
	local top = most_frequent(count_words(text), 20)
	local upper = text:gsub("(%a)(%a*)", function(head, tail)
		return head:upper() .. tail
	end)
	print(round, #serialize(top), #upper, ("%.3f"):format(walk(15000)), sieve(12000), survive(5000),
		compile(1500))
end
