#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that sources read by libclang name what the compiler will have, but for what
# docs/from-source.md says: compared with the compiler's inventory of the same project. And that a
# file which cannot be read, or crashes libclang, costs no other.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
mkdir -p src/sub build
cat >src/sub/common.h <<'EOS'
#pragma once
struct Common {
	int value;
	int read() const { return value; }
};
inline int shared(int x) { return x + 1; }
static inline int unused_here(int x) { return x - 1; }
EOS
cat >src/plain.c <<'EOS'
#include <stdio.h>
static inline int square(int x) { return x * x; }
static int helper(int x)
{
	for (int i = 0; i < 3; i++)
		x += square(i);
	return x;
}
int renamed(int) __asm__("real_name");
int renamed(int x) { return helper(x); }
#define MAKE(name) int name(int x) { return renamed(x); }
MAKE(made)
EOS
cat >src/classes.cc <<'EOS'
#include "sub/common.h"
#include <algorithm>
#include <memory>
#include <string>
#include <vector>
namespace n {
class XC1E {
public:
	explicit XC1E(int v);
	XC1E(const XC1E &) = default;
	virtual ~XC1E();
	XC1E &operator++();
	operator bool() const { return v != 0; }
	template <class T> T as() const { return T(v); }
	int v;
};
XC1E::XC1E(int v) : v(v) {}
XC1E::~XC1E() {}
XC1E &XC1E::operator++() { v++; return *this; }
}
template <class T> T twice(T x) { return x + x; }
template <> int twice<int>(int x) { return x * 2; }
template <class T> struct Box {
	T t;
	explicit Box(T t) : t(t) {}
	T get() const { return t; }
};
namespace { int hidden(int x) { return x + 1; } }
extern "C" int made(int);
int use(std::vector<int> &v)
{
	struct Local { int get() { return 4; } } local;
	std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
	n::XC1E a(3), b(a);
	Box<long> box(2);
	++a;
	return hidden(twice(v[0])) + (int)twice(2.0) + (int)box.get() + (a ? made(1) : 0) + shared(1) +
	       Common{2}.read() + b.as<int>() + local.get();
}
int main()
{
	std::vector<int> v = {3, 1};
	return use(v) < 0;
}
EOS
echo '#pragma clang __debug parser_crash' >src/crash.c
cat >src/broken.c <<'EOS'
#include "generated.h"
int understood(int x) { return x; }
EOS
here=$(pwd)
cat >build/compile_commands.json <<EOS
[ {"directory": "$here/build", "file": "../src/plain.c",
   "command": "ccache teeperf cc --allowlist none.allow -O2 -g -Werror -MD -MF x.d -o x.o -c ../src/plain.c"},
  {"directory": "$here/build", "file": "../src/classes.cc",
   "arguments": ["g++", "-I../src", "-std=c++17", "-c", "../src/classes.cc", "-oclasses.o"]} ]
EOS

got=0
"$TEEPERF" inventory --from-source build --format csv >source.csv 2>err || got=$?
! grep -q 'libclang.* was found' err || skip "$(cat err)"
[ "$got" = 0 ] || fail "$(cat err)"
cat err
says '^teeperf inventory: 2 of 2 files read, 0 with errors: 21 functions' err
says 'compiled: 4 templates and their members, 1 lambdas, ' err
[ "$(ls build)" = compile_commands.json ] || fail "reading sources made files"

"$TEEPERF" cc -O0 -g -c src/plain.c -o plain.o
"$TEEPERF" c++ -O0 -g -Isrc -std=c++17 -c src/classes.cc -o classes.o
"$TEEPERF" inventory --format csv --no-system plain.o classes.o >compiled.csv
python3 - <<'EOP' || fail "the two differ in more than is documented"
import csv, re, sys
def read(name):
    rows = {}
    for row in csv.DictReader(open(name)):
        rows[row["function"]] = row
    return rows
source, compiled = read("source.csv"), read("compiled.csv")
name_of = lambda rows, name: rows[name]["demangled"]
bad = []
missed = {"template": 0, "lambda": 0, "implied": 0}
for name in sorted(set(compiled) - set(source)):
    text = name_of(compiled, name)
    if "lambda" in text or "$_" in text or "UlvE" in name or re.search(r"Ul[a-zA-Z]*E_", name):
        missed["lambda"] += 1
    elif re.search(r"I[a-z]*E", name) and "<" in text:
        missed["template"] += 1
    elif text == "n::XC1E::XC1E(n::XC1E const&)" or re.search(r"::~\w+\(\)$", text):
        missed["implied"] += 1
    elif re.match(r"_GLOBAL__|__cxx_global|__clang_call", name):
        missed["implied"] += 1
    else:
        bad.append("not named: %s %s" % (name, text))
for name in sorted(set(source) - set(compiled)):
    text = name_of(source, name)
    if not (re.search(r"[CD][012]E", name) or text.startswith("unused_here")):
        bad.append("not there: %s %s" % (name, text))
for name in set(source) & set(compiled):
    for key in "line",:
        if source[name][key] != compiled[name][key]:
            bad.append("%s of %s: %s, not %s" % (key, name, source[name][key], compiled[name][key]))
    if source[name]["file"].split("/")[-1] != compiled[name]["file"].split("/")[-1]:
        bad.append("file of " + name)
for name in "real_name", "made", "square", "helper", "main", "_ZN1n4XC1EC2Ei", "_ZN1n4XC1ED2Ev", "_ZN1n4XC1ED0Ev", \
        "_ZN1n4XC1EppEv", "_ZNK1n4XC1EcvbEv", "_ZNK6Common4readEv", "_Z6sharedi", \
        "_ZN12_GLOBAL__N_16hiddenEi", "_Z5twiceIiET_S0_":
    if name not in source or name not in compiled:
        bad.append("not in both: " + name)
print("named %d of %d functions that the compiler has; missed: %s; %d more names" % (
    len(set(source) & set(compiled)), len(compiled), missed, len(set(source) - set(compiled))))
print("\n".join(bad))
sys.exit(1 if bad or not missed["template"] or not missed["lambda"] else 0)
EOP

# A failure in one file is reported, and does not affect the others.
cat >build/compile_commands.json <<EOS
[ {"directory": "$here/src", "file": "crash.c", "command": "cc -c crash.c"},
  {"directory": "$here/src", "file": "missing.c", "command": "cc -c missing.c"},
  {"directory": "$here/nowhere", "file": "plain.c", "command": "cc -c plain.c"},
  {"directory": "$here/src", "file": "broken.c", "command": "cc -c broken.c"},
  {"directory": "$here/src", "file": "plain.c", "command": "cc -c plain.c"} ]
EOS
expect 0 "$TEEPERF" inventory --from-source build/compile_commands.json --format csv
says 'warning: .*crash.c: libclang crashed' err
says 'warning: .*missing.c: libclang cannot read it' err
says "warning: .*plain.c: its folder '.*/nowhere' does not exist" err
says "warning: .*broken.c: .*'generated.h' file not found" err
says '^teeperf inventory: 2 of 5 files read, 1 with errors: 5 functions$' err
says '^"?understood' out
says '^"?real_name' out

# And errors.
expect 1 "$TEEPERF" inventory --from-source src
says "'src/compile_commands.json': cannot be read: configure with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON" err
echo '[ {"directory": ' >src/compile_commands.json
expect 1 "$TEEPERF" inventory --from-source src
says "'src': libclang cannot read its compile_commands.json" err
cat >src/compile_commands.json <<EOS
[ {"directory": "$here/src", "file": "missing.c", "command": "cc -c missing.c"} ]
EOS
expect 1 "$TEEPERF" inventory --from-source src
says 'none of its 1 files could be read' err
expect 129 "$TEEPERF" inventory --from-source build app
