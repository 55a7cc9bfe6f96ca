#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# join, on traces that are written as text: whose call is whose by numbers, by times, and where
# neither shows it; host code that is not marked; marks that are missing or reported twice; jumps on
# both sides; a TEE that lies. In all of them the host's own calls, and their times, are those of
# its own trace.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# side NAME FUNCTION...: both have their modules at the same addresses.
side() {
	echo 'clock kind=tsc hz=1000000000'
	echo 'modules'
	printf '\tmodule bias=0x400000 start=0x400000 end=0x410000 path="/%s"\n' "$1"
	echo 'symbols'
	shift
	at=4198400
	for name; do
		printf '\tsymbol %d %s\n' $at "$name"
		at=$((at + 16))
	done
}

# The text of a trace of each, from standard input on.
host() {
	{
		side host main work ecall ocall leaf
		cat
		echo end
	} >host.txt
	expect 0 "$TEEPERF" dump --assemble -o host.trace host.txt
}
tee_side() {
	{
		side tee entry inner proxy
		cat
		echo end
	} >tee.txt
	expect 0 "$TEEPERF" dump --assemble -o tee.trace tee.txt
}

# Calls of the host with their times, in its own trace and in the joined one.
host_is_kept() {
	for trace in host joined; do
		expect 0 "$TEEPERF" query --format csv $trace.trace \
			"SELECT c.thread, f.function, c.start_ns, c.end_ns, c.how FROM calls c
				JOIN functions f ON f.fn = c.fn
				WHERE f.module = 'host' ORDER BY 1, 3, 4 DESC, 2"
		mv out $trace.calls
	done
	diff host.calls joined.calls >&2 || fail "the host's own calls have changed"
}

# joined WARNING: standard input is the paths, with the times in their last function; '': there is
# no warning.
joined() {
	cat >wanted
	expect 0 "$TEEPERF" join -q -o joined.trace host.trace tee.trace
	if [ "$1" ]; then
		says "$1" err
	elif [ -s err ]; then
		cat err >&2
		fail "there is something to warn of"
	fi
	expect 0 "$TEEPERF" export --format folded -o - joined.trace
	sed 's/^program;//' out | grep -v ' 0$' | LC_ALL=C sort | diff wanted - >&2 ||
		fail "the joined trace is another"
	host_is_kept
}

# ---- numbers, and a call back
host <<'END'
chunk
	0 enter main
	10 enter ecall
	20 call-out
	crossing 7
	40 call-in
	crossing 9
	41 enter ocall
	49 exit ocall
	50 return-out
	100 return-in
	110 exit ecall
	120 exit main
counters
	meter flags=1 name="page-faults"
	reading 5 meter=0 value=2
	reading 9 meter=0 cause=4 value=9
energy
	meter name="energy" note="no RAPL"
END
tee_side <<'END'
chunk
	25 call-in
	crossing 7
	30 enter entry
	35 enter proxy
	36 call-out
	crossing 9
	55 return-in
	60 exit proxy
	65 exit entry
	70 return-out
END
joined '' <<'END'
main 20
main;ecall 65
main;ecall;entry 10
main;ecall;entry;proxy 17
main;ecall;entry;proxy;ocall 8
END
expect 0 "$TEEPERF" analyze --view transitions --format csv joined.trace
sed '1d' out | cut -d, -f1,10 | sort >counted
printf '1,entry\n1,ocall\n' | diff - counted >&2 || fail "the transitions are others"
# What was counted of the host's process is of both.
expect 0 "$TEEPERF" query --format csv joined.trace \
	"SELECT counter, amount FROM counters UNION SELECT domain, note FROM energy"
printf 'counter,amount\nenergy,no RAPL\npage-faults,7\n' | diff - out >&2 ||
	fail "the counters of the host are lost"

# ---- no numbers, the call back is not marked, all at one time: one call for each that the TEE
# makes
host <<'END'
chunk
	0 enter main
	10 enter ecall
	10 call-out
	10 enter ocall
	10 exit ocall
	10 enter leaf
	10 exit leaf
	10 return-in
	10 exit ecall
	20 exit main
END
tee_side <<'END'
chunk
	10 call-in
	10 enter entry
	10 call-out
	10 return-in
	10 enter inner
	10 exit inner
	10 call-out
	10 return-in
	10 exit entry
	10 return-out
END
expect 0 "$TEEPERF" join -q -o joined.trace host.trace tee.trace
expect 0 "$TEEPERF" dump joined.trace
awk '$1 == 10 && $2 ~ /^e/ { print $2, $3 }' out >order
cat >wanted <<'END'
enter 0x401020
enter 0x11000
enter 0x401030
exit 0x401030
enter 0x11010
exit 0x11010
enter 0x401040
exit 0x401040
exit 0x11000
exit 0x401020
END
diff wanted order >&2 || fail "the order of records at one time is another"
host_is_kept

# ---- two threads, no numbers: one at a time leaves no doubt, two at a time do
host <<'END'
chunk thread=0
	0 enter work
	10 call-out
	100 return-in
	110 exit work
	200 enter work
	210 call-out
	300 return-in
	310 exit work
chunk thread=1
	50 enter work
	60 call-out
	150 return-in
	160 exit work
END
tee_side <<'END'
chunk thread=0
	70 call-in
	70 enter entry
	90 exit entry
	90 return-out
	220 call-in
	220 enter inner
	230 exit inner
	230 return-out
chunk thread=1
	110 call-in
	110 enter inner
	120 exit inner
	120 return-out
END
joined '' <<'END'
thread 0;work 190
thread 0;work;entry 20
thread 0;work;inner 10
thread 1;work 100
thread 1;work;inner 10
END
sed -i 's/^\t110 call-in/\t98 call-in/; s/^\t110 enter/\t99 enter/; s/^\t120 exit/\t99 exit/; s/^\t120 return/\t99 return/' tee.txt
expect 0 "$TEEPERF" dump --assemble -o tee.trace tee.txt
joined '2 calls of the TEE could be' <<'END'
TEE 2;entry 20
thread 0;work 210
thread 0;work;inner 10
thread 1;work 110
END

# ---- marks that are reported twice count once; missing ones end the open calls
host <<'END'
chunk
	0 enter main
	10 call-out
	crossing 3
	10 call-out
	40 return-in
	40 return-in
	50 call-out
	crossing 4
	60 enter leaf
	70 exit leaf
	80 call-out
	crossing 5
	100 return-in
	120 exit main
END
tee_side <<'END'
chunk
	11 call-in
	crossing 3
	11 call-in
	12 enter entry
	20 exit entry
	21 return-out
	21 return-out
	82 call-in
	crossing 5
	84 enter entry
	86 enter inner
	90 exit entry
	92 enter proxy
END
joined '' <<'END'
main 96
main;entry 10
main;entry;inner 4
main;leaf 10
END

# ---- jumps: the host's positions are others now; the TEE's stay in its own call
host <<'END'
chunk
	0 enter main @main
	10 enter work @work
	20 call-out
	crossing 1
	50 return-in
	60 enter leaf
	70 resync work @work
	80 enter ecall
	85 call-out
	crossing 2
	90 return-in
	95 resync main @main
	100 exit main
END
tee_side <<'END'
chunk
	21 call-in
	crossing 1
	22 enter entry @entry
	24 enter inner
	26 enter inner
	30 resync entry @entry
	40 exit entry
	45 return-out
	86 call-in
	crossing 2
	87 enter inner
	88 resync entry 1
	89 return-out
END
joined '' <<'END'
main 15
main;work 42
main;work;ecall 14
main;work;ecall;inner 1
main;work;entry 12
main;work;entry;inner 2
main;work;entry;inner;inner 4
main;work;leaf 10
END

# ---- exits without times end at the next time of the TEE; what was only counted is counted
host <<'END'
chunk
	0 enter main
	20 call-out
	crossing 1
	50 return-in
	60 exit main
END
tee_side <<'END'
chunk
	22 call-in
	crossing 1
	23 enter entry
	24 enter inner
	exit inner
	exit entry
	30 return-out
	counts 1
	count inner 4
END
joined '' <<'END'
thread 0;main 53
thread 0;main;entry 1
thread 0;main;entry;inner 6
END
expect 0 "$TEEPERF" query --format csv joined.trace \
	"SELECT function, calls, counted_calls FROM functions ORDER BY function"
says '^inner,5,4$' out

# ---- a TEE that lies: times of another world, functions of the host, a stranger's calls
host <<'END'
chunk
	1000 enter main
	1010 call-out
	crossing 1
	1020 call-in
	crossing 2
	1021 enter ocall
	1022 exit ocall
	1023 return-out
	1050 return-in
	1060 exit main
END
tee_side <<'END'
chunk
	1012 call-in
	crossing 1
	7 enter entry
	5 enter 0x800000
	8 exit 0x800000
	exit proxy
	9 exit 0x900000
	9000000000 enter inner
	3 call-out
	crossing 2
	2 return-in
	4 return-out
	1 call-in
	crossing 1
	6 enter inner
	4294967296 call-out
END
expect 1 "$TEEPERF" join -o joined.trace host.trace tee.trace
says 'records? of the TEE' err
says 'no call of the host into the TEE is joined' err
host_is_kept
# In place of the host's trace, which has another name.
cp host.trace own.trace
ln own.trace kept.trace
expect 1 "$TEEPERF" join -o own.trace own.trace tee.trace
cmp own.trace joined.trace
cmp kept.trace host.trace

# ---- events that are missing in the host's trace are still missing
host <<'END'
chunk sequence=0
	0 enter main
	20 call-out
	crossing 1
	50 return-in
chunk sequence=3
	60 exit main
END
tee_side <<'END'
chunk
	22 call-in
	crossing 1
	23 enter entry
	24 exit entry
	30 return-out
END
expect 1 "$TEEPERF" join -o joined.trace host.trace tee.trace
expect 1 "$TEEPERF" analyze joined.trace
says '2 chunks' err

# ---- two that do not belong together, and a place that is not there
printf 'clock kind=soft-tsc hz=1000000000\nchunk\nend\n' >other.txt
expect 0 "$TEEPERF" dump --assemble -o other.trace other.txt
expect 1 "$TEEPERF" join -o x.trace host.trace other.trace
says 'have different clocks' err
[ ! -e x.trace ] || fail "a trace was written"
expect 1 "$TEEPERF" join -o missing/x.trace tee.trace tee.trace
# A host that has called into no TEE.
host <<'END'
chunk
	0 enter main
	60 exit main
END
printf kept >old.trace
for output in x.trace old.trace; do
	expect 1 "$TEEPERF" join -o $output host.trace tee.trace
	says "'host.trace'.*nothing of 'tee.trace' can be joined: the host's trace marks no call into a TEE" err
done
[ ! -e x.trace ] || fail "a trace was written"
[ "$(cat old.trace)" = kept ] || fail "what was there was replaced"

# ---- marks of both sides, and of outside, keep their times, names and places
host <<'END'
clock kind=tsc hz=1000000000
	point 0 1000
	point 1000 2000
chunk
	0 enter main
	5 phase-begin "all of it"
	10 call-out
	crossing 7
	100 return-in
	100 mark "back from the TEE"
	105 phase-end "all of it"
	110 exit main
marks
	marked 1050 name="outside"
END
tee_side <<'END'
chunk
	25 call-in
	crossing 7
	30 enter entry
	35 mark "in the TEE"
	40 phase-begin "inner"
	50 phase-end "inner"
	65 exit entry
	70 return-out
END
joined '' <<'END'
main 75
main;entry 35
END
expect 0 "$TEEPERF" query --format csv joined.trace \
	"SELECT thread, kind, name, start_ns, end_ns FROM marks"
diff - out >&2 <<'END' || fail "the marks of the joined trace"
thread,kind,name,start_ns,end_ns
0,phase,all of it,5,105
0,mark,in the TEE,35,
0,phase,inner,40,50
,mark,outside,50,
0,mark,back from the TEE,100,
END
