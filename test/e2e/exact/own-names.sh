#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions of a program that are named like those of the C library that a runtime needs, linked to
# shared libraries and statically, with glibc and musl: nobody calls them but the program, recorded
# or not, and they are recorded exactly.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
names="mmap munmap open openat close fstat readlink readlinkat realpath getpid gettid prctl syscall
	sigaction secure_getenv getauxval dl_iterate_phdr pthread_atfork pthread_key_create
	pthread_setspecific"

cat >library.c <<'EOS'
int in_library(int x)
{
	__asm__ volatile("");
	return x + 1;
}
EOS
cat >app.c <<'EOS'
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
enum { TIMES = 100 };
void call_own(int x);
void print_own(void);
int in_library(int x);
static void *work(void *unused)
{
	for (int i = 0; i < TIMES; i++)
		call_own(in_library(i));
	return unused;
}
int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	pthread_join(thread, NULL);
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		call_own(0); // not ours any more
		_exit(0);
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 1;
	print_own();
	printf("call_own %d\nin_library %d\nmain 1\nprint_own 1\nwork 1\n", TIMES, TIMES);
	return 0;
}
EOS

# build OUT NAMES OPTIONS...: a program with its own functions of these NAMES.
build() {
	out=$1
	own=$2
	shift 2
	{
		echo '#include <stdio.h>'
		for name in $own; do
			echo "static int calls_$name;"
			echo "__attribute__((noinline)) int $name(int x)"
			echo "{ calls_$name++; __asm__ volatile(\"\"); return x + 1; }"
		done
		echo 'void call_own(int x) {'
		for name in $own; do
			echo "	x = $name(x);"
		done
		echo '}'
		echo 'void print_own(void) {'
		for name in $own; do
			printf '\tprintf("%s %%d\\n", calls_%s);\n' $name $name
		done
		echo '}'
	} >own.c
	"$TEEPERF" cc -O1 -g -fno-builtin -w "$@" own.c -c -o own.o
	"$TEEPERF" cc -O1 -g "$@" app.o own.o -pthread $library -o "$out"
}

# try WHAT: ./app runs the same without a recorder and with one, which sees all calls.
try() {
	expect 0 ./app
	sort out >wanted
	for name in $own; do
		grep -Fxq "$name 100" wanted || fail "$1: somebody else called '$name'"
	done
	expect 0 "$TEEPERF" record -q -o app.trace -- ./app
	sort out | cmp - wanted || fail "$1: it ran otherwise while it was recorded"
	"$TEEPERF" analyze --format csv app.trace 2>notes | sed 1d | cut -d, -f1,2 | tr , ' ' |
		sort >got
	cmp got wanted || fail "$1: $(diff wanted got) $(cat notes)"
	facts app.trace lost=0
}

"$TEEPERF" cc -O1 -g -c app.c
"$TEEPERF" cc -O1 -g -fPIC -shared library.c -o libown.so
library="-L. -lown -Wl,-rpath,$PWD"
build app "$names"
try "all names"
"$TEEPERF" cc -O1 -g -c library.c
library=library.o
build app "$names" -static
try "all names, static"
for name in pthread_key_create pthread_setspecific pthread_atfork dl_iterate_phdr; do
	build app $name -static
	try "own $name, static"
done
# musl has no other name for these two, and a static program no table of names.
build app "$(echo $names | sed 's/ pthread_atfork / /; s/ pthread_setspecific$//')" -static
needs musl-gcc
include=/usr/include/$(uname -m)-linux-musl
for how in -static -pie; do
	"$TEEPERF" cc -O1 -g -fPIE -nostdlibinc -isystem "$include" -c app.c
	"$TEEPERF" cc -O1 -g -fPIE -nostdlibinc -isystem "$include" -fno-builtin -w -c own.c
	musl-gcc $how app.o own.o library.o "$TEEPERF_BUILD/lib/libteeperf.a" -o app
	try "all names, musl, $how"
done
