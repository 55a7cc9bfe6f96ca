#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a link with an allowlist warns of lines that record nothing in what came out, only of
# those, only if it is to, and that it is otherwise the same link: its exit status, its signals.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
cc() {
	"$TEEPERF" cc "$@"
}
cat >main.c <<'EOS'
int twice(int x);
static __attribute__((noinline)) int own(int x) { __asm__(""); return x; }
int seldom(int x) { return own(x) + 2; }
int main(void) { return twice(3) + seldom(1) - 9; }
EOS
cat >twice.c <<'EOS'
int twice(int x) { return 2 * x; }
EOS
cc -O2 -g -c main.c -o main.o
cc -O2 -g -c twice.c -o twice.o

# quiet COMMAND...: succeeds without a word.
quiet() {
	expect 0 "$@"
	[ ! -s err ] && [ ! -s out ] || fail "it says '$(cat out err)': $*"
}
printf 'fun:main\nfun:twice\nfun:own\n' >good.allow
quiet cc --allowlist good.allow main.o twice.o -o app
quiet cc main.o twice.o -o app

# Lines that record nothing, or not everything, each with what to do.
printf 'fun:main\nfun:twise\nsrc:nowhere.c\nfun:seldom\nfun:no_such_function=skip\n' >bad.allow
expect 0 cc --allowlist bad.allow main.o twice.o -o app
says "^.*bad.allow:2:5: warning: unknown function 'twise'$" err
says "^.*bad.allow:2:5: note: did you mean 'fun:twice' \(.*twice.c:1\)\?$" err
says "^.*bad.allow:4:5: warning: 'seldom' was also inlined into 'main': calls there are not recorded$" err
[ "$(grep -c warning err)" = 2 ] ||
	fail "lines 1, 3 and 5 are none of the compiler's business: $(cat err)"
[ ! -s out ] || fail "warnings are no results"
./app || fail "the program does not work"

# One line of the option's, or of the environment's, and it is silent.
quiet cc --check=off --allowlist bad.allow main.o twice.o -o app
TEEPERF_CHECK=off quiet cc --allowlist bad.allow main.o twice.o -o app
expect 129 cc --check=maybe main.o -o app
says "takes warn, off or" err

# A list for another program; a program that a configure script makes.
printf 'fun:one\nfun:two\nfun:three\n' >other.allow
expect 0 cc --allowlist other.allow main.o twice.o -o app
says "^teeperf cc: warning: 'app': no line of .*other.allow matches any of its functions" err
[ "$(wc -l <err)" = 1 ] || fail "one line says it all: $(cat err)"
quiet cc --allowlist other.allow main.o twice.o -o conftest
mkdir -p CMakeFiles/CMakeScratch
quiet cc --allowlist other.allow main.o twice.o -o CMakeFiles/CMakeScratch/try

# A library: a list may be for several. A program: lines for its libraries are not its own.
cc --allowlist good.allow -O2 -g -fPIC -shared twice.c -o libtwice.so 2>err
[ ! -s err ] || fail "lines for the program are no fault of the library: $(cat err)"
quiet cc --allowlist good.allow main.o -L. -ltwice -Wl,-rpath,. -o app
quiet cc --allowlist good.allow main.o ./libtwice.so -o app
expect 0 cc --allowlist bad.allow main.o -L. -ltwice -Wl,-rpath,. -o app
says "unknown function 'twise'$" err

# Many warnings are cut short.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	echo "fun:none_$i"
done >many.allow
echo 'fun:main' >>many.allow
expect 0 cc --allowlist many.allow main.o twice.o -o app
[ "$(grep -c 'many.allow:[0-9:]* warning: ' err)" = 10 ] || fail "ten are enough: $(cat err)"
says 'warning: 3 more lines .*: teeperf allowlist check .*many.allow -- app$' err

# The link that fails is the one that clang reports, with nothing added.
expect 1 cc --allowlist bad.allow main.o -o fails
! grep -q 'warning: ' err || fail "a link that failed was checked"
# Objects without inventories: nothing is known.
clang=$(cc '-###' main.o 2>&1 | sed -n 's/^InstalledDir: //p')/clang
"$clang" -O2 -c main.c -o plain.o
"$clang" -O2 -c twice.c -o plain2.o
quiet cc --allowlist bad.allow plain.o plain2.o -o app

# What the plugin has said in the same run is not said again.
cat >one.c <<'EOS'
static int tiny(int x) { __asm__ volatile(""); return x + 1; }
int main(int argc, char **argv) { (void)argv; return tiny(argc) - 2; }
EOS
printf 'fun:tiny\nfun:main\n' >one.allow
expect 0 cc --allowlist one.allow -O2 -g one.c -o one
[ "$(grep -c "'tiny' was inlined" err)" = 1 ] || fail "once is enough: $(cat err)"
expect 0 cc --allowlist one.allow -O2 -g -c one.c
expect 0 cc --allowlist one.allow one.o -o one
says "^.*one.allow:1:5: warning: 'tiny' was inlined into 'main'" err

# Ended by a signal: so is the compiler behind it, and that is what the caller sees.
cat >slow-ld <<'EOS'
#!/bin/sh
echo $$ >linker.pid
exec sleep 60
EOS
chmod +x slow-ld
begin driver "$TEEPERF" cc --allowlist good.allow main.o twice.o --ld-path="$PWD/slow-ld" -o app
driver=$begun
await linker.pid '[0-9]'
kill -TERM $driver
status=0
wait $driver || status=$?
kill "$(cat linker.pid)"
[ $status = 143 ] || fail "exit status $status after SIGTERM"
