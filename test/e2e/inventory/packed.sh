#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that inventories are packed and much smaller than their text, that older ones, which are
# not, and files with both are read, that damaged ones and those that unpack to too much are
# refused, that tools remove the section, and that check-release reports it.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v python3 >/dev/null || skip "no python3"

cat >words.cc <<'EOS'
#include <map>
#include <string>
#include <vector>
int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> words;
	for (int i = 0; i < argc; i++)
		words[argv[i]].push_back(i);
	return words.size() != 1;
}
EOS
cat >more.c <<'EOS'
__attribute__((noinline)) int more(int x) { return x + 1; }
EOS
"$TEEPERF" c++ --inventory files -O2 -g -c words.cc
"$TEEPERF" cc -O2 -g -c more.c
"$TEEPERF" c++ words.o more.o -o app
./app || fail "the program fails"
"$TEEPERF" inventory --format csv words.o >words.csv
"$TEEPERF" inventory --format csv app >app.csv

# The section is packed; the file beside it is text, of which it is the same.
objcopy --dump-section .teeperf.inventory=words.zst words.o
packed=$(wc -c <words.zst)
text=$(cat files/*.tpinv | wc -c)
[ $((packed * 4)) -lt "$text" ] || fail "$text bytes of text are $packed bytes"
same() {
	"$TEEPERF" inventory --format csv "$1" | cut -d, -f1-16,19- >got
	cut -d, -f1-16,19- "$2" | cmp - got || fail "the inventory of $1 is another one"
}
for file in files/*.tpinv words.zst; do
	same "$file" words.csv
done

# Output of an older plugin: plain text, also beside packed inventories, in any order.
cat files/*.tpinv >plain
objcopy --update-section .teeperf.inventory=plain words.o old.o
same old.o words.csv
"$TEEPERF" c++ old.o more.o -o mixed
same mixed app.csv
"$TEEPERF" c++ more.o old.o -o mixed
same mixed app.csv

# Nothing that nobody called of the standard library.
python3 - <<'EOP' || fail "functions of system headers that were removed are listed"
import csv
rows = list(csv.DictReader(open("words.csv")))
assert any(r["system"] == "1" for r in rows)
assert not [r for r in rows if r["system"] == "1" and r["state"] == "removed"]
EOP

# Damaged: each byte that is changed is found, or does no harm; none is read beyond its end.
python3 - <<'EOP'
data = open("words.zst", "rb").read()
for at in list(range(0, 24)) + [len(data) // 2, len(data) - 5, len(data) - 1]:
    open("damaged-%d.zst" % at, "wb").write(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:])
for keep in (4, 5, 8, 20, len(data) // 2, len(data) - 1):
    open("cut-%d.zst" % keep, "wb").write(data[:keep])
# A frame of 1 block that repeats one byte: 128 KiB in 4 bytes, and a size that it claims.
def bomb(size, blocks):
    head = b"\x28\xb5\x2f\xfd" + b"\xe0" + size.to_bytes(8, "little")
    body = b"".join(((131072 << 3) | 2 | (i + 1 == blocks)).to_bytes(3, "little") + b"\n" for i in range(blocks))
    return head + body
open("bomb.zst", "wb").write(bomb(131072 * 4096, 4096))
open("claim.zst", "wb").write(bomb(1 << 40, 1))
open("short.zst", "wb").write(bomb(4096, 1))
EOP
for file in damaged-*.zst cut-*.zst; do
	got=0
	"$TEEPERF" inventory "$file" >out 2>err || got=$?
	[ "$got" -le 1 ] || fail "exit status $got for $file: $(cat err)"
	[ "$got" = 0 ] || says "^(teeperf inventory: |$file:)" err
done
for file in bomb claim short cut-20; do
	expect 1 "$TEEPERF" inventory $file.zst
	says "packed inventory is damaged" err
done

# Tools take it out, and check-release tells of it.
expect 1 "$TEEPERF" check-release app
says "^app: has the names and sources of all functions: an inventory of [0-9]+ bytes" out
cp app bare
strip -R .teeperf.inventory bare
./bare || fail "the program without its inventory fails"
expect 1 "$TEEPERF" inventory bare
says "it has no inventory" err
expect 1 "$TEEPERF" check-release bare
! grep -q 'an inventory of' out || fail "check-release sees what is not there"
objcopy -R .teeperf.inventory app bare
expect 1 "$TEEPERF" inventory bare
# The inventory alone keeps a file from being released.
objcopy -I binary -O default --rename-section .data=.teeperf.inventory,readonly,data,contents \
	words.zst data.o 2>err || objcopy -I binary -O elf64-x86-64 \
	--rename-section .data=.teeperf.inventory,readonly,data,contents words.zst data.o
expect 1 "$TEEPERF" check-release data.o
says "^data.o: has the names" out
