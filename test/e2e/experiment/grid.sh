#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a grid of experiments is run as the plan says: each cell as often, with its arguments,
# environment, folder and commands before and after; that warm-up does not count; that failures and
# timeouts are reported and are in no median; that the tables agree in each format, and with the
# program's work; that a mistake in the plan is reported with its place; and that a changed plan
# does not mix with old results.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >plan.toml <<'EOF'
[globals]
output_directory = "out"
sample_size = 3
warm_up = 1
disk_read_nj_per_byte = 2
disk_write_nj_per_byte = 3

[factors]
size = [1, 20]
mode = ["plain", "with space"]

[variants.other]
kind = "native"
executable = "./work"
env = { KIND = "other" }

[[tasks]]
name = "writes"
executable = "./work"
args = ["{{ size }}", "{{ output_directory }}/file", "{{ mode }}"]
env = { MODE = "{{ mode }}", KIND = "native" }
variants = ["native", "other"]
pre_run_executable = "./note"
pre_run_args = ["before", "{{ task }}", "{{ variant }}", "{{ size }}", "{{ mode }}"]
post_run_executable = "./note"
post_run_args = ["after", "{{ task }}", "{{ variant }}", "{{ size }}", "{{ mode }}"]

[[tasks]]
name = "fails"
executable = "sh"
args = ["-c", "exit {{ size }}"]
factors = { mode = [], size = [0, 3] }
sample_size = 2
warm_up = 0

[[tasks]]
name = "hangs"
executable = "sh"
args = ["-c", "trap '' TERM; sleep 1000 & echo $! >>{{ plan_directory }}/sleepers; wait; wait; sleep 1000"]
factors = { mode = [], size = [] }
sample_size = 1
warm_up = 0
timeout = "3s"
EOF
cat >work <<'EOF'
#!/bin/sh
head -c "$1"000 /dev/zero >"$2"
[ "$3" = "$MODE" ] || exit 9
echo "$KIND $1 $3"
echo problem >&2
EOF
cat >note <<'EOF'
#!/bin/sh
echo "$*" >>steps
EOF
chmod +x work note

# ---- the output before anything runs
expect 0 "$TEEPERF" experiment --dry-run plan.toml
says '^11 experiments, 29 runs, results in .*/out$' out
says '^writes-other-20-with_space: 3 runs, 1 to warm up$' out
says "^    run:      env 'MODE=with space' KIND=native KIND=other .*/work 20 '\{\{ output_directory \}\}/file' 'with space'$" out
[ ! -e out/experiment.tsv ] || fail "a dry run has made a folder"

# ---- the runs
rm -rf results
sed 's/"out"/"results"/' plan.toml >grid.toml
expect 1 "$TEEPERF" experiment --seed 5 grid.toml
says '^teeperf experiment: seed 5$' err
says '^\[[0-9]*/29\] hangs-native, run 1 of 1: .*killed after 3 s$' err
says '2 runs failed and 1 timed out' err
[ "$(cat out)" = "$PWD/results/report.html" ] || fail "the page is not named: $(cat out)"
# Each of 8 experiments ran once to warm up and three times, with a step before and one behind.
[ "$(wc -l <steps)" = 64 ] || fail "steps: $(wc -l <steps)"
[ "$(sort steps | uniq -c | awk '{ print $1 }' | sort -u)" = 4 ] ||
	fail "steps are not alike: $(sort steps | uniq -c)"
for folder in results/writes-*; do
	[ "$(ls "$folder" | tr '\n' ' ')" = "1 2 3 " ] || fail "$folder has $(ls "$folder")"
	[ "$(cat "$folder"/*/stderr | sort -u)" = problem ] || fail "no standard error in $folder"
done
[ "$(cat results/writes-other-20-with_space/2/stdout)" = "other 20 with space" ] ||
	fail "its output is not kept"
[ "$(wc -c <results/writes-native-20-plain/1/data/file)" = 20000 ] || fail "its file is not kept"
# What a run leaves behind is gone: also what ignores a polite request.
[ -s sleepers ] || fail "nothing has slept"
for pid in $(cat sleepers); do
	gone "$pid"
done

# ---- the tables
python3 "$lib/experiment_tables.py" results || fail "the tables are wrong"

# ---- resumed: nothing is left to do, and the page is made again
rm results/report.html steps
expect 1 "$TEEPERF" experiment grid.toml
says '^teeperf experiment: seed 5$' err
[ ! -e steps ] && [ -s results/report.html ] || fail "it has run again, or made no page"
expect 1 "$TEEPERF" experiment --tables grid.toml
# Failed ones again, if that is wanted.
expect 1 "$TEEPERF" experiment --retry grid.toml
[ "$(grep -c '^\[./3\]' err)" = 3 ] || fail "not the three that failed: $(cat err)"

# ---- more of everything: only new experiments run
sed -i 's/^sample_size = 3/sample_size = 4/; s/^size = \[1, 20\]/size = [1, 20, 30]/' grid.toml
expect 1 "$TEEPERF" experiment grid.toml
[ "$(grep -c '^after' steps)" = $((12 + 8 + 16)) ] ||
	fail "not the new ones: $(sort steps | uniq -c)"

# ---- changed settings or another program: refused, or measured anew
sed 's/{{ mode }}"\]$/{{ mode }}", "x"]/' grid.toml >changed.toml
cmp -s grid.toml changed.toml && fail "nothing has changed"
expect 1 "$TEEPERF" experiment changed.toml
says '48 results are of other settings or another program .*--replace' err
rm steps
expect 1 "$TEEPERF" experiment --replace changed.toml
[ "$(grep -c '^after' steps)" = $((48 + 12)) ] || fail "not anew: $(sort steps | uniq -c)"
echo '# another program' >>work
expect 1 "$TEEPERF" experiment changed.toml
says '48 results are of other settings or another program' err

# ---- mistakes
printf '[[tasks]]\nexecutable = "true"\nargs = ["{{ thread }}"]\nnum_threads = [1]\n' >wrong.toml
expect 1 "$TEEPERF" experiment wrong.toml
says "^wrong.toml:3:9: error: '\{\{ thread \}\}' is not a placeholder of task 'true', .*did you mean '\{\{ num_threads \}\}'|^wrong.toml:3:9: error: '\{\{ thread \}\}' is not a placeholder" err
printf '[[tasks]]\nexecutable = "./no-such"\n' >wrong.toml
expect 1 "$TEEPERF" experiment wrong.toml
says "wrong.toml.*2.*program '.*/no-such' does not exist" err
[ ! -e wrong.results/no-such-native ] || fail "something has run"
expect 1 "$TEEPERF" experiment no-such.toml
says 'no-such.toml' err
expect 129 "$TEEPERF" experiment
expect 129 "$TEEPERF" experiment --seed x grid.toml
