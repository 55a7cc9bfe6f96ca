#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that lines about copies which the compiler makes of a function take effect, in both
# directions, that a line about the function covers its copies, and that the inventory, explain,
# check, generate and 'record --only' say what the trace shows.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v python3 >/dev/null || skip "no python3"

cat >count.cc <<'EOS'
#include <coroutine>
struct Numbers {
	struct promise_type {
		int value;
		Numbers get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int x)
		{
			value = x;
			return {};
		}
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};
__attribute__((noinline)) Numbers numbers(int count)
{
	for (int i = 0; i < count; i++)
		co_yield i;
}
__attribute__((noinline)) static void advance(Numbers &numbers)
{
	numbers.handle.resume();
}
int main(int argc, char **)
{
	int sum = 0;
	Numbers all = numbers(argc > 1 ? 1000 : 5);
	for (advance(all); !all.handle.done(); advance(all))
		sum += all.handle.promise().value;
	all.handle.destroy();
	return sum != (argc > 1 ? 499500 : 10);
}
EOS
"$TEEPERF" c++ -std=c++20 -O2 -g count.cc -o plain 2>err || {
	cat err
	skip "this compiler and its library have no coroutines"
}

# built LIST: compile with it, run, and compare what was recorded with what everything says.
built() {
	"$TEEPERF" c++ --check=off --allowlist "$1" -std=c++20 -O2 -g count.cc -o app
	"$TEEPERF" record -o app.trace ./app 2>err || fail "the program fails: $(cat err)"
	"$TEEPERF" analyze --format csv app.trace >calls.csv
	"$TEEPERF" inventory --format csv app >inventory.csv
	expect 0 "$TEEPERF" allowlist check --ignore inlined --ignore removed \
		--ignore shadowed "$1" -- app
	! grep -q 'compiled otherwise' out || fail "check says that $1 has no effect: $(cat out)"
	for name in _Z7numbersi _Z7numbersi.resume _Z7numbersi.destroy; do
		"$TEEPERF" allowlist explain --json "$name" "$1" -- app >"$name.json"
	done
	python3 - "$1" <<'EOP' || fail "after $1 something does not agree"
import csv, json, sys
calls = {row["linkage"]: int(row["calls"]) for row in csv.DictReader(open("calls.csv"))}
inventory = {row["function"]: row for row in csv.DictReader(open("inventory.csv"))}
for name in "_Z7numbersi", "_Z7numbersi.resume", "_Z7numbersi.destroy":
    (told,) = json.load(open(name + ".json"))
    row, said, done = inventory[name], told["decision"], told["compiled_as"]
    what = name, row, said, done, calls.get(name)
    assert row["level"] == done["level"], what
    assert done["level"] == ("skip" if said["level"] == "forbid" else said["level"]), what
    assert row["by"].rpartition("/")[2] == ("%s:%d" % (sys.argv[1], done["line"]) if done["file"] else ""), what
    assert (said["line"] or 0) in (0, done["line"]), what
    assert (row["level"] == "skip") == (name not in calls), what
    assert row["of"] == ("" if name == "_Z7numbersi" else "_Z7numbersi"), what
    assert row["file"] == "count.cc" and row["main_file"] == "count.cc", what
EOP
}

# has NAME CALLS: this number of calls was recorded.
has() {
	got=$(python3 -c '
import csv, sys
print(sum(int(r["calls"]) for r in csv.DictReader(open("calls.csv")) if r["linkage"] == sys.argv[1]))' "$1")
	[ "$got" = "$2" ] || fail "$1 has $got calls, not $2: $(cat calls.csv)"
}

# level NAME LEVEL LINE: what the inventory says of it.
level() {
	grep "^$1," inventory.csv | cut -d, -f12,13 >decided
	says "^$2,.*:$3\$" decided
}

# A line takes a copy out.
printf 'default:allow\nfun:_Z7numbersi.resume=skip\n' >out.allow
built out.allow
has _Z7numbersi 1
has _Z7numbersi.resume 0
has _Z7numbersi.destroy 1
level _Z7numbersi.resume skip 2

# A line lets a copy in.
printf 'fun:_Z7numbersi=skip\nfun:_Z7numbersi.resume=count\n' >in.allow
built in.allow
has _Z7numbersi 0
has _Z7numbersi.resume 6
has _Z7numbersi.destroy 0
level _Z7numbersi.resume count 2
level _Z7numbersi.destroy skip 1

# A line about the function means its copies, and the last one counts, but for forbid.
printf 'fun:_Z7numbersi.destroy=forbid\nfun:_Z7numbersi.resume=skip\nname:numbers(int)\n' \
	>never.allow
built never.allow
has _Z7numbersi 1
has _Z7numbersi.resume 6
has _Z7numbersi.destroy 0
level _Z7numbersi.resume allow 3
level _Z7numbersi.destroy skip 1

# explain shows who comes from whom.
expect 0 "$TEEPERF" allowlist explain _Z7numbersi.resume never.allow -- app
says "^  copy of +'numbers\(int\)'$" out
expect 0 "$TEEPERF" allowlist explain _Z7numbersi -- app
says "^  copies +.*'_Z7numbersi.destroy' \(skip\), '_Z7numbersi.resume' \(allow\)" out

# Recording agrees with the list that generate writes: the part that runs often is too expensive,
# the other is not.
"$TEEPERF" record -o profile.trace ./plain more 2>err || fail "the program fails: $(cat err)"
"$TEEPERF" allowlist generate --profile profile.trace --inventory plain --time 1ms \
	--event-cost 1us --budget 5% --no-sample -o generated.allow >/dev/null 2>err ||
	fail "generate fails: $(cat err)"
says '^fun:_Z7numbersi$' generated.allow
built generated.allow
has _Z7numbersi 1
has _Z7numbersi.resume 0

# The same can be chosen when the program runs.
"$TEEPERF" record --only out.allow -o only.trace ./plain 2>err ||
	fail "the program fails: $(cat err)"
"$TEEPERF" analyze --format csv only.trace >calls.csv
has _Z7numbersi 1
has _Z7numbersi.resume 0
