#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that hostile/host-against-runtime sees what it is there to see: copies of the runtime in
# which one of the rules at the top of runtime/runtime.h is broken die, hang or compute something
# else under the same hostile host.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
from=$root/test/hostile
# The program puts guards around the log.
wrap="-Wl,--wrap=tp_port_reserve -Wl,--wrap=tp_port_map_whole"
${CC:-cc} -O1 -I "$root/include" -o host "$from/hostile_host.c" ||
	skip "no C compiler (CC=${CC:-cc})"
printf 'fun:*\nfun:*only_counted*=count\nfun:*only_sampled*=sample/7\n' >levels.allow
"$TEEPERF" c++ --allowlist levels.allow -O1 -pthread -I "$root/include" -c -o program.o \
	"$from/hostile_program.cpp"
"$TEEPERF" cc -O1 -shared -fPIC -o library.so "$from/hostile_library.c"

copy() {
	rm -rf runtime
	cp -r "$root/runtime" .
	# The other platforms.
	rm runtime/apart.c
	for port in runtime/port/*.c; do
		case $port in
		*posix_stream*) rm "$port" ;;
		*posix* | *elf_image*) ;;
		*) rm -f "$port" ;;
		esac
	done
}

# build: ./program with the runtime in runtime/.
build() {
	rm -rf objects
	mkdir objects
	for file in runtime/*.c runtime/port/*.c runtime/arch/*.S; do
		registers=-mgeneral-regs-only
		case $file in */port/* | */elf_segments.c) registers= ;; esac
		${CC:-cc} -O2 -fPIC -ftls-model=initial-exec -ffreestanding -fno-stack-protector \
			$registers -I . -I "$root/include" -c "$file" -o "objects/${file##*/}.o"
	done
	${CXX:-c++} -rdynamic -pthread -o program program.o objects/*.o -ldl $wrap
}

# mutant NAME SEED STEP FILE SED...: the host finds that something is wrong.
mutant() {
	name=$1
	seed=$2
	step=$3
	file=$4
	shift 4
	copy
	for script; do
		cp runtime/"$file" before
		sed -i "$script" runtime/"$file"
		! cmp -s before runtime/"$file" || fail "mutant '$name' changes nothing: $script"
	done
	build
	got=0
	./host ./program "$TEST_TMP/library.so" 6000 "$seed" "$step" 20 >out 2>err || got=$?
	if [ $got = 0 ] && grep -q ' stepped=0$' out && [ "$step" = 8 ]; then
		echo "$name: not tried, as no program can be stepped through here"
		return
	fi
	[ $got = 1 ] || fail "mutant '$name' was not found out: $(cat out)"
	echo "$name: $(cat err)"
}

copy
build
./host ./program "$TEST_TMP/library.so" 500 1 1 120 || fail "the runtime as it is"

mutant 'chunk numbers as the host gives them' 1 1 thread.c \
	's/((chunk_plus_1 - 1) & tp_process.chunk_mask) << /(chunk_plus_1 - 1) << /' \
	's/(slot & tp_process.chunk_mask) + 1/(slot \& 0xffffff) + 1/'
mutant 'areas need not fit' 0 4 attach.c \
	's/return offset % 8 == 0 .*/return offset + count + size + limit != 1;/'
mutant 'the offset of the chunks is read twice' 4 8 attach.c \
	's/process->chunks = (uint64_t)(uintptr_t)bytes + chunks;/process->chunks = (uint64_t)(uintptr_t)bytes + tp_load_relaxed(\&header->chunks_offset);/'
[ "${TEEPERF_FULL:-0}" != 0 ] || exit 0

mutant 'the base is read again' 1 1 thread.c \
	's/return tp_process.chunks + /return (uint64_t)(uintptr_t)tp_process.header + tp_process.header->chunks_offset + /'
mutant 'the mask is read again' 1 1 thread.c \
	's/tp_process.chunk_mask/(tp_process.header->chunk_count - 1)/'
mutant 'the table of states is where the header says' 1 1 thread.c \
	's/&tp_process.states\[\(.*\)\]/(uint64_t *)((char *)tp_process.header + tp_process.header->state_offset) + (\1)/'
mutant 'threads are numbered in the log' 1 1 thread.c \
	's/&tp_process.next_thread, 1/\&tp_process.header->thread_count, 1/' \
	's/return tp_thread.index <= tp_process.thread_mask/return 1/' \
	's/&tp_process.threads\[tp_thread.index & tp_process.thread_mask\]/\&tp_process.threads[tp_thread.index]/'
mutant 'it waits for a chunk' 1 1 thread.c 's/i < DRAW_TRIES/1/' \
	's/} else if (tp_load_relaxed(&header->tail) == ticket) {/} else if (0) {/'
