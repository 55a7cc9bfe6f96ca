#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that what 'fleet serve' answers is what 'fleet query' and 'analyze' say of the same runs,
# before and after compact, and that runs which are added meanwhile are seen; that only files are
# read that a request needs, and sums are not made twice; that other hosts, methods and paths are
# refused; and that slow clients do not hold up others for ever.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

server=
trap '[ -z "$server" ] || kill $server 2>/dev/null || true' EXIT
# serve ARGUMENT...: its address is in $url.
serve() {
	: >url
	"$TEEPERF" fleet serve "$@" >url 2>served &
	server=$!
	while [ ! -s url ]; do
		kill -0 $server 2>/dev/null || {
			grep -q 'without libmicrohttpd' served &&
				skip "built without libmicrohttpd-dev"
			cat served >&2
			fail "the server has ended"
		}
		sleep 0.05
	done
	url=$(cat url)
}
end() {
	kill -TERM $server
	got=0
	wait $server || got=$?
	server=
	[ $got = 0 ] || fail "exit status $got when it was told to end: $(cat served)"
}
# fetch PATH: the answer is in out, its status in $status.
fetch() {
	status=$(curl --noproxy '*' -sS -o out -w '%{http_code}' "$url$1")
}

expect 0 python3 "$lib/fleet_questions.py" make
for text in *.txt; do
	"$TEEPERF" dump --assemble "$text" -o "${text%.txt}.trace"
done
expect 0 "$TEEPERF" fleet add -q --to fleet --host one --git-revision first \
	--label environment=canary worse-0-*.trace same-0-*.trace
expect 0 "$TEEPERF" fleet add -q --to fleet --host two \
	--git-revision second worse-1-*.trace same-1-*.trace
expect 0 "$TEEPERF" fleet add -q --to growing worse-0-0.trace

expect 129 "$TEEPERF" fleet serve
expect 129 "$TEEPERF" fleet serve --listen 127.0.0.1:port fleet
expect 129 "$TEEPERF" fleet serve --listen :8000 fleet
expect 129 "$TEEPERF" fleet serve --listen ::1:8000 fleet
expect 129 "$TEEPERF" fleet serve --listen 127.0.0.1:70000 fleet
expect 1 "$TEEPERF" fleet serve .
says 'is not a folder of a fleet' err

serve fleet
case $url in
http://127.0.0.1:[0-9]*/) ;;
*) fail "it is at $url, not on this machine alone" ;;
esac
expect 0 python3 "$lib/fleet_serve.py" numbers "$TEEPERF" fleet "$url" worse-*.trace same-*.trace
expect 0 python3 "$lib/fleet_serve.py" hostile "$url"
expect 0 python3 "$lib/fleet_serve.py" slow "$url"
# The port is taken.
port=${url##*:}
expect 1 "$TEEPERF" fleet serve --listen "127.0.0.1:${port%/}" fleet
says 'cannot listen' err
end

# The names that --host gives, and no others.
serve --host fleet.example fleet
port=${url##*:}
port=${port%/}
[ "$(curl --noproxy '*' -sS -o out -w '%{http_code}' -H "Host: fleet.example:$port" "$url")" = \
	200 ] || fail "--host is not served"
[ "$(curl --noproxy '*' -sS -o out -w '%{http_code}' -H "Host: other.example:$port" "$url")" = \
	421 ] || fail "another host is served"
end

# Files of another day or program, and of tables that are not asked for, may be no files at all.
cp -R fleet partly
for file in partly/functions/day=*/program=same/run=*/*.parquet \
	partly/profile/day=2023-11-15/program=*/run=*/*.parquet \
	partly/calls/day=*/program=*/run=*/*.parquet; do
	[ ! -e "$file" ] || echo nothing >"$file"
done
serve partly
fetch 'api/functions?a.program=worse'
[ "$status" = 200 ] || fail "functions of a program: $(cat out)"
fetch 'api/flame?a.program=worse&a.day=2023-11-14'
[ "$status" = 200 ] || fail "flame graph of a day: $(cat out)"
run=$(find partly/runs/day=2023-11-14/program=worse -name 'run=*' | sed -n '1s/.*run=//p')
echo nothing >"partly/functions/day=2023-11-14/program=worse/run=$run/functions.parquet"
fetch "api/functions?a.program=worse&a.not=$run"
[ "$status" = 200 ] || fail "functions without a run: $(cat out)"
fetch 'api/functions?a.program=same'
[ "$status" = 500 ] || fail "a file that is none was read"
says 'functions.parquet' out
# What was read is not read again: with another cut, and beside another set.
for file in partly/*/day=2023-11-14/program=worse/run=*/*.parquet; do
	case $file in partly/runs/*) ;; *) echo nothing >"$file" ;; esac
done
fetch 'api/flame?a.program=worse&a.day=2023-11-14&least=0.1'
[ "$status" = 200 ] || fail "the sums of a set were made twice: $(cat out)"
fetch 'api/functions?a.program=worse&search=lookup'
[ "$status" = 200 ] || fail "the sums of a set were made twice: $(cat out)"
fetch "api/flame?a.program=worse&a.day=2023-11-14&a.not=$run"
[ "$status" = 500 ] || fail "another set has the sums of this one: $status $(cat out)"
end

# A pipe in the place of a file has nobody at its other end.
cp -R fleet pipe
file=$(find pipe/functions/day=2023-11-14/program=worse -name functions.parquet | head -n 1)
rm "$file"
mkfifo "$file"
serve pipe
fetch 'api/functions?a.program=worse'
[ "$status" = 500 ] || fail "a pipe in a fleet is read: $(cat out)"
says 'is not a regular file' out
end

# More labels than anybody asks for hold up nobody.
serve fleet
fetch "api/functions?$(printf 'a.label=k%%3Dv&%.0s' $(seq 65))"
[ "$status" = 400 ] || fail "65 labels: $status $(cat out)"
says 'more than 64 labels' out
end

# Of 6,001 functions that are light, all that are not sent are said to be left out.
awk 'BEGIN {
	print "clock kind=tsc hz=1000000000\nsymbols"
	for (i = 0; i <= 6000; i++) printf "\tsymbol 0x%x f%d\n", 4096 + 16 * i, i
	print "chunk\n\t0 enter f0\n\t1000000 exit f0"
	for (i = 1; i <= 6000; i++) {
		if (i % 1000 == 0) print "chunk sequence=" i / 1000
		printf "\t%d enter f%d\n\t%d exit f%d\n", 1000000 + 2 * i, i, 1000001 + 2 * i, i
	}
	print "end"
}' >many.text
expect 0 "$TEEPERF" dump --assemble many.text -o many.trace
expect 0 "$TEEPERF" fleet add -q --to many many.trace
serve many
fetch 'api/flame?least=0.5'
[ "$status" = 200 ] || fail "$(cat out)"
python3 - out <<'END'
import json
import sys
answer = json.load(open(sys.argv[1], encoding="utf-8"))
sent = len(answer["functions"]["name"])
left = answer["pruned"]["functions"]
if sent != 5000 or sent + left != 6001 or max(answer["paths"]["fn"]) > sent:
    sys.exit(f"{sent} functions are sent, {left} are said to be left out")
END
end

# With no memory for sums they are read each time.
serve --memory 0 fleet
fetch 'api/functions?a.program=same'
[ "$status" = 200 ] || fail "$(cat out)"
fetch 'api/flame?a.program=same'
[ "$status" = 200 ] || fail "$(cat out)"
end

# Runs that come while it runs.
serve growing
fetch api/runs
cp out before
expect 0 "$TEEPERF" fleet add -q --to growing worse-0-1.trace
fetch api/runs
[ "$(grep -o '"run_id"' before | wc -l)/$(grep -o '"run_id"' out | wc -l)" = 1/2 ] ||
	fail "$(cat before out)"
end

# One file of many runs.
expect 0 "$TEEPERF" fleet compact -q fleet
serve fleet
expect 0 python3 "$lib/fleet_serve.py" numbers "$TEEPERF" fleet "$url" worse-*.trace same-*.trace
end
