#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --port gramine --counters gramine: what Gramine prints of SGX becomes counters, and
# standard error is passed on as it is. The program prints what Gramine would.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true

cat >main.c <<'EOC'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	work();
	fprintf(stderr, "an error of its own\n");
	if (argc > 1)
		fprintf(stderr,
		    "----- SGX stats for thread 5 -----\n  # of EENTERs:        224\n"
		    "----- Total SGX stats for process 5 -----\n  # of EENTERs:        225\n"
		    "  # of EEXITs:         193\n  # of AEXs:           201\n"
		    "  # of sync signals:   32\n  # of async signals:  0\n");
	printf("on standard output\n");
	if ((argc > 2 && fork() == 0) || (argc > 1 && !strcmp(argv[1], "wait"))) {
		// Has standard error for longer than the recording lasts.
		while (access("go", F_OK))
			usleep(10000);
		fprintf(stderr, "behind the end\n");
		FILE *file = fopen("gone", "w");
		return fclose(file);
	}
	return 3;
}
EOC
"$TEEPERF" cc -O1 -g -o main main.c

show() {
	"$TEEPERF" query --format csv "$1" \
		"SELECT counter, amount, note <> '' FROM counters WHERE counter LIKE 'sgx%'" |
		tr -d '"' | sed 1d
}

expect 3 "$TEEPERF" record -q -o main.trace --port gramine --counters gramine,task-clock ./main x
[ "$(cat out)" = "on standard output" ] || fail "standard output is $(cat out)"
grep -v '^teeperf record: ' err >own || true
cat >wanted <<'EOT'
an error of its own
----- SGX stats for thread 5 -----
  # of EENTERs:        224
----- Total SGX stats for process 5 -----
  # of EENTERs:        225
  # of EEXITs:         193
  # of AEXs:           201
  # of sync signals:   32
  # of async signals:  0
EOT
cmp own wanted || fail "standard error is $(cat own)"
show main.trace >shown
cat >wanted <<'EOT'
sgx-eenters,225,0
sgx-eexits,193,0
sgx-aexs,201,0
sgx-sync-signals,32,0
sgx-async-signals,0,0
EOT
cmp shown wanted || fail "the counters are $(cat shown)"

# Without statistics there is no number.
expect 3 "$TEEPERF" record -q -o none.trace --port gramine --counters gramine ./main
[ "$(show none.trace | grep -c ',,1$')" = 5 ] || fail "the counters are $(show none.trace)"

# A child may print behind the end of the recording, and does not die of it.
got=0
"$TEEPERF" record -q -o child.trace --port gramine \
	--counters gramine ./main x child >child.out 2>child.err || got=$?
[ "$got" = 3 ] || fail "exit status $got, not 3"
show child.trace | grep -qx 'sgx-eenters,225,0' || fail "the counters are $(show child.trace)"
touch go
await_true '[ -e gone ]' "the end of the child"
await child.err 'behind the end'

# Nor does the program if the recorder is killed.
rm -f go gone
begin run "$TEEPERF" record -q -o killed.trace --port gramine --counters gramine ./main wait
await run.err 'of its own'
kill -KILL "$begun"
ended 137 run
touch go
await_true '[ -e gone ]' "the end of the program"
await run.err 'behind the end'

expect 129 "$TEEPERF" record --counters gramine ./main
says "needs '--port gramine'" err
