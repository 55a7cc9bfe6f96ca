# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
# The server of Debian's source package of Redis, and its own client for load.
bench_names=redis

bench_prepare() {
	fetch redis
}

bench_build() {
	rm -rf "$2.tree"
	cp -R "$bench_source/redis" "$2.tree"
	(
		unset MAKEFLAGS MAKELEVEL MFLAGS
		make -C "$2.tree/src" -j"$jobs" MALLOC=libc CC="$CC" OPTIMIZATION= OPT="$CFLAGS" \
			LDFLAGS="$LDFLAGS" redis-server redis-benchmark redis-cli
	)
	cp "$2.tree/src/redis-server" "$2"
	cp "$2.tree/src/redis-benchmark" "$2-benchmark"
	cp "$2.tree/src/redis-cli" "$2-cli"
	rm -rf "$2.tree"
}
