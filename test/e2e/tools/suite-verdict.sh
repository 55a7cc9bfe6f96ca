#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the judge of the real programs' test suites (test/suites) sees what it is there to
# see: a test with another output or exit status, one that is missing, stacks that are not whole, a
# process of which nothing can be read, and that nothing was recorded or run.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
verdict=$root/test/suites/verdict.py

# The files of a suite with two tests if all is well; its first process lost events, which is
# reported.
fill() {
	rm -rf suite
	for flavour in native instrumented; do
		results=suite/$flavour.results
		mkdir -p "$results"
		for test in one two; do
			echo 0 >"$results/$test.status"
			echo "$test is fine" >"$results/$test.out.same"
			echo "passed $test" >>"$results/tests"
		done
	done
	cat >suite/instrumented.results/facts <<'FACTS'
{"label":"one","events":10,"lost":5,"open":0,"unmatched_enters":1,"unmatched_exits":0,"unknown_resyncs":0,"backwards":0,"holes":1,"problems":0,"cut":0,"began_before":0,"dropped":0}
{"label":"two","events":20,"lost":0,"open":1,"unmatched_enters":0,"unmatched_exits":0,"unknown_resyncs":0,"backwards":0,"holes":0,"problems":0,"cut":0,"began_before":0,"dropped":0}
FACTS
	printf 'program main\nprogram helper\nprogram main\n' >suite/instrumented.results/called
}

# bad WHAT PATTERN: after what was done to the results the judge says no, and why.
bad() {
	expect 1 python3 "$verdict" row suite suite 1.0
	says "$2" err
	grep -q '"same": "no"' suite/row || fail "$1: the table does not say so"
	echo "seen: $1"
	fill
}

fill
expect 0 python3 "$verdict" row suite suite 1.0
python3 "$verdict" table . suite >table
says '\| suite \| 1.0 +\| 2 +\| 2 +\| 30 +\| 5 in 1 \| 2 passed \| yes' table

echo 'two is odd' >suite/instrumented.results/two.out.same
bad 'another output' 'two.out.same'
echo 139 >suite/instrumented.results/one.status
bad 'another exit status' 'one.status'
rm suite/instrumented.results/two.*
bad 'a test that was not run' 'it is not there'
echo 'failed two' >>suite/instrumented.results/tests
bad 'a test that fails' 'only instrumented: failed two'
echo 'passed two' >>suite/instrumented.results/tests
bad 'a test that is run twice' '2 tests native, 3 instrumented'
: >suite/native.results/tests
: >suite/instrumented.results/tests
bad 'no tests' 'no test was run'
for oddity in unmatched_enters unmatched_exits unknown_resyncs backwards holes problems dropped; do
	sed -i "2s/\"$oddity\":0/\"$oddity\":3/" suite/instrumented.results/facts
	bad "$oddity" "the trace of 'two': 3 $oddity"
done
echo '{"label":"three","unreadable":true}' >>suite/instrumented.results/facts
bad 'a trace that cannot be read' "the trace of 'three' cannot be read"
sed -i 's/"events":[0-9]*/"events":0/' suite/instrumented.results/facts
bad 'nothing recorded' 'nothing was recorded'
echo 'f: profile 1, callgrind 2' >suite/instrumented.results/main.differs
bad 'counts that differ' 'f: profile 1, callgrind 2'
