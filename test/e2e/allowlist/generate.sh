#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# An allowlist for a budget, from a recording, from counts with samples, and from sizes: the program
# built with it records what was promised, to the call; and each wrong input has one error that says
# what to do.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >app.cc <<'EOS'
#include <cstdio>
namespace app {
static volatile unsigned long sink;
__attribute__((noinline)) void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink + i;
}
static unsigned mix(unsigned k, unsigned i)
{
	return (k ^ 5) * i;
}
__attribute__((noinline)) void hot(unsigned i)
{
	for (unsigned k = 0; k < 40; k++)
		sink = sink + mix(k, i);
}
__attribute__((noinline)) void work(int rounds)
{
	spin(20000);
	// More of its own than the cost of recording all these calls, or no time of it is seen.
	for (unsigned i = 0; i < 40000; i++)
		sink = sink + i;
	for (int i = 0; i < rounds; i++)
		hot(i);
}
} // namespace app
int main()
{
	for (int i = 0; i < 100; i++)
		app::work(3000);
	std::puts("done");
}
EOS

# calls TRACE: NAME=CALLS of each function.
calls() {
	"$TEEPERF" analyze --view top --format csv "$1" 2>notes >top.csv
	python3 - top.csv <<'EOS'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
print(" ".join(sorted(r["linkage"] + "=" + r["calls"] for r in rows)))
EOS
}
all='_ZN3app3hotEj=300000 _ZN3app4spinEj=100 _ZN3app4workEi=100 main=1'
generate() {
	expect 0 "$TEEPERF" allowlist generate --event-cost 10ns --time 1s "$@"
}

# A recording of everything, and 0.1 %: 1 ms, which is 100,000 calls. hot is too dear, but not to be
# sampled.
expect 0 "$TEEPERF" c++ -O2 -g -o app app.cc
expect 0 "$TEEPERF" record -q -o all.trace -- ./app
[ "$(calls all.trace)" = "$all" ] || fail "calls of all: $(calls all.trace)"
generate --profile all.trace --budget 0.1% -o hot.allow
says '^chosen: 3 with events, 1 sampled, 0 counted$' out
says 'sample/256 +app::hot\(unsigned int\)$' out
says '^predicted +0\.0[0-9]% of the time \(0\.0[0-9]% to 0\.0[0-9]%\), 2[12]\.[0-9] KiB of log$' out
says '^# app::work\(int\): 100 calls, ' hot.allow
says '^fun:_ZN3app4workEi$' hot.allow
says '^fun:_ZN3app3hotEj=sample/256$' hot.allow
says '^default:skip$' hot.allow
expect 0 "$TEEPERF" c++ -O2 -g --allowlist=hot.allow -o hot app.cc
expect 0 "$TEEPERF" record -q -o hot.trace -- ./hot
[ "$(calls hot.trace)" = "$all" ] || fail "calls with the list: $(calls hot.trace)"
# 201 calls with events, and one in 256 of 300,000, the first included.
events=$("$TEEPERF" analyze --view threads --format csv hot.trace 2>notes |
	awk -F, 'NR > 1 { s += $4 } END { print s }')
[ "$events" = $((2 * (201 + 1172))) ] || fail "$events events"

# Events alone: hot is left out, with its price; and it is counted if that is wanted.
generate --profile all.trace --budget 0.1% --no-sample -o few.allow
says '^chosen: 3 with events, 0 sampled, 0 counted$' out
says ' 0\.30% +/256: 0\.05% +0\.03% +over the budget +app::hot\(unsigned int\)$' out
generate --profile all.trace --budget 0.1% --no-sample --count-rest -o few.allow
says '^fun:_ZN3app3hotEj=count$' few.allow
expect 0 "$TEEPERF" c++ -O2 -g --allowlist=few.allow -o few app.cc
expect 0 "$TEEPERF" record -q -o few.trace -- ./few
[ "$(calls few.trace)" = "$all" ] || fail "calls with counts: $(calls few.trace)"

# The list goes to standard output without -o, the tables to standard error; JSON is JSON.
generate --profile all.trace
says '^default:skip$' out
says '^predicted ' err
generate --profile all.trace --format json -o hot.allow
python3 - out <<'EOS' || fail "the JSON object"
import json, sys
o = json.load(open(sys.argv[1]))
f = {x["function"]: x for x in o["functions"]}
assert o["times"] == "events" and o["event_ns"] == 10 and o["time_ns"] == 1e9, o
assert f["_ZN3app3hotEj"]["calls"] == 300000 and f["_ZN3app3hotEj"]["level"] == "event", f
assert abs(o["overhead"] - 300201 * 10 / 1e9) < 1e-6, o["overhead"]
assert o["named_by_events"] > 0.999 and o["bound"] > 0.999, o
EOS

# Exact calls, and times from elsewhere: text, and perf if it works here.
expect 0 "$TEEPERF" c++ --level=count -O2 -g -o counted app.cc
expect 0 "$TEEPERF" record -q --clock none -o counts.trace -- ./counted
printf 'app::hot(unsigned int)\t60\n_ZN3app4spinEj\t20\n__libc_start_main\t20\n' >samples
generate --counts counts.trace --samples samples --budget 0.1% -o counts.allow
says '^fun:_ZN3app3hotEj=sample/256$' counts.allow
says '^fun:_ZN3app4spinEj$' counts.allow
says "from samples; 20.0% of them outside the profile's functions\$" out
# A pipe cannot be read from its beginning again.
cat samples | expect 1 "$TEEPERF" allowlist generate --counts counts.trace --samples /dev/stdin \
	--budget 0.1%
says "'/dev/stdin': cannot read samples: " err
expect 1 "$TEEPERF" allowlist generate --counts counts.trace -o counts.allow
says 'calls alone do not show where the time goes: give --samples' err
if perf record -q -F 5000 -o perf.data ./app >/dev/null 2>&1 &&
	perf report --stdio -i perf.data 2>/dev/null | grep -q 'app::hot'; then
	generate --counts counts.trace --samples perf.data --budget 0.1% -o perf.allow
	says '^fun:_ZN3app3hotEj=sample/256$' perf.allow
else
	echo "without perf.data: perf does not work here"
fi
printf 'PERFILE2 this is not one' >broken.data
mkdir -p nothing
expect 1 env PATH="$PWD/nothing" "$TEEPERF" allowlist generate --counts counts.trace \
	--samples broken.data
says 'perf, which is not installed: install it' err
if command -v perf >/dev/null; then
	expect 1 "$TEEPERF" allowlist generate --counts counts.trace --samples broken.data
	says "perf cannot read it: see what 'perf report -i broken.data' says" err
fi

# What the last list has cost.
generate --profile all.trace --refine 0.5 -o hot.allow
says '^event +5\.0 ns a call, measured in the program' out
generate --profile all.trace --refine all.trace --native 1ms -o hot.allow
says '^refined +was 10\.0 ns; 300,201 calls with events took ' out
generate --profile all.trace --refine hot.trace --native 1s -o hot.allow
says 'has too few events to measure their cost' err

# What was inlined is shown with where it went, and can be kept from it.
generate --profile all.trace --inventory app --keep 'app::mix*=force' -o forced.allow
says ' inlined +app::mix\(unsigned int, unsigned int\) +app::hot\(unsigned int\)' out
says '1 function is to be kept from being inlined' err
says '^fun:_ZN3appL3mixEjj=force$' forced.allow
expect 0 "$TEEPERF" c++ -O2 -g --allowlist=forced.allow -o forced app.cc
# Late, so that nothing is lost of 24 million events where the recorder gets no processor.
expect 0 "$TEEPERF" record -q --clock none --drain late -o forced.trace -- ./forced
calls forced.trace | grep -q '_ZN3appL3mixEjj=12000000 ' ||
	fail "calls of what was forced: $(calls forced.trace)"
# Sizes alone, and sources alone.
expect 0 "$TEEPERF" allowlist generate --inventory app -o seed.allow
says '^fun:main$' seed.allow
says '^fun:_ZN3app4spinEj$' seed.allow
says 'This is a seed' out
# Of calls and times nothing is known, and nothing is said.
expect 0 "$TEEPERF" allowlist generate --inventory app --format json -o seed.allow
python3 - out <<'EOS' || fail "the JSON object of a seed"
import json, sys
o = json.load(open(sys.argv[1]))
assert o["seed"] and o["events"] >= 2 and o["functions"] and not o["curve"], o
known = {"function", "name", "file", "line", "level", "reason", "instrs", "instrs_start", "loops"}
assert set(o) == {"profile", "counts", "samples", "seed", "events", "curve", "functions", "invisible"}, set(o)
assert all(set(f) == known for f in o["functions"]), o["functions"]
assert all("host_ns" not in f for f in o["invisible"]), o["invisible"]
EOS
expect 0 "$TEEPERF" allowlist generate --inventory app --budget 5% -o seed.allow
says 'without a profile no budget can be held' err
printf '[{"directory":"%s","file":"app.cc","arguments":["c++","-O2","-c","app.cc"]}]' "$PWD" \
	>compile_commands.json
if "$TEEPERF" allowlist generate --from-source . -o source.allow >out 2>err; then
	says '^fun:main$' source.allow
else
	says 'libclang' err
fi

# What the user wants.
generate --profile all.trace --budget 0.1% --keep 'app::hot*' --never 'fun:*spin*' -o hot.allow
says 'the functions of --keep exceed the budget' err
says '^fun:_ZN3app3hotEj$' hot.allow
says 'spin' out
! grep -q spin hot.allow || fail "spin is in the list"

# Wrong usage and wrong inputs.
expect 129 "$TEEPERF" allowlist generate
says 'nothing to choose from: give --profile, --counts or --inventory' err
expect 129 "$TEEPERF" allowlist generate all.trace
says "'all.trace' is not an option" err
expect 129 "$TEEPERF" allowlist generate --profile all.trace --budget much
says "budget: 'much' is not a share such as 5%" err
expect 129 "$TEEPERF" allowlist generate --profile all.trace --event-cost 0
says "event-cost: '0' is not a time" err
expect 129 "$TEEPERF" allowlist generate --profile all.trace --event-cost 5 --event-cost-split 6
says "'6' is more than --event-cost" err
expect 129 "$TEEPERF" allowlist generate --samples samples --inventory app
says 'samples do not show how often functions are called' err
expect 129 "$TEEPERF" allowlist generate --profile all.trace --refine hot.trace
says 'needs --native' err
expect 129 "$TEEPERF" allowlist generate --profile all.trace --from-source .
says 'is for code that is not compiled yet' err
expect 1 "$TEEPERF" allowlist generate --profile missing.trace
says "'missing.trace': cannot open it" err
expect 1 "$TEEPERF" allowlist generate --profile app.cc
says "'app.cc'" err
expect 1 "$TEEPERF" allowlist generate --profile all.trace --keep "$(printf 'fun:a\nfun:b')"
says '--keep takes one pattern, not several lines' err
expect 1 "$TEEPERF" allowlist generate --profile all.trace --keep 'fun:[a'
says '^teeperf allowlist generate: --keep:1:' err
expect 1 "$TEEPERF" allowlist generate --profile all.trace --event-cost 1s --event-cost-split 1s
says 'no function has time left' err
expect 1 "$TEEPERF" allowlist generate --profile all.trace -o nothing/there/hot.allow
says "'nothing/there/hot.allow': cannot write" err
