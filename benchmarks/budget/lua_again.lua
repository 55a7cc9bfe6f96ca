-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
-- The work of benchmarks/lua again and again, so that it takes long and changes what it does: lua_again.lua WORK SIZE TIMES
local work, size, times = arg[1], arg[2], tonumber(arg[3])
arg = { [0] = work, size }
for _ = 1, times do dofile(work) end
