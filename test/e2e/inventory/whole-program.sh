#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a program's inventory names exactly the functions that are in its symbol table, that
# it comes through every linker, partial links, archives and strip, that it is never loaded, and
# that parallel compilers write their files without disturbing one another.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v python3 >/dev/null || skip "no python3"

cat >shape.h <<'EOS'
#include <map>
#include <string>
#include <vector>
template <class T> struct Stack {
	std::vector<T> items;
	__attribute__((noinline)) void push(const T &item) { items.push_back(item); }
	T pop() { T last = items.back(); items.pop_back(); return last; }
};
struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};
double total(const std::map<std::string, Stack<int>> &stacks);
EOS
cat >main.cc <<'EOS'
#include "shape.h"
namespace { struct Square : Shape { double area() const override { return 4; } }; }
static int helper(int x) { __asm__ volatile("" : "+r"(x)); return x + 1; }
__attribute__((noinline)) static int twice(int x) { return 2 * helper(x); }
int main(int argc, char **)
{
	std::map<std::string, Stack<int>> stacks;
	stacks["a"].push(twice(argc));
	Shape *shape = new Square;
	auto add = [&](int x) { stacks["b"].push(x); };
	add(3);
	int last = stacks["b"].pop();
	double area = shape->area() + total(stacks);
	delete shape;
	return !(last == 3 && area > 5);
}
EOS
cat >total.cc <<'EOS'
#include "shape.h"
static int helper(int x) { __asm__ volatile("" : "+r"(x)); return x + 2; }
__attribute__((noinline)) static int twice(int x) { return 2 * helper(x); }
double total(const std::map<std::string, Stack<int>> &stacks)
{
	double sum = 0;
	for (const auto &entry : stacks) {
		Stack<int> copy = entry.second;
		while (!copy.items.empty())
			sum += twice(copy.pop());
	}
	return sum;
}
EOS

# names INVENTORY-CSV: the functions that are there, once each.
names() {
	python3 -c '
import csv, sys
rows = csv.DictReader(open(sys.argv[1]))
print("\n".join(sorted({r["function"] for r in rows if r["state"] in ("emitted", "partly")})))' "$1"
}

# agrees OBJECT...: the inventory has what the symbol tables have.
agrees() {
	"$TEEPERF" inventory --format csv "$@" >csv
	names csv >seen
	nm "$@" | awk '$2 ~ /^[tTwW]$/ && $3 !~ /^__teeperf_|[.]recorded$/ { print $3 }' |
		sort -u >there
	[ -s seen ] || fail "no function in the inventory of $*"
	# Constructors of base and complete objects may be two symbols for one function.
	grep -vxF -f seen there | grep -v 'C1E\|D1E' >missing || true
	[ ! -s missing ] || fail "not in the inventory: $(cat missing)"
	grep -vxF -f there seen >surplus || true
	[ ! -s surplus ] || fail "only in the inventory: $(cat surplus)"
}

for level in -O0 -O2; do
	"$TEEPERF" c++ $level -g -c main.cc
	"$TEEPERF" c++ $level -g -c total.cc
	LC_ALL=C agrees main.o
	LC_ALL=C agrees main.o total.o
done

# Internal functions of one name are two functions; instances of one template are one.
"$TEEPERF" inventory --format csv main.o total.o >csv
python3 - <<'EOS' || fail "the merge is wrong"
import csv
rows = list(csv.DictReader(open("csv")))
twice = [r for r in rows if r["demangled"] == "twice(int)"]
assert len(twice) == 2 and all(r["ambiguous"] == "1" for r in twice), twice
assert {r["file"] for r in twice} == {"main.cc", "total.cc"}, twice
helper = [r for r in rows if r["demangled"] == "helper(int)"]
assert [r["state"] for r in helper] == ["inlined"] * 2, helper
names = [r["function"] for r in rows if r["linkage"].startswith("linkonce")]
assert names and len(names) == len(set(names)), names
assert any(r["system"] == "1" for r in rows) and any(r["system"] == "0" for r in rows)
EOS

# same FILE: its inventory is that of the two object files.
"$TEEPERF" inventory --format csv --sort name main.o total.o | cut -d, -f1-16,19- >wanted
same() {
	"$TEEPERF" inventory --format csv --sort name "$@" | cut -d, -f1-16,19- >got
	cmp wanted got || {
		diff wanted got >&2 || true
		fail "the inventory of $* is not that of its object files"
	}
}
link() {
	"$TEEPERF" c++ main.o total.o "$@"
}
link -o plain
./plain || fail "the program fails"
same plain
same plain main.o
readelf -lW plain >segments
! grep -q teeperf.inventory segments || fail "the inventory is in a segment"
readelf -SW plain >sections
says '\.teeperf\.inventory +PROGBITS +0+ ' sections
for linker in bfd gold lld; do
	link -fuse-ld=$linker -Wl,--gc-sections -o "with-$linker" 2>/dev/null || {
		echo "no linker $linker"
		continue
	}
	same "with-$linker"
done
link -r -o part.o
same part.o
"$TEEPERF" c++ part.o -o from-part
same from-part
ar rc lib.a main.o total.o
same lib.a
ar rcT thin.a main.o total.o
same thin.a
strip -o stripped plain
same stripped

# Files: several compilers at once, twice over.
"$TEEPERF" c++ --inventory files -O2 -g -c main.cc &
"$TEEPERF" c++ --inventory files -O2 -g -c total.cc
wait
"$TEEPERF" c++ --inventory files -O2 -g -c total.cc
[ "$(ls files | wc -l)" = 2 ] || fail "not two files: $(ls files)"
same files

# Nothing of it if nothing is wanted, and an error that says what to do.
"$TEEPERF" c++ --inventory none -O2 -c main.cc -o none.o
expect 1 "$TEEPERF" inventory none.o
says "'none.o': it has no inventory" err
echo x >file
expect 1 "$TEEPERF" c++ --inventory file/below -c main.cc -o x.o
says "'file/below': cannot write inventories there" err
