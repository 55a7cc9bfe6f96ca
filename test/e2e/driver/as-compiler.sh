#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that `teeperf cc` and `teeperf c++` behave as compilers in every kind of run that builds
# make, add what instrumentation needs where something is compiled or linked and nothing elsewhere,
# and print nothing of their own.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
cc() {
	"$TEEPERF" cc "$@"
}
cat >main.c <<'EOS'
int twice(int x);
int main(void) { return twice(3) - 6; }
EOS
echo 'int twice(int x) { return 2 * x; }' >twice.c
cat >throw.cc <<'EOS'
#include <stdexcept>
int main() { try { throw std::runtime_error("x"); } catch (const std::exception &) { return 0; } }
EOS

# silent COMMAND...: succeeds and prints nothing.
silent() {
	expect 0 "$@"
	[ ! -s out ] && [ ! -s err ] || fail "it prints $(cat out err): $*"
}
# instrumented FILE: refers to the runtime or has it; plain FILE: does not.
instrumented() {
	nm "$1" | grep -q __teeperf_ || fail "$1 is not instrumented"
}
plain() {
	! nm "$1" 2>/dev/null | grep -q __teeperf_ || fail "$1 is instrumented"
}

# Probes of configure scripts.
expect 0 cc --version
says 'clang version' out
expect 0 cc -v
says 'clang version' err
expect 0 cc -dumpmachine
expect 0 cc -print-search-dirs
expect 0 sh -c 'echo "int x = __LINE__;" | "$TEEPERF" cc -E -'
says 'int x = 1;' out
expect 1 cc
says 'no input files' err

# Compile and link, at once and apart, with sources that only -x tells.
silent cc -Wall -Werror -O2 main.c twice.c -o once
silent ./once
instrumented once
silent cc -Wall -Werror -c main.c
silent cc -Wall -Werror -c twice.c
instrumented twice.o
silent cc -Wall -Werror main.o twice.o -o apart
silent ./apart
silent cc -x c - -o from-stdin <<'EOS'
int main(void) { return 0; }
EOS
instrumented from-stdin
silent "$TEEPERF" c++ -Wall -Werror -O1 throw.cc -o thrower
silent ./thrower
instrumented thrower
silent cc -static main.o twice.o -o static
silent ./static

# Assembler sources and dependency runs have no use for the plugin, and no warning says so.
silent cc -Wall -Werror -S twice.c -o twice.s
silent cc -Wall -Werror -c twice.s -o again.o
expect 0 cc -Wall -Werror -MM main.c
says '^main.o: main.c' out
silent cc -fsyntax-only -Werror main.c

# A partial link gets no runtime; the final one does.
silent cc -r main.o twice.o -o part.o
[ "$(nm part.o | grep -c ' [Tt] __teeperf_slow$')" = 0 ] || fail "-r took the runtime in"
silent cc part.o -o whole
silent ./whole

# Response files decide as what they hold.
printf '%s\n' '-c "twice.c"' "-o 'from file.o'" >arguments
silent cc @arguments
instrumented 'from file.o'

# Shared objects refer to the shared runtime and find it; executables offer their own copy.
silent cc -shared -fPIC twice.c -o libtwice.so
silent cc main.c -L. -ltwice -Wl,-rpath,. -o with-library
silent ./with-library
readelf -d libtwice.so >out
says 'NEEDED.*libteeperf\.so' out
nm -D with-library >out
says ' [TB] __teeperf_' out

# Neither a library's name nor a value of an option is mistaken for a source.
expect 0 cc '-###' -c -o odd.c main.c
says 'fpass-plugin=' err
expect 0 cc '-###' main.o -o odd.c
! grep -q fpass-plugin err || fail "-o odd.c counts as a source"
