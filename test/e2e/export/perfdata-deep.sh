#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a path too deep for a record of perf.data, whose size has 16 bits, is shortened, and
# the file stays whole.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

python3 - <<'EOS' >deep.txt
print('clock kind=tsc hz=1000000000\ncommand\n\tstring "/"\n\tstring "deep"\nsymbols')
print('\tsymbol 0x401000 "down" file="deep.c" line=1')
lines = ["\t5 enter 0x401000"] * 9000 + ["\t25 exit 0x401000"] * 9000
for sequence in range(3):
    print(f"chunk thread=0 tid=100 sequence={sequence} time=0")
    print("\n".join(lines[sequence * 6000:(sequence + 1) * 6000]))
print("end")
EOS
expect 0 "$TEEPERF" dump --assemble deep.txt -o deep.trace
expect 0 "$TEEPERF" export --format perfdata -o deep.data deep.trace
python3 - deep.data <<'EOS'
import struct, sys
file = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", file, 40)
end, largest = at + size, 0
while at < end:
    length = struct.unpack_from("<H", file, at + 6)[0]
    assert length >= 8 and length % 8 == 0, (at, length)
    at, largest = at + length, max(largest, length)
assert at == end and largest > 65000, (at, end, largest)
EOS
