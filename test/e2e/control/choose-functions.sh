#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# teeperf ctl only, add and drop: how functions are named, the status, and refused requests.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/choose.sh"
private_shm || true
fake= # the functions are where the trace says

cat >calls.c <<'EOF'
#include <stdio.h>
#define KEEP __attribute__((noinline, used))
KEEP void parse_line(void) { __asm__ volatile(""); }
KEEP void parse_word(void) { __asm__ volatile(""); }
KEEP void other(void) { __asm__ volatile(""); }
int lib_call(void);
int main(void)
{
	char line[8];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < 10; i++) {
			parse_line();
			parse_word();
			other();
			lib_call();
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
EOF
printf 'int lib_call(void) { __asm__ volatile(""); return 1; }\n' >lib.c
"$TEEPERF" cc -O1 -shared -fPIC -o libcall.so lib.c
"$TEEPERF" cc -O1 -o calls calls.c ./libcall.so

# start OPTIONS...: record the program, which makes its calls at each round.
rounds=0
start() {
	rm -f in
	mkfifo in
	begin run sh -c 'exec "$@" <in' sh "$TEEPERF" record -o calls.trace "$@" ./calls
	recorder=$begun
	exec 7>in
	await run.out ready
	rounds=0
}
round() {
	rounds=$((rounds + 1))
	echo >&7
	await_true '[ "$(grep -c "^done" run.out)" = "$rounds" ]' "round $rounds"
}
stop() {
	exec 7>&-
	ended 0 run
}
# calls FUNCTION NUMBER: it has NUMBER calls.
calls() {
	says "^$1,$2," top.csv
}

start --control
round # 1: all
choose drop 'parse_*'
expect 0 "$TEEPERF" ctl status "$recorder"
says '^functions  all but 2 functions on a list$' out
says '^choices    1$' out
round # 2: other, lib_call
choose add parse_word
choose drop lib_call
round # 3: other, parse_word
printf 'fun:lib_*\nname:other\n' >list
choose only list
expect 0 "$TEEPERF" ctl status "$recorder"
says '^functions  2 functions on a list$' out
round # 4: other, lib_call
choose add 'src:*calls.c'
choose drop main
round # 5: all
printf 'default:allow\nfun:other=skip\n' >rest
choose only rest
round # 6: all but other
expect 1 "$TEEPERF" ctl drop 'nothing_*' "$recorder"
says "'nothing_\*'.*matches none of the [0-9]* known instrumented functions" err
expect 1 "$TEEPERF" ctl only no-such-list "$recorder"
says no-such-list err
expect 129 "$TEEPERF" ctl drop "$recorder"
expect 129 "$TEEPERF" ctl on other "$recorder"
expect 1 "$TEEPERF" ctl drop other --module list "$recorder"
stop
expect 0 "$TEEPERF" analyze --strict --format csv calls.trace
mv out top.csv
calls parse_line 30 # 1, 5, 6
calls parse_word 40 # 1, 3, 5, 6
calls other 50      # but 6
calls lib_call 50   # but 3
expect 0 "$TEEPERF" analyze calls.trace
says '^changed    the choice of functions changed 7 times: 5 of those with calls were recorded for a part of the time only' out

# Beginning with a choice, which is widened.
start --control --only list
round
choose add parse_line
round
stop
expect 0 "$TEEPERF" analyze --strict --format csv calls.trace
mv out top.csv
calls parse_line 10
calls other 20
! grep -q '^parse_word,' top.csv || fail 'a function that was never chosen has calls'

# Functions with several names, of which the pass knows one: their calls that run end where they are
# dropped.
cat >names.cpp <<'EOF'
#include <cstdio>
#define KEEP __attribute__((noinline, used))
static inline __attribute__((always_inline)) void step(const char *text)
{
	char line[8];
	puts(text);
	fflush(stdout);
	while (!fgets(line, sizeof(line), stdin))
		;
}
extern "C" KEEP void leaf() { __asm__ volatile(""); }
extern "C" KEEP void sibling() { leaf(); __asm__ volatile(""); }
struct Thing {
	KEEP Thing();
	KEEP ~Thing();
};
Thing::Thing() { step("constructs"); leaf(); __asm__ volatile(""); }
Thing::~Thing() { step("destroys"); leaf(); __asm__ volatile(""); }
extern "C" KEEP void origin() { step("origin"); leaf(); __asm__ volatile(""); }
extern "C" KEEP void another() __attribute__((alias("origin")));
extern "C" KEEP void constructs() { Thing thing; sibling(); }
extern "C" KEEP void originates() { origin(); sibling(); __asm__ volatile(""); }
int main() { constructs(); sibling(); originates(); step("ends"); }
EOF
"$TEEPERF" c++ -O1 -o names names.cpp
rm -f in
mkfifo in
begin run sh -c 'exec "$@" <in' sh "$TEEPERF" record --control -o names.trace ./names
recorder=$begun
exec 7>in
await run.out constructs
choose drop 'Thing::Thing*'
echo >&7
await run.out destroys
choose drop 'Thing::~Thing*'
echo >&7
await run.out origin
choose drop origin
echo >&7
await run.out ends
echo >&7
stop
expect 0 "$TEEPERF" analyze names.trace
says '^cut        3 calls were running when their function was dropped' out
expect 0 "$TEEPERF" analyze --view tree --min-share 0 --format csv names.trace
says '^0,2,constructs,1,' out
[ "$(grep -c '^0,[23],sibling,1,' out)" = 3 ] ||
	fail 'calls after a dropped one have it as their caller'

# Where it cannot be.
start --control --follow-fork
expect 1 "$TEEPERF" ctl drop other "$recorder"
says "the selection cannot be changed with 'record --follow-fork'" err
stop
start --control --clock none
expect 1 "$TEEPERF" ctl drop other "$recorder"
says 'without a clock' err
stop

# A program that does not listen obeys later.
start
expect 0 "$TEEPERF" ctl drop other "$recorder"
says 'obeys when it next takes a chunk of the log' err
expect 1 "$TEEPERF" ctl drop main "$recorder"
says 'has not read the last selection yet: try again when it has' err
expect 0 "$TEEPERF" ctl status "$recorder"
says '^choices    1, the last one pending: the program has not read it yet$' out
stop

# A list means the same here as for 'record --only', where a later line overrules an exact name,
# too.
printf 'src:*calls.c\nfun:other\nsrc:*calls.c=skip\nfun:main\n' >odd
start --control --only odd
expect 0 "$TEEPERF" ctl status "$recorder"
grep '^functions' out >first
choose only odd
expect 0 "$TEEPERF" ctl status "$recorder"
grep '^functions' out >then
cmp first then || fail 'ctl only has chosen other functions than record --only'
# The program has its own name. Choices leave gaps in the trace, which are no switches.
choose drop mod:calls
"$TEEPERF" ctl off "$recorder" >out 2>err || says 'has not obeyed yet' err
await_true '"$TEEPERF" ctl status "$recorder" >status && grep -q "^switches   1$" status' \
	'one switch'
# Names that nothing has change nothing.
expect 1 "$TEEPERF" ctl drop nosuch "$recorder"
says "'nosuch'.*matches none of the [0-9]* known instrumented functions.*--module" err
expect 0 "$TEEPERF" ctl status "$recorder"
says '^choices    2$' out
stop

# Before the program has come, choices add up.
cat >later.sh <<'EOF'
read -r line
exec ./calls
EOF
rm -f in
mkfifo in
begin run sh -c 'exec "$@" <in' sh "$TEEPERF" record --control -o calls.trace sh later.sh
recorder=$begun
exec 7>in
await_true '"$TEEPERF" ctl status "$recorder" >status 2>&1' 'the recorder'
expect 0 "$TEEPERF" ctl drop other --module ./calls "$recorder"
says 'it will begin with these functions' err
expect 0 "$TEEPERF" ctl drop parse_word --module ./calls "$recorder"
expect 0 "$TEEPERF" ctl status "$recorder"
says '^choices    2, pending: no program has attached yet$' out
says '^functions  all but 2 functions on a list$' out
echo >&7
await run.out ready
rounds=0
round
stop
expect 0 "$TEEPERF" analyze --strict --format csv calls.trace
mv out top.csv
calls parse_line 10
! grep -Eq '^(other|parse_word),' top.csv || fail 'a function that was dropped has calls'

# The trace grows with what the lists differ by, not with the square of that.
for list in 1 2; do
	awk -v list=$list \
		'BEGIN { for (i = 0; i < 1000; i++) print "fun:f" list "_" i }' >many.$list
done
start --control
for list in 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2; do
	choose only many.$list
done
stop
size=$(wc -c <calls.trace)
# The last section has 940,000 bytes; all 20 of them, each a little longer, would have 9,600,000.
[ "$size" -lt 7000000 ] || fail "the trace has $size bytes"
