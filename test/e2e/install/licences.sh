#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# docs/licences.md names each library that the installed binaries need or may load, and each that
# the build looks for.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

page=$root/docs/licences.md
cmake --install "$TEEPERF_BUILD" --prefix "$PWD/prefix" >install.log || fail "$(cat install.log)"
set -- prefix/bin/teeperf prefix/lib/libteeperf.so prefix/lib/teeperf/TeePerf.so \
	prefix/lib/teeperf/llvm-*/TeePerf.so
for binary; do
	[ -f "$binary" ] || fail "$binary is not installed"
	# The plugins' symbols of LLVM are clang's: no error.
	ldd "$binary" 2>/dev/null | awk '{ sub(/.*\//, "", $1); print $1 }'
	# Others are loaded by name, which has a version.
	strings -n 6 "$binary" | grep -E '^(.*/)?lib[A-Za-z0-9_%+-]+\.so\.[0-9%u]+$' |
		sed 's|.*/||; s/%u/N/g'
done >all
# The runtime is our own, and the kernel's page no library.
sed 's/^\(ld-linux\).*/\1/' all |
	grep -Ev '^(libteeperf\.so.*|linux-vdso\.so.*|linux-gate\.so.*|statically)$' |
	sort -u >libraries
says '^libsqlite3\.so\.0$' libraries
says '^libmicrohttpd\.so\.12$' libraries
says '^libclang-N\.so\.1$' libraries
while IFS= read -r library; do
	case $library in
	libclang*) library=libclang-N.so.1 ;; # each of its names
	esac
	grep -Fq "\`$library\`" "$page" || fail "docs/licences.md does not name '$library'"
done <libraries

# Headers whose code is compiled in have no name in the binaries; the build looks for them.
cat "$root"/cmake/*.cmake | tr '\n' ' ' |
	grep -Eo 'find_(library|path)\(TEEPERF_[A-Z_0-9]+ [^ )]+' |
	awk '{ print $2 }' | sort -u >looked_for
[ -s looked_for ] || fail 'the build looks for nothing'
while IFS= read -r name; do
	grep -Fq -e "\`$name\`" -e "\`lib$name.so" "$page" ||
		fail "docs/licences.md does not name '$name', which cmake/ looks for"
done <looked_for
# Each has a licence.
awk -F'|' '/^\| `/ && (NF < 6 || $5 ~ /^ *$/) { print; bad = 1 } END { exit bad }' "$page" >bare ||
	fail "rows of docs/licences.md without a licence: $(cat bare)"
echo "$(wc -l <libraries) libraries, $(wc -l <looked_for) looked for"
