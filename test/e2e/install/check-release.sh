#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that check-release finds what was built for profiling, however it was linked, stripped or
# wrapped, and nothing else.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >app.c <<'EOS'
__attribute__((noinline)) static int twice(int x) { return 2 * x; }
int main(int argc, char **argv) { (void)argv; return twice(argc) - 2; }
EOS
marked() {
	expect 1 "$TEEPERF" check-release "$1"
	says "^$1: made for profiling: ${2:-[1-9][0-9]* notes? of TeePerf, the first at offset [0-9]+}$" out
	says 'not for release' err
}
clean() {
	expect 0 "$TEEPERF" check-release "$1"
	says "^$1: no mark in [0-9]+ bytes" out
	[ ! -s err ] || fail "$1: words on stderr"
}

# Programs that use the plugin or the runtime, through each linker.
"$TEEPERF" cc -O1 -c app.c -o app.o
marked app.o
for linker in bfd lld mold; do
	for flags in '' '-Wl,--gc-sections -s -static' -shared; do
		# shellcheck disable=SC2086
		"$TEEPERF" cc -fPIC -O1 -fuse-ld=$linker $flags app.c -o app 2>err || {
			command -v ld.$linker >/dev/null && [ $linker != lld ] &&
				fail "$linker $flags: $(cat err)"
			continue
		}
		marked app
		readelf -n app >out
		says 'TeePerf' out
		strip --strip-all app
		marked app
	done
done
if lto "$TEEPERF" cc -O1 -flto app.c -o lto; then
	"$TEEPERF" cc -O1 -flto app.c -o lto
	marked lto
fi
"$TEEPERF" cc -O1 app.c -o app

# Without the note there are the symbols, until they are stripped, too.
objcopy -R .note.teeperf app bare
marked bare "it has the symbol '__teeperf_[a-z_]*', but no note"
ar rc app.a app.o
marked app.a
cp app.o bare.o
objcopy -R .note.teeperf bare.o
ar rc bare.a bare.o
marked bare.a "it has the symbol '__teeperf_[a-z_]*', but no note"

# In another file, at any place of the blocks that are read.
(
	printf 'HSTO signed'
	cat app
) >wrapped
marked wrapped
python3 - <<'EOP'
import struct
note = struct.pack("<III8sI", 8, 4, 1, b"TeePerf", 4)
for cut in range(len(note) + 1):
    with open(f"cut{cut}", "wb") as file:
        file.write(b"\0" * ((1 << 20) - cut) + note + b"tail" * (cut % 2))
with open("big", "wb") as file:
    file.write(struct.pack(">III8sI", 8, 4, 1, b"TeePerf", 4))
with open("part", "wb") as file:
    file.write(note[:-1])
with open("many", "wb") as file:
    file.write(note * 200000)
EOP
cuts=$(seq 0 24)
# shellcheck disable=SC2086 # words are meant
expect 1 "$TEEPERF" check-release $(printf 'cut%s ' $cuts)
for cut in $cuts; do
	printf 'cut%s: made for profiling: 1 note of TeePerf, the first at offset %s\n' "$cut" \
		$((1048576 - cut))
done | cmp - out || fail "$(cat out)"
says 'not for release' err
marked big '1 note of TeePerf, the first at offset 0'
marked many '200000 notes of TeePerf, the first at offset 0'

# What has no mark: a program without the plugin, our own command, text, nothing.
clang=$("$TEEPERF" cc --print-prog-name=clang)
"$clang" -O1 app.c -o plain
clean plain
clean part
cp "$TEEPERF" command
clean command
: >empty
clean empty
expect 0 "$TEEPERF" check-release --quiet plain empty
[ ! -s out ] || fail "--quiet is not"

# One of many; what cannot be read is no release either. Damaged files.
expect 1 "$TEEPERF" check-release plain app empty
[ "$(grep -c 'no mark' out)" = 2 ] || fail "the others are not told"
expect 1 "$TEEPERF" check-release missing
says "'missing': cannot open it: No such file" err
expect 1 "$TEEPERF" check-release .
says "'\.'.*is not a regular file" err
mkfifo pipe
expect 1 "$TEEPERF" check-release pipe
expect 129 "$TEEPERF" check-release
size=$(wc -c <plain)
for keep in 4 20 64 $((size / 2)) $((size - 100)); do
	head -c "$keep" plain >damaged
	clean damaged
done
