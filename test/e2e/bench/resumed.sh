#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that benchmarks/run goes on where it was cut off: by the end of its time, or by a signal in
# the middle of a run. At the end it has the same rows as one that was never cut off, each round
# once. Another teeperf begins anew, and so does --fresh. Then what the page makes of known figures.
# The times are not looked at.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
plain_folder
command -v clang-19 >/dev/null || skip "clang 19, which benchmarks compare with, is not there"
bench=$root/benchmarks

# A teeperf that counts how often it records, and hangs where the test says so.
cat >teeperf <<EOS
#!/bin/sh
case "\$*" in
record*startup/tp*)
	echo recorded >>"$PWD/recorded"
	if [ -e "$PWD/hang" ] && [ "\$(wc -l <"$PWD/recorded")" = 2 ]; then
		echo >"$PWD/hanging"
		exec sleep 1000
	fi
	;;
esac
exec "$TEEPERF" "\$@"
EOS
chmod +x teeperf
measure() {
	"$bench/run" --mini --teeperf ./teeperf --only startup --variants 'tsc none' --rounds 2 "$@"
}
# rows STATE: what was measured, without the numbers; each run once.
rows() {
	sort -u "$1/rows.tsv" >all
	[ "$(wc -l <all)" = "$(wc -l <"$1/rows.tsv")" ] ||
		fail "a line of $1 is there twice: $(cat "$1/rows.tsv")"
	awk -F'\t' -v OFS='\t' \
		'{ print $1, $2, $3, $4, ($1 == "figure" ? $5 : "") }' "$1/rows.tsv" | sort
}

expect 0 measure --work whole
rows whole/state-mini >expected
for variant in native tsc none; do
	for round in 1 2; do
		[ "$(grep -c "^done	startup	$variant	$round" expected)" = 1 ] ||
			fail "round $round of $variant: $(cat expected)"
	done
done

# The time is over at once: each turn does one thing nevertheless, so it ends.
turns=0
while :; do
	turns=$((turns + 1))
	[ $turns -lt 40 ] || fail "it never ends: $(cat err)"
	measure --work turns --max-time 0s >out 2>err && break || [ $? = 75 ] ||
		fail "exit status: $(cat out err)"
	says 'start it again to go on' err
done
[ $turns -gt 2 ] || fail "only $turns turns: it does not stop"
says 'goes on where it was' err
rows turns/state-mini >found
cmp -s expected found || fail "other rows after turns: $(diff expected found)"

# A signal while a program is being measured.
rm recorded
touch hang
"$bench/run" --mini --teeperf ./teeperf --only startup --variants 'tsc none' --rounds 2 \
	--work cut >out 2>err &
run=$!
await_true '[ -e hanging ]' 'the run that hangs'
kill $run
wait $run && fail "it went on" || [ $? = 130 ] ||
	fail "exit status of one that was ended: $(cat err)"
rm hang
[ "$(grep -c '^done' cut/state-mini/rows.tsv)" -ge 1 ] || fail "nothing was kept"
# What a killed one may leave: figures without an end, and half a line.
printf 'figure\tstartup\ttsc\t9\tprogram_wall\t1\nfigure\tstart' >>cut/state-mini/rows.tsv
expect 0 measure --work cut
says 'goes on where it was' err
rows cut/state-mini >found
cmp -s expected found || fail "other rows after a signal: $(diff expected found)"

# All is done: nothing is measured again, until it is another teeperf, or --fresh.
: >recorded
expect 0 measure --work cut
[ ! -s recorded ] || fail "it measured again what it had"
expect 0 measure --work cut --fresh
says 'begins anew, as --fresh demands' err
[ -s recorded ] || fail "--fresh measured nothing"
rows cut/state-mini.before >found
cmp -s expected found || fail "the figures of before are gone"
echo '# changed' >>teeperf
expect 0 measure --work cut
says 'begins anew, since .* another teeperf' err
rows cut/state-mini >found
cmp -s expected found || fail "other rows of another teeperf: $(diff expected found)"
[ -s cut/mini.md ] || fail "there is no page"
says '^\| machine, of all rows \| .*, [0-9]+ cores, (in a|no) virtual machine' cut/mini.md
says '^\| TeePerf, tsc \| .* \| 2 \| [0-9.]+; [0-9.]+ \|' cut/mini.md
expect 129 measure --max-time soon
says "'soon' is not a time" err
