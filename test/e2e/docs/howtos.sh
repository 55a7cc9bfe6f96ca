#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each command of the how-to guides works, run in their order on a small program with threads.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

PATH=$(dirname "$TEEPERF"):$PATH
export PATH
cat >app.c <<'EOS'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
__attribute__((noinline)) static void parse_line(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) static void handle_request(int n)
{
	pthread_mutex_lock(&lock);
	parse_line(n);
	if (n % 50 == 0)
		usleep(1000);
	pthread_mutex_unlock(&lock);
}
static void *serve(void *none)
{
	for (int i = 0; i < 200; i++)
		handle_request(i);
	return none;
}
int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	serve(NULL);
	return pthread_join(thread, NULL);
}
EOS
expect 0 "$TEEPERF" cc -O2 -g -pthread -o app app.c
for name in server app.before app.after; do
	cp app $name
done
mkdir traces
expect 0 "$TEEPERF" record -q -o traces/1.trace -- ./server
printf '+ fun:handle_request\n' >hot.list
python3 "$lib/run_howtos.py" "$root"/docs/howto/*.md
