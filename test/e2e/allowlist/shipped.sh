#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the shipped lists are found by name, load, and leave out of a C++ program what they
# say and nothing else: the same program is recorded without a list and with each of them.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
cat >app.cc <<'EOS'
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

static void *xmalloc(std::size_t size) { return std::malloc(size); }
void *operator new(std::size_t size) { return xmalloc(size); }
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }

struct Key {
	int id;
	std::string name;
};
struct KeyHash {
	std::size_t operator()(const Key &k) const { return std::hash<std::string>()(k.name) ^ k.id; }
};
struct KeyLess {
	bool operator()(const Key &a, const Key &b) const { return a.id < b.id; }
};
bool operator==(const Key &a, const Key &b) { return a.id == b.id && a.name == b.name; }

extern "C" int str_cmp(const void *a, const void *b)
{
	return std::strcmp(*(const char *const *)a, *(const char *const *)b);
}

class Table {
public:
	std::size_t size() const { return rows.size(); }
	const Key &operator[](std::size_t i) const { return *rows[i]; }
	void fill(int n);
	long sum() const;

private:
	std::vector<std::shared_ptr<Key>> rows;
};
void Table::fill(int n)
{
	for (int i = 0; i < n; i++)
		rows.push_back(std::make_shared<Key>(Key{n - i, "row " + std::to_string(i)}));
}
long Table::sum() const
{
	long total = 0;
	for (std::size_t i = 0; i < size(); i++)
		total += (*this)[i].id;
	return total;
}
static void sort_keys(std::vector<Key> &keys) { std::sort(keys.begin(), keys.end(), KeyLess()); }
int main()
{
	Table table;
	table.fill(200);
	std::vector<Key> keys;
	std::unordered_map<Key, int, KeyHash> index;
	std::map<std::string, int> names;
	for (std::size_t i = 0; i < table.size(); i++) {
		keys.push_back(table[i]);
		index[table[i]] = (int)i;
		names[table[i].name]++;
	}
	sort_keys(keys);
	const char *words[] = {"b", "c", "a"};
	std::qsort(words, 3, sizeof(*words), str_cmp);
	std::for_each(keys.begin(), keys.end(), [&](const Key &k) { names[k.name] += k.id; });
	std::printf("%ld %zu %zu %s\n", table.sum(), index.size(), names.size(), words[0]);
}
EOS

# functions NAME [OPTION...]: what a run of the program records, in NAME.all; what it only counts,
# in NAME.counted.
functions() {
	name=$1
	shift
	"$TEEPERF" c++ "$@" -std=c++17 -O1 -fno-inline -g app.cc -o "$name" ||
		fail "$name: no program"
	expect 0 "$TEEPERF" record -q -o "$name.trace" -- "./$name"
	says '^20100 200 200 a$' out
	"$TEEPERF" analyze "$name.trace" --view top --format json >"$name.json"
	python3 - "$name" <<'EOP'
import json, sys
name = sys.argv[1]
rows = json.load(open(name + ".json"))
rows = rows["functions"] if isinstance(rows, dict) else rows
for what, wanted in ("all", lambda r: True), ("counted", lambda r: r["timed_calls"] == 0):
    with open(name + "." + what, "w") as out:
        out.writelines(sorted(r["function"] + "\n" for r in rows if wanted(r)))
EOP
}

# The commands know them.
expect 0 "$TEEPERF" allowlist list
[ "$(wc -l <out)" -ge 4 ] || fail "too few lists"
awk '{ print $1 }' out >names
while read -r list; do
	expect 0 "$TEEPERF" allowlist fmt --check "$list"
	expect 0 "$TEEPERF" allowlist export --format profile-list "$list"
done <names
expect 1 "$TEEPERF" allowlist fmt shipped:none
says "'shipped:none': no such list is shipped in .*'teeperf allowlist list' shows them" err
expect 1 "$TEEPERF" c++ --allowlist shipped:../cxx-std -c app.cc
says 'no such list is shipped' err

functions none
grep -q '^std::' none.all || fail "the program has no function of the library to leave out"

# Only functions of the library go, all of them.
functions std --allowlist shipped:cxx-std
! grep -E '^(std|__gnu_cxx)::' std.all || fail "shipped:cxx-std leaves functions of the library"
comm -23 none.all std.all >gone
says '^std::vector<.*push_back' gone
# (Some demanglers leave names as they are.)
if grep -Ev '(^|[^[:alnum:]_:])(std|__gnu_cxx)::|^_ZN?K?St' gone; then
	fail "shipped:cxx-std leaves out more than the library"
fi
for function in main 'Table::fill\(int\)' 'KeyHash::operator\(\).*' 'sort_keys.*' \
	'main::.*operator\(\).*' 'operator new.*'; do
	says "^$function$" std.all
done

functions accessors --allowlist shipped:cxx-accessors
comm -23 none.all accessors.all >gone
says '^Table::size\(\) const$' gone
says '^Table::operator\[\]' gone
says '^Table::sum\(\) const$' accessors.all
says '^main$' accessors.all

# These only count.
functions counted --allowlist shipped:allocators --allowlist shipped:compare-hash
for function in 'xmalloc' 'operator new' 'operator delete' 'str_cmp$' 'KeyHash::operator' \
	'KeyLess::operator' 'std::hash<.*operator'; do
	says "^$function" counted.counted
done
comm -23 none.all counted.all >gone
[ ! -s gone ] || fail "lists that only count leave out $(cat gone)"
# (std::_Hash_impl does the work of std::hash.)
if grep -Ev '^(xmalloc|operator (new|delete)|str_cmp|Key(Hash|Less)::operator|std::(hash|_Hash_impl|less|equal_to))|_Hash_impl::' \
	counted.counted; then
	fail "these lists count more than they say"
fi

# A list behind another decides over it, given twice or in the environment.
cat >small.cc <<'EOS'
struct Rows {
	int n = 3;
	int size() const { return n; }
	bool empty() const { return !n; }
};
int main() { Rows rows; return rows.size() - 3 + rows.empty(); }
EOS
echo 'name:Rows::size=allow' >mine.allow
instrumented() {
	"$TEEPERF" c++ --shape=inline "$@" -O0 -S -emit-llvm small.cc -o small.ll
	awk '/^define/ { sub(/.*@/, ""); sub(/\(.*/, ""); name = $0 } /__teeperf_|call void asm/ { print name } /^}/ { name = "" }' \
		small.ll | sort -u | sed /^$/d
}
instrumented --allowlist shipped:cxx-accessors --allowlist mine.allow >twice
says '^_ZNK4Rows4sizeEv$' twice
says '^main$' twice
! grep -q empty twice || fail "the first of two lists is lost"
TEEPERF_ALLOWLIST=shipped:cxx-accessors:mine.allow
export TEEPERF_ALLOWLIST
instrumented >environment
cmp twice environment || fail "TEEPERF_ALLOWLIST reads lists differently"
