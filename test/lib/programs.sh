# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Real programs that several tests record, built by the first of them and kept in the build folder;
# after e2e.sh. They are built again where the compiler is newer.

# sqlite_program LEVEL: sets $sqlite, SQLite's shell, made into one file by its own build; with
# DWARF 4 for valgrind. Its sources are below $sources. False, with a reason, where it cannot be
# fetched.
sqlite_program() {
	real_program "sqlite$1" build_sqlite "$1" && sqlite=$real/sqlite sources=$real/sqlite3
}
build_sqlite() {
	fetched sqlite3 || return 77
	(cd sqlite3 && ./configure --disable-tcl && make sqlite3.c shell.c) &&
		# The default switches: no allocator's own sizes, which differ under valgrind.
		"$TEEPERF" cc "$1" -gdwarf-4 -Isqlite3 -o sqlite sqlite3/sqlite3.c sqlite3/shell.c
}

# lua_program LEVEL: sets $lua, Lua's interpreter, in the folder of its $sources; as above.
# lua_switches are those that it is compiled with, without PIE: Lua's own for what it otherwise
# takes from addresses and the clock: the seed of its hashes, the pivot of long sorts, the place of
# a C string in a cache. Some keys are addresses of static objects.
lua_switches="-fno-pie '-Dluai_makeseed(L)=1' '-Dl_randomizePivot()=0' -DSTRCACHE_N=1 -DSTRCACHE_M=1"
lua_program() {
	real_program "lua$1" build_lua "$1" && lua=$real/lua5.4/src/lua sources=$real/lua5.4/src
}
build_lua() {
	fetched lua5.4 || return 77
	# Debian's first two patches serve its packaging; without them it is Lua with its own
	# makefile.
	for patch in 0002-lua-modules-paths 0001-build-system; do
		patch -d lua5.4 -R -p1 -s <"lua5.4/debian/patches/$patch.patch" || return
	done
	make -s -C lua5.4/src linux ALL=lua CC="$TEEPERF cc" MYLDFLAGS=-no-pie \
		MYCFLAGS="$1 -gdwarf-4 $lua_switches"
}

fetched() {
	fetched_source=$("$root/tools/fetch-source" "$1") || {
		echo "the source package '$1' cannot be fetched here"
		return 1
	}
	cp -R "$fetched_source" "$1"
}

# real_program NAME BUILD ARGUMENT: sets $real to the folder that BUILD has made. BUILD ends with 77
# where it cannot begin.
real_program() {
	real=$TEEPERF_BUILD/test-programs/$1-llvm$(llvm)-${TEEPERF_SHAPE:-default}
	mkdir -p "$TEEPERF_BUILD/test-programs"
	real_status=0
	(
		flock 9
		[ ! -e "$real/done" ] ||
			[ "$(find "$lib/programs.sh" "$TEEPERF" "$TEEPERF_BUILD/lib/libteeperf.a" \
				"$TEEPERF_BUILD/lib/teeperf/llvm-$(llvm)" -newer "$real/done" \
				-print -quit)" ] || exit 0
		rm -rf "$real" && mkdir "$real" && cd "$real" && "$2" "$3" && touch done
	) 9>"$real.lock" >program.log 2>&1 || real_status=$?
	[ $real_status = 0 ] || {
		cat program.log >&2
		[ $real_status = 77 ] || fail "'$1' cannot be built"
		return 1
	}
}
