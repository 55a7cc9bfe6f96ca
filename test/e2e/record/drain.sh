#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that whenever the log is drained, the trace is the same: nothing is lost that has room, and
# what has none is counted; and that draining late begins early enough to recycle a small log.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake

# 2 million records are 245 chunks; the log has 8, so each policy but 'end' must recycle.
for drain in now late; do
	expect 0 "$TEEPERF" record -o wait.trace --drain $drain --size 512K ./fake 2000000 0 wait
	facts wait.trace records=2000000 lost=0 draws=245 chunks_sections=245 host.drain=$drain
done

# At the end only: 8 chunks of 8184 records, whatever the mode.
for mode in stream full; do
	expect 0 "$TEEPERF" record -o end.trace --drain end --mode $mode --size 512K ./fake 100000 0
	facts end.trace records=65472 lost=34528 draws=8 host.drain=end
done
expect 0 "$TEEPERF" record -o full.trace --drain late --mode full --size 512K ./fake 100000 0
facts full.trace records=65472 lost=34528 draws=8 host.drain=late

# A log that is large enough: late and end write it all when the program has ended.
for drain in late end; do
	expect 0 "$TEEPERF" record -o big.trace --drain $drain --size 64M ./fake 2000000 0
	facts big.trace records=2000000 lost=0 draws=245
done

# Whatever is ready at the start, the rest follows in time.
for ready in 0 1M 1G; do
	expect 0 "$TEEPERF" record -o ready.trace --size 16M --ready $ready ./fake 2000000 0 wait
	facts ready.trace records=2000000 lost=0
done

# On two cores the soft clock's thread helps: the same records, each once. With a short period it
# has no time for it, and it does not pack.
cores=$(taskset -pc $$ 2>/dev/null | sed 's/.*: //' | tr ',' '\n' |
	awk -F- '{ for (i = $1; i <= $NF; i++) print i }' | sed 2q | paste -s -d, -)
case $cores in
*,*)
	for how in "--drain late" "--drain now" "--clock-period 500" "--compress"; do
		# The program waits for chunks that come back: 237 of 245.
		# shellcheck disable=SC2086 # several words
		expect 0 taskset -c "$cores" "$TEEPERF" record -o helped.trace --clock soft \
			--size 512K $how ./fake 2000000 0 wait
		facts helped.trace records=2000000 lost=0 draws=245
		[ "$how" = --compress ] || facts helped.trace chunks_sections=245
		helped=$(fact host.helped_chunks)
		case $how in
		--drain*)
			[ "${helped:-0}" -ge 237 ] ||
				fail "no help with '$how': ${helped:-0} chunks"
			;;
		*) [ -z "$helped" ] || fail "help with '$how': $helped chunks" ;;
		esac
	done
	;;
*) echo "record/drain: one core: no clock that helps" ;;
esac

# Without a word, it depends on the cores.
expect 0 "$TEEPERF" record -o auto.trace ./fake 10 0
facts auto.trace records=10
cores=$(fact host.cores)
case $(fact host.clock) in
soft*) cores=$((cores - 1)) ;;
esac
[ "$cores" -gt 1 ] && wanted=now || wanted=late
[ "$(fact host.drain)" = "$wanted" ] || fail "drain is $(fact host.drain), not $wanted"

# A program that is quiet is drained all the same, so that little is lost if the recorder is killed.
begin quiet "$TEEPERF" record -o quiet.trace --drain late ./fake 20000 pause
await quiet.out ready
await_true 'facts quiet.trace; [ "$(fact chunks_sections)" = 2 ]'
kill -TERM "$(sed -n 's/^ready //p' quiet.out)"
wait "$begun" || true
facts quiet.trace records=20000 lost=0

expect 129 "$TEEPERF" record --drain never ./fake 1 0
says "takes auto\|now\|late\|end, not 'never'" err
