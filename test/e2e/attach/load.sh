#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# record --pid of a server of one thread that has 500 connections, all of which want something all
# the time: it is stopped wherever it is, in any of its system calls. No client sees an error, no
# answer is missing, and each recording has all calls that were made while it was on, both bodies.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

rounds=5
[ "${TEEPERF_FULL:-}" != 1 ] || rounds=50
clients=500
[ "$(ulimit -n)" -gt $((clients + 50)) ] || ulimit -n 1024 2>/dev/null || skip 'too few descriptors'

${CC:-cc} -O1 -o client "$lib/busy_client.c"
mkfifo more
for shape in plain dual; do
	flags=
	[ $shape = plain ] || flags=--shape=dual
	"$TEEPERF" cc $flags -O1 -I "$root/include" -o server "$lib/busy_server.c"
	rm -f socket
	begin server ./server socket
	program=$begun
	await server.out ready
	begin client sh -c 'exec ./client socket "$1" <more' sh $clients
	exec 4>more
	await client.out begun
	for round in $(seq $rounds); do
		attach $shape --size 64M 4>&-
		expect 0 "$TEEPERF" ctl stop "$recorder"
		ended 0 record
		await_true '[ "$(grep -c ^served server.out)" = $round ]' \
			'the end of the recording, in the server'
		facts $shape.trace end_sections=1
		# Where the recorder cannot keep up, calls are lost, and are counted.
		[ "$(fact lost)" = 0 ] || continue
		sure=$(sed -n "s/^served //p" server.out | sed -n "${round}p")
		"$TEEPERF" analyze --format csv $shape.trace >top.csv 2>err
		for function in work leaf; do
			calls=$(sed -n "s/^$function,\([0-9]*\),.*/\1/p" top.csv)
			# One may have begun before the server looked, and one may have ended behind
			# that.
			[ "${calls:-0}" -ge "$sure" ] && [ "${calls:-0}" -le $((sure + 2)) ] ||
				fail "$function has ${calls:-0} calls, the server has made $sure to $((sure + 2))"
		done
	done
	exec 4>&-
	ended 0 client
	ended 5 server
	answers=$(sed -n 's/^answers //p' client.out)
	says "^over $answers\$" server.out
done
