#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tier: quick
#
# Proves that a session that is killed in the middle, several times, goes on, and that in the end
# each run is there exactly once; that a killed session leaves no program running; that Ctrl-C ends
# one, shows what there is and says how to go on; and that two sessions do not work in one folder.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# It runs until it is killed, except the first few runs, which end by themselves: so each session is
# killed in a run.
cat >work <<'EOF'
#!/bin/sh
echo "$1 $2 $3" >>runs
if [ "$(wc -l <runs)" -ge "$(cat limit)" ]; then
	echo $$ >hanging
	exec sleep 100000
fi
EOF
chmod +x work
cat >plan.toml <<'EOF'
[globals]
sample_size = 4
seed = 11
[factors]
a = [1, 2, 3]
b = ["x", "y"]
[[tasks]]
executable = "./work"
args = ["{{ a }}", "{{ b }}", "{{ iteration }}"]
EOF
: >runs
for round in 1 2 3; do
	echo $(($(wc -l <runs) + 5)) >limit
	rm -f hanging
	begin session "$TEEPERF" experiment plan.toml
	await_true '[ -s hanging ]' 'a run that hangs'
	# Another one is refused meanwhile.
	expect 1 "$TEEPERF" experiment plan.toml
	says "another 'teeperf experiment' works in this folder" err
	kill -KILL $begun
	wait $begun 2>/dev/null || true
	gone "$(cat hanging)"
	# Nothing of the run that was cut counts.
	[ "$(ls plan.results/*/*/result.tsv | wc -l)" = $((4 * round)) ] ||
		fail "round $round: $(ls plan.results/*/*/result.tsv)"
done

# Ctrl-C, which comes as SIGTERM here, as a shell's background jobs ignore SIGINT: what there is, is
# shown.
echo $(($(wc -l <runs) + 3)) >limit
rm -f hanging
begin session "$TEEPERF" experiment plan.toml
await_true '[ -s hanging ]' 'a run that hangs'
kill -TERM $begun
got=0
wait $begun || got=$?
[ $got = 143 ] ||
	fail "it ended with $got, not as a program does that is terminated: $(cat session.err)"
says "interrupted by signal 15, 10 runs are left: 'teeperf experiment plan.toml' continues" \
	session.err
gone "$(cat hanging)"
[ "$(wc -l <plan.results/runs.csv)" = 15 ] || fail "not what there is: $(cat plan.results/runs.csv)"

# To the end: each once, and in the order that the seed gives, as if nothing had happened.
echo 1000000 >limit
expect 0 "$TEEPERF" experiment plan.toml
awk -F, 'NR > 1 { print $4, $5, $6 }' plan.results/runs.csv >order
[ "$(sort order | uniq | wc -l)" = 24 ] && [ "$(wc -l <order)" = 24 ] ||
	fail "not each once: $(cat order)"
for folder in plan.results/*/*/; do
	[ "$(cut -f 2 "$folder/result.tsv" | sed -n 3p)" = done ] || fail "$folder is not done"
done
expect 0 "$TEEPERF" experiment -o whole plan.toml
awk -F, 'NR > 1 { print $4, $5, $6 }' whole/runs.csv | cmp - order ||
	fail "another order without interruptions"
# Runs that were cut ran twice, all others once.
[ "$(wc -l <runs)" = $((24 + 4 + 24)) ] || fail "runs: $(sort runs | uniq -c)"

# A result that is not whole is none.
truncate -s 60 whole/work-native-2-y/3/result.tsv
expect 0 "$TEEPERF" experiment -o whole plan.toml
says '^\[1/1\] work-native-2-y, run 3 of 4' err
