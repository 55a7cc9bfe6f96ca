#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that no build is silently wrong: bitcode is instrumented wherever lld compiles it, or the
# command, the recorder, doctor and inventory say that it was not; and so with functions at
# addresses that records cannot hold. Options that cannot work are refused or taken back, in one
# sentence.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
llvm=${TEEPERF_LLVM:-19}
[ "$llvm" -ge 15 ] || skip "the linker of LLVM $llvm loads no plugin"
find_lld() {
	command -v "ld.lld-$llvm" || command -v "/usr/lib/llvm-$llvm/bin/ld.lld"
}
lld=$(find_lld) || skip "there is no ld.lld of LLVM $llvm"

cat >lib.c <<'EOS'
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
__attribute__((noinline)) void work(void)
{
	leaf();
	leaf();
}
EOS
cat >main.c <<'EOS'
void work(void);
__attribute__((noinline)) void other(void)
{
	__asm__ volatile("");
}
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		work();
		other();
	}
	return 0;
}
EOS
for name in main lib; do
	"$TEEPERF" cc -O2 -c $name.c
	"$TEEPERF" cc -O2 -flto -c $name.c -o $name.lto.o
	"$TEEPERF" cc -O2 -flto=thin -c $name.c -o $name.thin.o
done

# counts PROGRAM ROW...: it is recorded, without a word, and these functions have these calls.
counts() {
	program=$1
	shift
	expect 0 "$TEEPERF" record -q -o app.trace "./$program"
	[ ! -s err ] || fail "$program: $(cat err)"
	expect 0 "$TEEPERF" analyze --strict --format csv app.trace
	for row; do
		says "^$row," out
	done
}
# whole ARGS...: a link with these arguments makes a program of which all is recorded.
whole() {
	echo "cc $*"
	rm -f app
	expect 0 "$TEEPERF" cc -O2 "$@" -o app
	but_busy err
	[ ! -s err ] || fail "cc $*: $(cat err)"
	counts app main,1 work,1000 leaf,2000 other,1000
}

# Bitcode in a link that does not ask for LTO.
whole main.o lib.lto.o -fuse-ld=lld
whole main.o lib.lto.o -fno-lto --ld-path="$lld"
whole main.lto.o lib.lto.o -fuse-ld="$lld"
whole main.thin.o lib.thin.o -fuse-ld=lld
whole main.thin.o lib.o -fuse-ld=lld
# Object files that become one first, and pipelines of the user's own.
for linker in -fuse-ld=lld ''; do
	for r in -r '-nostdlib -no-pie -Xlinker --relocatable'; do
		# shellcheck disable=SC2086 # words are meant
		expect 0 "$TEEPERF" cc -O2 -flto $linker $r main.lto.o lib.lto.o -o both.o
		whole both.o
	done
done
for kind in lto thin; do
	whole -flto=$([ $kind = lto ] && echo full || echo thin) main.$kind.o lib.$kind.o \
		'-Wl,--lto-newpm-passes=default<O2>'
done
# Bitcode that clang compiles.
expect 0 "$TEEPERF" cc -O2 -x ir -c lib.lto.o -o lib.again.o
whole main.o lib.again.o

# Instrumented modules cannot be split.
expect 0 "$TEEPERF" cc -O2 -flto -Wl,--lto-partitions=4 main.lto.o lib.lto.o -o app
says '^teeperf cc: warning: --lto-partitions is taken back' err
counts app main,1 work,1000 leaf,2000 other,1000

# A program that was linked without the plugin says so, everywhere.
runtime=$(dirname "$TEEPERF")/../lib/libteeperf.a
missed="nothing of 1 object file is recorded, whose bitcode a linker compiled without"
"clang-$llvm" -O2 -flto -fuse-ld=lld main.o lib.lto.o "$runtime" -o missed
expect 0 "$TEEPERF" record -q -o app.trace ./missed
says "^teeperf record: warning: './missed': $missed" err
expect 1 "$TEEPERF" doctor ./missed
says "^wrong +bitcode +$missed" out
expect 0 "$TEEPERF" inventory ./missed
says "^teeperf inventory: warning: './missed': $missed" err
# A linker that takes no plugin.
cat >linker <<EOS
#!/bin/sh
for word; do
	shift
	case \$word in
	*load-pass-plugin*) ;;
	*) set -- "\$@" "\$word" ;;
	esac
done
exec "$lld" "\$@"
EOS
chmod +x linker
expect 0 "$TEEPERF" cc -O2 main.o lib.lto.o --ld-path="$PWD/linker" -o missed
says "^teeperf cc: warning: 'missed': $missed" err
expect 0 "$TEEPERF" cc -O2 -r lib.lto.o --ld-path="$PWD/linker" -o missed.o
says "^teeperf cc: warning: 'missed.o': $missed" err
# At level off there is no word.
expect 0 "$TEEPERF" cc --level=off -O2 main.o lib.lto.o --ld-path="$PWD/linker" -o missed
[ ! -s err ] || fail "level off: $(cat err)"

# refused PATTERN ARGS...
refused() {
	pattern=$1
	shift
	expect 1 "$TEEPERF" cc -O2 "$@"
	says "^teeperf cc: $pattern" err
	[ "$(wc -l <err)" = 1 ] || fail "more than a line: $(cat err)"
}
expect 0 "$TEEPERF" cc -O2 -flto=thin -fuse-ld=lld -Wl,--thinlto-index-only main.thin.o lib.thin.o \
	-o index
refused '-fthinlto-index cannot be instrumented: ' -c -x ir main.thin.o \
	-fthinlto-index=main.thin.o.thinlto.bc -o main.native.o
for linker in gold mold bfd; do
	refused "-flto needs lld, since '$linker' loads no plugin of LLVM's" -flto \
		-fuse-ld=$linker main.lto.o lib.lto.o -o app
	! command -v ld.$linker >/dev/null || whole main.o lib.o -fuse-ld=$linker
done
expect 0 "$TEEPERF" cc -O2 -Xclang -disable-llvm-passes -c lib.c -o none.o
says "warning: this command runs none of LLVM's passes" err

# The C library comes before the runtime, and again behind it.
whole main.o lib.o -nodefaultlibs -lc
whole -static main.o lib.o -nodefaultlibs -Wl,--start-group -lgcc -lgcc_eh -lc -Wl,--end-group

# Functions that were moved off their alignment.
odd="records of [12] functions? are wrong, whose address is no multiple of 4"
cat >tight.ld <<'EOS'
SECTIONS { .tight : SUBALIGN(1) { *(.text.leaf) *(.text.work) *(.text.other) } }
INSERT AFTER .text;
EOS
if [ "$(uname -m)" = x86_64 ]; then
	"$TEEPERF" cc -O2 -ffunction-sections -c main.c -o main.apart.o
	"$TEEPERF" cc -O2 -ffunction-sections -c lib.c -o lib.apart.o
	expect 0 "$TEEPERF" cc -O2 main.apart.o lib.apart.o -Wl,-T,tight.ld -o tight
	says "^teeperf cc: warning: 'tight': $odd" err
	expect 0 "$TEEPERF" record -q -o app.trace ./tight
	says "^teeperf record: warning: './tight': $odd" err
	expect 1 "$TEEPERF" doctor ./tight
	says "^wrong +addresses +$odd" out
	whole main.apart.o lib.apart.o
fi
