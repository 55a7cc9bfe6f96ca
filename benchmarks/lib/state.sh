# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# What has been measured so far, so that a run which was cut off goes on where it was. A state is a
# folder:
#
#   identity   what its figures belong to: the machine, the teeperf and the benchmarks that
#              were measured
#   about      when it began, and at which commit
#   rows.tsv   figure BENCH VARIANT ROUND KEY VALUE      times in ns
#              skip BENCH VARIANT REASON                 what does not work here
#              done BENCH VARIANT ROUND SECONDS LOAD OTHERS
#
# A run of one variant in one round is whole when its line `done` is there; it is added together
# with the run's figures, and what stands behind the last `done` or `skip` is dropped at the next
# start. LOAD is the load average before the run, OTHERS how many processors' worth of other work
# there was during it.
#
# Uses: work, here, size, llvm; sets state and rows.

# state_identity: what figures must have in common to stand in one table.
state_identity() {
	echo "machine	$(machine_cpu), $(nproc) cores, $(uname -sr)"
	echo "compilers	$(cksum <"$work/compilers")"
	echo "teeperf	$(sort "$work/teeperf.stamp" | cksum)"
	# Not what only prints.
	echo "benchmarks	$(cd "$here" && find . -path ./results -prune -o -type f \
		! -name '*.md' ! -path './lib/*.py' ! -path ./lib/plot -exec cksum {} + |
		sort -k 3 | cksum)"
}

# state_open: go on with the state of this size, or begin anew and say why.
state_open() {
	state=$work/state-$size
	rows=$state/rows.tsv
	state_identity >"$work/identity"
	why=
	if [ -n "$fresh" ]; then
		why='as --fresh demands'
	elif [ -s "$state/identity" ]; then
		changed=$(diff "$state/identity" "$work/identity" |
			sed -n 's/^> \([a-z]*\).*/\1/p' | tr '\n' ' ')
		[ -z "$changed" ] ||
			why="since this is not what was measured there: another $(echo $changed |
				sed 's/ / and another /g')"
	fi
	if [ -n "$why" ] && [ -e "$state/identity" ]; then
		rm -rf "$state.before"
		mv "$state" "$state.before"
		say "begins anew, $why; the figures of before are in $state.before"
	fi
	if [ ! -s "$state/identity" ]; then
		rm -rf "$state" "$work/variants" "$work"/flavours/*/try.*
		mkdir -p "$state"
		: >"$rows"
		{
			echo "started	$(date -u +%Y-%m-%dT%H:%M:%SZ)"
			echo "commit	$(machine_commit)"
		} >"$state/about"
		cp "$work/identity" "$state/identity.new"
		mv "$state/identity.new" "$state/identity"
		return 0
	fi
	# A line that is not whole has no end.
	[ -z "$(tail -c 1 "$rows")" ] || sed -i '$d' "$rows"
	awk -F'\t' '{ line[NR] = $0 } $1 != "figure" { last = NR }
		END { for (i = 1; i <= last; i++) print line[i] }' "$rows" >"$rows.new"
	mv "$rows.new" "$rows"
	found=$(grep -c '^done' "$rows" || true)
	[ "$found" = 0 ] || say "goes on where it was: $found runs are done"
}

# state_load BENCH: its finished units as " VARIANT/ROUND VARIANT/skip ... ".
state_load() {
	units=" $(awk -F'\t' -v bench="$1" '
		$2 != bench { next }
		$1 == "done" { print $3 "/" $4 }
		$1 == "skip" { print $3 "/skip" }' "$rows" | tr '\n' ' ')"
}

# state_has VARIANT ROUND: whether nothing is left to do there.
state_has() {
	case $units in
	*" $1/$2 "* | *" $1/skip "*) return 0 ;;
	esac
	return 1
}

# state_begin, and state_end BENCH VARIANT ROUND: around a run; lines "KEY VALUE" are in
# $work/figures.
state_begin() {
	begun_load=$(cut -d' ' -f1 /proc/loadavg)
	begun=$(state_clock)
	: >"$work/figures"
}

# The time in s, the processor time that the machine has spent, and that of ended children of this
# shell, in ticks.
state_clock() {
	awk '
		FILENAME == "/proc/uptime" { now = $1 }
		FILENAME == "/proc/stat" && $1 == "cpu" { busy = $2 + $3 + $4 + $7 + $8 + $9 }
		FILENAME ~ /[0-9]/ { sub(/^.*\) /, ""); own = $14 + $15 + $12 + $13 }
		END { print now, busy, own }' /proc/uptime /proc/stat "/proc/$$/stat" 2>/dev/null
}

state_end() {
	{
		awk -v OFS='\t' -v prefix="figure$(printf '\t%s' "$1" "$2" "$3")" \
			'NF == 2 { print prefix, $1, $2 }' "$work/figures"
		printf 'done\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" \
			"$(echo "$begun $(state_clock)" | awk -v load_begun="$begun_load" '
			{
				seconds = $4 - $1
				# Ticks are hundredths of a second.
				others = seconds > 0.2 ? ($5 - $2 - ($6 - $3)) / 100 / seconds : 0
				if (others < 0)
					others = 0
				printf "%.2f\t%s\t%.2f", seconds, load_begun, others
			}')"
	} >"$work/unit.tsv"
	cat "$work/unit.tsv" >>"$rows"
	units="$units$2/$3 "
	runs_now=$((runs_now + 1))
	progress=$((progress + 1))
}

# skip BENCH VARIANT: why is in reason. Said once while running; the tables say it in each row.
skip() {
	grep '^skip' "$rows" | cut -f3,4 | grep -Fxq "$2$(printf '\t')$reason" ||
		say "  $2: not run: $reason"
	printf 'skip\t%s\t%s\t%s\n' "$1" "$2" "$reason" >>"$rows"
	units="$units$2/skip "
}

# state_seconds BENCH ROUND: how long that round took.
state_seconds() {
	awk -F'\t' -v bench="$1" -v round="$2" \
		'$1 == "done" && $2 == bench && $4 == round { sum += $5 }
		END { printf "%d", sum + 0.999 }' "$rows"
}

# state_time SECONDS: stop, to go on another time, unless there is time for something that takes so
# long.
state_time() {
	# Each turn does something, also if it takes longer than all of the time.
	if [ -z "$deadline" ] || [ $progress = 0 ]; then
		return 0
	fi
	left=$((deadline - $(date +%s)))
	if [ $left -le 0 ] || [ "$1" -gt $left ]; then
		finish stopped
	fi
}
