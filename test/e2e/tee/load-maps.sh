#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Names of what a TEE's own loader has mapped, where the file that ran has no symbols, no build ID
# and is signed: by UUID and by the hash of its code, from the folder of the build. A file of
# another build never gives names. Stand-ins for SDK and host, as in tee/ports.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
from=$root/test/tee
uuid=8aaaf200-2450-11e4-abe2-0002a5d5c51b
rounds=2000

# build PORT FILE OPTION...: a program of the port that tells no path and has no build ID; the
# options are for its instrumented part.
build() {
	port=$1
	file=$2
	shift 2
	"$TEEPERF" cc --port="$port" --clock=soft "$@" -O2 -g -c -o work.o "$from/work.c"
	${CC:-cc} -O1 -I "$root/include" -DPORT="\"$port\"" -c -o host.o "$from/sdk_host.c" ||
		skip "no C compiler (CC=${CC:-cc})"
	"$TEEPERF" cc --port="$port" -pthread -Wl,--build-id=none \
		-o "$file" work.o host.o ${more:-} -Wl,--defsym=__ImageBase=__executable_start \
		-Wl,--defsym=__text_start=__executable_start
}
more=

# run PROGRAM WORKS: a.trace
run() {
	expect 7 "$TEEPERF" record -o a.trace --size 16M --clock soft -- "./$1" $rounds 1
	works=$2
}

# named DIR...: with these folders the trace has the program's functions, exactly.
named() {
	expect 0 "$TEEPERF" analyze a.trace --view top \
		--format csv $(printf -- '--debug-dir %s ' "$@")
	sed -n '2,$p' out | cut -d, -f1,2 | sort >counted
	{
		echo "deep,$((rounds / 100 * 20))"
		echo "leaf,$((rounds * 2))"
		echo "middle,$rounds"
		echo "work,$works"
	} >wanted
	diff wanted counted >&2 || fail "$* does not give the program's functions"
}

# nameless PATTERN OPTION...: with these options no function has a name, and the reason is reported.
nameless() {
	pattern=$1
	shift
	expect 0 "$TEEPERF" analyze a.trace --view top --format csv "$@"
	sed -n '2,$p' out | cut -d, -f1,2 >counted
	[ "$(grep -Ec '^[^,]*\+0x[0-9a-f]+,[0-9]+$' counted)" = 4 ] ||
		fail "wrong names: $(cat out)"
	says "$pattern" err
}

# ---- a trusted application: UUID and code
mkdir -p ta other empty
build optee ta/$uuid.elf
for tool in strip 'strip --strip-unneeded' 'objcopy --strip-unneeded' \
	'objcopy -S --remove-section=.comment' llvm-strip-19 'llvm-objcopy-19 --strip-unneeded'; do
	command -v ${tool%% *} >/dev/null || continue
	rm -f app
	case $tool in
	*strip*-19\ *|*objcopy*) $tool ta/$uuid.elf app ;;
	*) $tool -o app ta/$uuid.elf ;;
	esac
	nm app 2>&1 | grep -q ' T ' && fail "$tool has left names"
	run app $((rounds / 100))
	named ta
done
"$TEEPERF" dump a.trace >text
says " uuid=8aaaf200245011e4abe20002a5d5c51b code=0x[0-9a-f]+ code-size=0x[0-9a-f]+ code-hash=0x[0-9a-f]+ path=\"\"" text
expect 0 "$TEEPERF" dump --assemble text -o again.trace
cmp a.trace again.trace || fail "what dump shows of modules is not all of it"
nameless "'$uuid': the program did not name its file; its functions have no names: name the folder of a '$uuid.elf' or another file with the code that ran with --debug-dir$"
nameless "there is no '$uuid.elf' or another file with the code that ran in 'empty', 'nowhere'$" \
	--debug-dir empty --debug-dir nowhere
# Whatever the file is called, beside others; not the stripped one.
mkdir -p mixed
cp ta/$uuid.elf mixed/out.elf
cp app mixed/a.stripped.elf
head -c 100 app >mixed/0.cut
echo text >mixed/0.text
: >mixed/0.empty
ln -s nowhere mixed/0.link
mkfifo mixed/0.pipe 2>/dev/null || true
named mixed
named empty mixed
rm mixed/out.elf
nameless "'mixed/a.stripped.elf': it is the recorded file, but stripped: its functions have no names" \
	--debug-dir mixed
# Debug information alone does not have the code.
objcopy --only-keep-debug ta/$uuid.elf mixed/only.debug
nameless "'mixed/a.stripped.elf': it is the recorded file, but stripped" --debug-dir mixed

# ---- another build, under the right name: other code of the same size, other names of the same
# code, and an older file
sed 's/leaf(n + 1)/leaf(n + 2)/' "$from/work.c" >changed.c
sed 's/leaf/other/g; s/middle/leaf/g; s/other/middle/g' "$from/work.c" >renamed.c
for what in changed renamed; do
	"$TEEPERF" cc --port=optee --clock=soft -I "$from" -O2 -g -c -o $what.o $what.c
	mv work.o kept.o
	cp $what.o work.o
	"$TEEPERF" cc --port=optee -pthread -Wl,--build-id=none -o other/$uuid.elf work.o host.o \
		-Wl,--defsym=__ImageBase=__executable_start \
		-Wl,--defsym=__text_start=__executable_start
	mv kept.o work.o
	nameless "'other/$uuid.elf': it is another build than the recorded one \(its code differs\); it is not used$" \
		--debug-dir other
	nameless "its functions have no names: there is no '$uuid.elf' or another file with the code that ran in 'other'$" \
		--debug-dir other
	named other ta
done
objcopy -j .text -O binary other/$uuid.elf renamed.text
objcopy -j .text -O binary ta/$uuid.elf built.text
cmp -s renamed.text built.text ||
	fail "the renamed build has other code: it does not show that names count"

# ---- sessions of their own: each maps the application anew
run app $((rounds / 100))
bias() {
	"$TEEPERF" dump a.trace | sed -n 's/.*module bias=\([^ ]*\).*/\1/p'
}
first=$(bias)
for i in 1 2 3; do
	run app $((rounds / 100))
	named ta
	[ "$first" = "$(bias)" ] || break
done
if [ "$(cat /proc/sys/kernel/randomize_va_space 2>/dev/null)" = 2 ]; then
	[ "$first" != "$(bias)" ] || echo "not tried: another base, which this system does not give"
fi

# ---- a loader that tells nothing: the linker's symbols. (Here the ELF header is between them,
# which strip changes; there code is linked to address 0.)
more='-Wl,-z,noseparate-code -Wl,--wrap=dl_iterate_phdr' # a name that nobody defines
build optee ta/$uuid.elf
objdump -h ta/$uuid.elf | awk '$2 == ".text" { print $3, $4 }' >section
read -r size address <section
more="$more -Wl,--defsym=__text_end=__executable_start+$(printf '%d' "0x$address")+$(printf '%d' \
	"0x$size")"
build optee ta/$uuid.elf
cp ta/$uuid.elf app
run app $((rounds / 100))
named ta
cmp -s work.o changed.o && fail "nothing was changed"
nameless "'other/$uuid.elf': it is another build" --debug-dir other
more=

# ---- an enclave: its code only, whatever is signed into it
mkdir -p enclave
cat >note.c <<'EOS'
__attribute__((section(".note.sgxmeta"), used)) static const struct {
	unsigned name_size, size, type;
	char name[8], data[4096];
} note = {8, 4096, 1, "sgxmeta"};
EOS
${CC:-cc} -c -o note.o note.c
for layout in separate-code noseparate-code; do
	for port in sgxsdk openenclave; do
		more="note.o -Wl,-z,$layout"
		build $port enclave/enclave.so
		objcopy -O binary -j .note.sgxmeta enclave/enclave.so note
		{
			head -c 20 note
			head -c $(($(wc -c <note) - 20)) /dev/urandom
		} >signature
		objcopy -S --update-section .note.sgxmeta=signature enclave/enclave.so signed
		chmod +x signed
		run signed $((rounds / 100))
		named enclave
	done
done
nameless "the program did not name its file; its functions have no names: name the folder of a file with the code that ran with --debug-dir$"
more=

# ---- a loader of the program's own, which tells of its modules: taken back, in the place of one
# another, and back elsewhere, also where it does not run their destructors; stripped libraries
# without a build ID and without a path
mkdir -p libraries
sed 's/leaf/other_leaf/g; s/middle/other_middle/g; s/deep/other_deep/g' "$from/work.c" >other.c
library() {
	"$TEEPERF" cc -I "$from" -O2 -g -fPIC -shared -Wl,--build-id=none -Wl,--hash-style=both \
		-o "libraries/$1.so" "$2"
	strip -o "$1.so" "libraries/$1.so"
}
library one "$from/work.c"
library two other.c
prefix=${TEEPERF_BUILD:-$(dirname "$TEEPERF")/..}
${CC:-cc} -O1 -g -I "$root/include" -o own_loader "$from/own_loader.c" -Wl,--no-as-needed \
	-L "$prefix/lib" -lteeperf -Wl,-rpath,"$prefix/lib" -ldl
for how in '' careless; do
	expect 7 ./own_loader one.so two.so $how
	expect 7 "$TEEPERF" record -o a.trace --size 16M -- ./own_loader one.so two.so $how
	expect 0 "$TEEPERF" analyze a.trace --view top --format csv --debug-dir libraries
	sed -n '2,$p' out | cut -d, -f1,2 | sort >counted
	printf '%s\n' deep,400 leaf,4000 middle,2000 other_deep,320 other_leaf,3200 \
		other_middle,1600 work,12 work,8 | diff - counted >&2 ||
		fail "the libraries of an own loader do not have their calls ($how)"
	# The second one's file is of another build: its functions, and only those, have no names.
	mkdir -p half
	cp libraries/one.so half
	cp "$TEST_TMP/two.so" half/two.so
	expect 0 "$TEEPERF" analyze a.trace --view top --format csv --debug-dir half
	[ "$(grep -c '+0x' out)" = 4 ] && says '^leaf,4000,' out ||
		fail "names of a library that is not there: $(cat out)"
	says "'half/two.so': it is the recorded file, but stripped" err
done

# ---- an application with a library, which the loader maps during a command, and tells with its
# UUID
sed 's/leaf/other_leaf/g; s/middle/other_middle/g; s/deep/other_deep/g' "$from/work.c" >other.c
other=11111111-2222-3333-4444-555555555555
"$TEEPERF" cc --port=optee --clock=soft -I "$from" -O2 -g -fPIC -c -o other.o other.c
${CC:-cc} -shared -Wl,--build-id=none -o ta/$other.elf other.o
strip -o $other ta/$other.elf
${CC:-cc} -O1 -I "$from" -c -o ta_library.o "$from/ta_library.c"
more="ta_library.o -Wl,--wrap=work -Wl,--export-dynamic -ldl"
build optee ta/$uuid.elf
strip -o app ta/$uuid.elf
run app $((rounds / 100))
expect 0 "$TEEPERF" analyze a.trace --view top --format csv --debug-dir ta
sed -n '2,$p' out | cut -d, -f1,2 | sort >counted
for name in '' other_; do
	printf '%s\n' "${name}deep,$((rounds / 100 * 20))" \
		"${name}leaf,$((rounds * 2))" "${name}middle,$rounds" "work,$((rounds / 100))"
done | sort | diff - counted >&2 || fail "an application and its library do not have their calls"
rm ta/$other.elf
expect 0 "$TEEPERF" analyze a.trace --view top --format csv --debug-dir ta
[ "$(grep -c "^$other+0x" out)" = 4 ] && says '^leaf,' out ||
	fail "names of a library that is not there: $(cat out)"
says "'$other': the program did not name its file; .* there is no '$other.elf' or another file" err
more=

# ---- Gramine: its libc's loader, which opens and closes; stripped libraries without a build ID,
# one in the place of the other
cat >opener.c <<'EOS'
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static void call(const char *path, uint64_t rounds)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		puts(dlerror());
		exit(1);
	}
	((uint64_t (*)(uint64_t))dlsym(library, "work"))(rounds);
	dlclose(library);
}
int main(void)
{
	for (int i = 0; i < 3; i++) {
		call("./one.so", 100);
		call("./two.so", 200);
		call("./two.so", 100);
	}
	return 0;
}
EOS
"$TEEPERF" cc --port=gramine -O1 -o opener opener.c -ldl
expect 0 "$TEEPERF" record -o a.trace --size 16M --clock soft -- ./opener
rm -rf away && mkdir away && mv one.so two.so away # there, the paths are those inside
expect 0 "$TEEPERF" analyze a.trace --view top --format csv --debug-dir libraries
sed -n '2,$p' out | cut -d, -f1,2 | grep -v '^main,\|^call,' | sort >counted
printf '%s\n' deep,60 leaf,600 middle,300 other_deep,180 \
	other_leaf,1800 other_middle,900 work,3 work,6 |
	diff - counted >&2 || fail "libraries that Gramine's loader opens do not have their calls"
