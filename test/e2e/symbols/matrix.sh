#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that names and source lines of all functions in a program are those that nm, addr2line,
# llvm-symbolizer and libdw tell, for clang and gcc, DWARF 4 and 5, position-independent and static
# executables, debug information in the program, in .dwo files and in a .dwp file; and that the
# table is the same to the byte when the debug information is compressed (zlib, zstd, the old
# .zdebug) or in a file of its own, found by a build ID of 20 or 8 bytes or by a link without any.
# With TEEPERF_FULL=1 each form of each.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
for tool in addr2line objcopy readelf gcc g++ clang-19 dwp; do
	command -v $tool >/dev/null || skip "$tool is not there (tools/setup)"
done
mkdir src
# Opening braces are on the line of the name: addr2line tells where the body begins.
cat >src/part.h <<'EOS'
#define KEEP __attribute__((noinline))
static KEEP int part(int x) {
	__asm__ volatile("");
	return x - 1;
}
static inline int folded(int x) {
	return x * 3 ^ part(x);
}
EOS
cat >src/lib.c <<'EOS'
#include "part.h"
void abort(void);
static KEEP int twice(int x) {
	__asm__ volatile("");
	return 2 * folded(x);
}
int shared_step(int x) {
	if (__builtin_expect(x == 77, 0))
		abort();
	return twice(x) + 1;
}
__attribute__((cold)) int seldom(int x) {
	return twice(x) * 5;
}
#line 500 "src/generated.y"
KEEP int parse(int n) {
	return seldom(n) + 1;
}
EOS
cat >src/nested.c <<'EOS'
int nested(int x);
#ifdef __clang__
int nested(int x) {
	return x + 1;
}
#else
int nested(int x) {
	__attribute__((noinline)) int inner(int y) {
		__asm__ volatile("");
		return x + y;
	}
	return inner(x) + inner(2);
}
#endif
EOS
cat >start.cpp <<'EOS'
#include "part.h"
#define STEP folded
EOS
cat start.cpp "$lib/symbols_outer.h" - >src/main.cpp <<'EOS'
extern "C" int parse(int x);
extern "C" int nested(int x);
namespace outer {
inline namespace v2 {
KEEP int level(int x) {
	struct Local {
		KEEP int of(int y) {
			asm volatile("");
			return y;
		}
	};
	return Local().of(x) + nested(x);
}
} // namespace v2
} // namespace outer
int main() {
	outer::Derived derived;
	outer::Base *base = &derived;
	asm volatile("" : "+r"(base));
	int x = parse(3);
	for (int i = 0; i < 10; i++)
		x += base->run(i) + outer::level(i);
	return *base < x && x == -1;
}
EOS

# compile DIR COMPILER FLAGS...: the objects.
compile() {
	dir=$1 cc=$2
	shift 2
	mkdir -p "$dir"
	cxx=g++
	[ "$cc" = gcc ] || cxx=clang++-19
	for file in lib nested; do
		$cc "$@" -O2 -fno-omit-frame-pointer -fPIE -c src/$file.c -o "$dir/$file.o"
	done
	$cxx "$@" -O2 -fno-omit-frame-pointer -fPIE -fno-exceptions -c src/main.cpp -o "$dir/main.o"
}

# table OUT ARGS...: what teeperf says, without a word of complaint.
table() {
	csv=$1
	shift
	expect 0 "$TEEPERF" symbols --no-symbol-cache "$@"
	[ ! -s err ] || fail "$*: $(cat err)"
	cp out "$csv"
}

# agree WHAT FILE ARGS...: teeperf's table of FILE is what others say.
agree() {
	label=$1 file=$2
	shift 2
	table agree.csv "$file"
	python3 "$lib/symbols_matrix.py" agree.csv "$file" 14 "$@" >said || {
		cat said >&2
		fail "$label"
	}
	echo "$label: $(tail -1 said)"
}

# same WHAT FILE ARGS...: the table of FILE is the one that was compared last.
same() {
	label=$1
	shift
	table same.csv "$@"
	cmp -s agree.csv same.csv || {
		diff agree.csv same.csv >&2 || true
		fail "$label: other names or lines than in the plain program"
	}
}

# separate WHAT FILE ID: FILE's debug information in a file of its own, found in each way.
separate() {
	form=$1 plain=$2
	rm -rf apart debug
	mkdir -p apart/.debug debug/sub
	objcopy --only-keep-debug "$plain" apart/app.debug
	objcopy --strip-all --add-gnu-debuglink=apart/app.debug "$plain" apart/app
	same "$form, beside it" apart/app
	mv apart/app.debug apart/.debug/
	same "$form, in .debug" apart/app
	mv apart/.debug/app.debug debug/
	same "$form, in --debug-dir" --debug-dir nowhere --debug-dir debug apart/app
	mkdir -p "debug$PWD/apart"
	mv debug/app.debug "debug$PWD/apart/"
	same "$form, in --debug-dir and the path" --debug-dir debug apart/app
	# Compressed in there, as Debian's are.
	objcopy --compress-debug-sections "debug$PWD/apart/app.debug" apart/packed
	objcopy --remove-section=.gnu_debuglink apart/app
	cp apart/packed apart/app.debug
	objcopy --add-gnu-debuglink=apart/app.debug apart/app
	same "$form, compressed" apart/app
}

for compiler in clang-19 gcc; do
	for dwarf in 4 5; do
		what="$compiler DWARF $dwarf"
		# libdw finds units by .debug_aranges, which clang does not write.
		cxx=clang++-19 libdw=
		[ $compiler = clang-19 ] || cxx=g++ libdw=libdw
		[ "$what" != 'gcc DWARF 5' ] || libdw='libdw wrong-files'
		compile plain $compiler -gdwarf-$dwarf -g
		for kind in -pie -static; do
			$cxx $kind plain/*.o -Wl,--build-id -o app
			agree "$what $kind" app $libdw
			[ $kind = -pie ] || [ "$TEEPERF_FULL" = 1 ] || continue
			for how in zlib zlib-gnu zstd; do
				objcopy --compress-debug-sections=$how app packed
				readelf -SW packed | grep -q '\.debug_info.* C \|\.zdebug_info' ||
					fail "objcopy did not compress ($how)"
				same "$what $kind $how" packed
			done
			separate "$what $kind, ID of 20 bytes" app
		done
		# gcc and clang have linkers that make other IDs.
		for id in '--build-id=0x0102030405060708' --build-id=none; do
			[ $dwarf = 5 ] || [ "$TEEPERF_FULL" = 1 ] || continue
			$cxx -pie plain/*.o -Wl,$id -o app
			table agree.csv app
			separate "$what $id" app
		done
		# Split: in .dwo files, and those packed.
		compile split $compiler -gdwarf-$dwarf -g -gsplit-dwarf
		$cxx -pie split/*.o -Wl,--build-id -o app
		# binutils' addr2line reads what gcc splits off in DWARF 4 only.
		[ "$what" != 'gcc DWARF 5' ] || libdw='libdw no-addr2line'
		# Debian's libdwarf finds no inlined functions in them.
		agree "$what, split" app $libdw no-inlines
		rm -rf elsewhere
		mv split elsewhere
		same "$what, .dwo elsewhere" --debug-dir elsewhere app
		for packer in 'dwp -o app.dwp' 'llvm-dwp-19 -o app.dwp'; do
			[ "$packer" = 'dwp -o app.dwp' ] ||
				command -v llvm-dwp-19 >/dev/null || continue
			# binutils' dwp knows DWARF 5 not at all.
			case "$packer $dwarf" in 'dwp -o app.dwp 5') continue ;; esac
			$packer elsewhere/*.dwo
			same "$what, $packer" app
			rm app.dwp
		done
		expect 0 "$TEEPERF" symbols --no-symbol-cache app
		says "the split debug information of 3 compilation units was not found \(the first is '.*\.dwo'\)" err
	done
done
