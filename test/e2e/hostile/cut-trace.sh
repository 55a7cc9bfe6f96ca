#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each command that reads traces says by its exit status that one is damaged, and names the file:
# cut off, with a chunk missing, with a wrong byte. What can be read it shows all the same.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# Ten calls of f in each of three chunks, and a function that waits for nobody.
{
	echo 'trace machine=62'
	# What names the recording, for --family.
	sed 's/^/bytes /' <<'EOB'
545053430b000000c000000000000000326a6e9a00000000b8c8cda13e1a442b
5c10000000000000000000000000000000000000000000000000000000000000
00000000000000000000000000000000000000000000000054504552464c4f47
010001000a000010100000000040000000002940000000000010000000000000
0010020000000000001004000000000000101400000000000000290000000000
000800000040000001000000010000001ba0ee7c000000005c10000000000000
001028000000000000000000000000000000000000000000
EOB
	printf 'clock kind=tsc hz=1000000000\n\tpoint 0 5000\n\tpoint 100000 105000\n'
	printf 'host\n\tline "sched=perf"\n\tline "cores=2"\n\tline "calibrate=on"\n'
	printf '\tline "cost_in_ps=1000"\n\tline "cost_out_ps=1000"\n\tline "cost_untimed_ps=1000"\n'
	printf '\tline "cost_in_off_ps=1000"\n\tline "cost_out_off_ps=1000"\n'
	printf 'command\n\tstring "/"\n\tstring "prog"\n'
	printf 'selections\n\tselection 0 time=0 only=0\n\tselection 1 time=9500 only=0\n'
	printf '\tselection 1 time=9500 only=0 hash=0x335f24192ff5d0d4\n'
	printf 'symbols\n\tsymbol 0x401000 main\n\tsymbol 0x401010 f\n'
	printf 'threads\n\tthread tid=100 chunks=3\n'
	printf 'sched from=5000 lost=0\n\tswitch 5500 tid=100 kind=0\n\tswitch 5600 tid=100 kind=1\n'
	printf 'system groups=1\n'
	for chunk in 0 1 2; do
		echo "chunk sequence=$chunk tid=100 time=0"
		[ $chunk != 0 ] || printf '\t0 enter main\n'
		for call in 0 1 2 3 4 5 6 7 8 9; do
			at=$((chunk * 2000 + call * 200 + 100))
			printf '\t%d enter f\n\t%d exit f\n' $at $((at + 50))
		done
	done
	printf '\t9000 exit main\nend chunks=3 chunk-draws=3 threads=1 start=5000 end=14000\n'
} >whole.txt
expect 0 "$TEEPERF" dump --assemble -o whole.trace whole.txt
printf 'teeperf-inventory\t1\nunit\tmain.c\nfile\tmain.c\nfun\tf\texternal\temitted\tfile=#0\tline=1\tstart=9\tinstrs=8\tblocks=1\n' \
	>prog.tpinv
echo 'fun:f' >f.allow

# Three kinds of damage. The last chunk's section ends before that of the end; each is looked for by
# its magic.
python3 - <<'EOP'
import teeperf_abi as abi
data = open("whole.trace", "rb").read()
at, sections = abi.teeperf_trace_header.get("header_size", data), []
while at < len(data):
    section = abi.teeperf_section.read(data, at)
    end = at + abi.teeperf_section.size + (section.size + 7) // 8 * 8
    sections.append((at, end, section.type))
    at = end
chunks = [part for part in sections if part[2] == abi.TEEPERF_SECTION_CHUNK]
assert len(chunks) == 3 and sections[-1][2] == abi.TEEPERF_SECTION_END
open("cut.trace", "wb").write(data[: chunks[2][1] - 20])
open("gap.trace", "wb").write(data[: chunks[1][0]] + data[chunks[1][1] :])
wrong = bytearray(data)
wrong[chunks[1][1] - 12] ^= 4
open("wrong.trace", "wb").write(wrong)
EOP

# A line for each way to read traces: the exit status with a damaged one, and the command; @ is that
# trace, and whole.trace one that is not damaged. All are tried with the whole trace and with the
# one that was cut, and the first of each command with the others.
cat >commands <<'EOC'
1 analyze @
1 analyze --format csv @
1 analyze --format json --view tree @
1 analyze --view threads @
1 analyze --view timeline @
1 analyze --family --view processes @
1 analyze --costs @ whole.trace
1 analyze --watch --interval 1ms @
1 export --format folded -o out.folded @
1 export --format chrome -o out.json @
1 export --format csv -o out.tables @
1 export --format flamegraph -o out.svg @
1 export --format flamegraph --baseline @ -o out.svg whole.trace
1 export --format flamegraph --baseline whole.trace -o out.svg @
1 export --family --format folded -o out.folded @
1 query @ 'SELECT sum(calls) FROM functions'
1 query --attach other=@ whole.trace 'SELECT 1 FROM calls LIMIT 1'
1 report -o page.html @
1 report -o page.html --baseline @ whole.trace
1 diff @ whole.trace
1 diff whole.trace @
1 diff --format json whole.trace whole.trace -- whole.trace @
1 diff --by path whole.trace @
1 what-if @
1 what-if --format csv --function f @
1 dump @
1 dump -o out.txt @
1 fleet add --to fleet @
1 allowlist generate --profile @ -o out.allow
1 allowlist generate --counts @ --inventory prog.tpinv --budget 5% -o out.allow
2 allowlist check --counts @ --inventory prog.tpinv f.allow
2 allowlist explain --counts @ --inventory prog.tpinv f
EOC
seen=
while read -r status command; do
	name=${command%% *}
	traces='whole cut gap wrong'
	case $command in
	# Of the one that was cut it says that the recorder is gone.
	*--watch*) traces='whole gap wrong' ;;
	"$seen "*) traces='whole cut' ;;
	esac
	seen=$name
	for trace in $traces; do
		rm -rf out.* joined.* fleet page.html
		wanted=$status
		case $trace-$command in
		whole-*) wanted=0 ;;
		# A dump shows bytes: it need not know that a chunk is missing.
		gap-dump*) continue ;;
		esac
		line=$(echo "$command" | sed "s/@/$trace.trace/")
		got=0
		eval "\"\$TEEPERF\" $line" >out 2>err </dev/null || got=$?
		[ $got = $wanted ] || {
			cat err >&2
			fail "exit status $got, not $wanted: teeperf $line"
		}
		[ $trace = whole ] || says "$trace\.trace" err
	done
done <commands
