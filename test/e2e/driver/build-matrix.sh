#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Programs however they are compiled, linked and stripped: the calls that the program counts itself
# are those of the profile, under their names. TEEPERF_FULL=1 tries all combinations that are
# listed.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >app.c <<'EOS'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

unsigned long alphas, betas, gammas;
__attribute__((noinline)) static int alpha(int x)
{
	__asm__ volatile("" ::: "memory");
	alphas++;
	return x + 1;
}
__attribute__((noinline)) int beta(int x)
{
	betas++;
	return alpha(x) + alpha(x + 1);
}
__attribute__((noinline)) static void *gamma_thread(void *argument)
{
	gammas++;
	for (int i = 0; i < 100; i++)
		*(int *)argument += beta(i);
	return argument;
}
__attribute__((noinline)) int unused_function(int x)
{
	return x * 3;
}
int main(void)
{
	int sum = 0;
	pthread_t thread;
	if (pthread_create(&thread, NULL, gamma_thread, &sum))
		return 1;
	pthread_join(thread, NULL);
	gamma_thread(&sum);
	printf("alpha %lu\nbeta %lu\ngamma_thread %lu\nmain 1\n", alphas, betas, gammas);
	return 0;
}
EOS

# measure NAME COMMAND...: what it records is what it counts.
measure() {
	name=$1
	shift
	expect 0 "$TEEPERF" record -q -o run.trace -- "$@"
	awk '{ print $1 "," $2 }' out | sort >wanted
	"$TEEPERF" analyze run.trace --format csv 2>notes >top.csv
	sed 1d top.csv | cut -d, -f1,2 | sort >got
	cmp -s wanted got || fail "$name: the counts differ: $(cat wanted got notes | tr '\n' ' ')"
	! grep -Eq 'problem|by address|damag' notes || fail "$name: $(cat notes)"
	tried=$((tried + 1))
}
tried=0

# try OPTIONS...: as a whole, the options of one build.
try() {
	case "$*" in *-flto*) lto "$TEEPERF" cc -g "$@" app.c -o app -lpthread || return 0 ;; esac
	"$TEEPERF" cc -g "$@" app.c -o app -lpthread 2>cc.err || {
		# An lld of another LLVM, which a clang took that has none of its own, reads no
		# bitcode of this one.
		grep -q 'invalid linker name\|unable to find\|cannot find\|Producer: .* Reader: ' \
			cc.err && {
			echo "not tried, not there: $*"
			return
		}
		fail "$*: $(cat cc.err)"
	}
	measure "$*" ./app
	case $(sed -n 's/^alpha,.*\/\(app.c,[0-9]*\),.*/\1/p' top.csv) in
	app.c,*) ;;
	*) fail "$*: the source is not told: $(cat top.csv)" ;;
	esac
}

try -O1
try -O2 -static
try -O2 -static-pie
try -O2 -no-pie
try -O2 -flto -fuse-ld=lld -Wl,--icf=all,--gc-sections -ffunction-sections
try -O2 -flto=thin -fuse-ld=lld
try -O0 -fcf-protection=full -fstack-protector-strong -fstack-clash-protection -mno-red-zone
try -O2 -fsanitize=address,undefined
try -O2 -fsanitize=thread
try -O2 -fuse-ld=mold
try -O2 -mcmodel=large -no-pie
if [ "${TEEPERF_FULL-}" = 1 ]; then
	for linker in bfd gold lld mold; do
		for level in -O0 -O2; do
			for kind in '' -static -static-pie -no-pie; do
				# gold has no option that this needs.
				[ "$linker$kind" != gold-static-pie ] || continue
				for more in '' '-ffunction-sections -Wl,--gc-sections' \
					'-Wl,-z,now,-z,relro' '-fno-plt -fomit-frame-pointer' \
					'-fno-omit-frame-pointer'; do
					try $level $kind $more -fuse-ld=$linker
				done
			done
		done
	done
	for lto in -flto -flto=thin; do
		for kind in '' -static -static-pie -no-pie; do
			for icf in none safe all; do
				try -O2 $lto $kind -fuse-ld=lld -Wl,--icf=$icf -ffunction-sections
			done
		done
	done
	for kind in -fcf-protection=full -fstack-protector-strong -fstack-clash-protection \
		-mno-red-zone '-mcmodel=medium' '-mcmodel=large -fPIC' -fsanitize=undefined \
		-fsanitize=address -fsanitize=leak '-fsanitize=thread -O0' \
		'-march=native' '-m64 -mavx2' '-fno-asynchronous-unwind-tables'; do
		try -O1 $kind
	done
fi

# Two functions that the linker has merged: all calls are shown, under one of their names.
cat >same.c <<'EOS'
#include <stdio.h>
unsigned long calls;
__attribute__((noinline)) int first(int x) { calls++; return x * 7 + 1; }
__attribute__((noinline)) int second(int x) { calls++; return x * 7 + 1; }
int (*volatile one)(int) = first;
int (*volatile other)(int) = second;
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 50; i++)
		sum += one(i) + other(i);
	printf("%lu %d\n", calls, one == other);
	return sum == 0;
}
EOS
if "$TEEPERF" cc -g -O1 -ffunction-sections -fuse-ld=lld -Wl,--icf=all same.c -o same 2>cc.err; then
	expect 0 "$TEEPERF" record -q -o run.trace -- ./same
	"$TEEPERF" analyze run.trace --format csv 2>notes >top.csv
	[ "$(awk -F, '$1 == "first" || $1 == "second" { sum += $2 } END { print sum }' top.csv)" = \
		100 ] || fail "folded functions: $(cat top.csv)"
fi

# Stripped: with its debug file by build ID, with nothing but the dynamic symbols, with nothing.
"$TEEPERF" cc -O1 -g -rdynamic app.c -o app -lpthread -Wl,--build-id
id=$(readelf -n app | sed -n 's/.*Build ID: //p')
rest=${id#??}
mkdir -p "debug/.build-id/${id%"$rest"}"
objcopy --only-keep-debug app "debug/.build-id/${id%"$rest"}/$rest.debug"
strip --strip-all app
expect 0 "$TEEPERF" record -q -o run.trace -- ./app
awk '{ print $1 "," $2 }' out | sort >wanted
"$TEEPERF" analyze --debug-dir debug run.trace --format csv 2>notes >top.csv
sed 1d top.csv | cut -d, -f1,2 | sort >got
cmp wanted got || fail "debug file by build ID: $(cat top.csv notes)"
says '^alpha,.*/app.c,' top.csv
"$TEEPERF" analyze run.trace --format csv 2>notes >top.csv
says '^beta,200,' top.csv
says '^app\+0x[0-9a-f]*,400,' top.csv
says 'symbol|debug' notes
"$TEEPERF" cc -O1 -g app.c -o app -lpthread
strip --strip-all app
expect 0 "$TEEPERF" record -q -o run.trace -- ./app
"$TEEPERF" analyze run.trace --format csv 2>notes >top.csv
says '^app\+0x[0-9a-f]*,400,' top.csv
says '^app\+0x[0-9a-f]*,200,' top.csv
says 'symbol|debug' notes
echo "$tried builds"
