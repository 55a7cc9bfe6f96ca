#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# 'make dist' writes the same bytes each time, for every user; they hold the commit's tree; the tree
# configures where there is no git. In full form the command and the runtime build, and the command
# says the version.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

git -C "$root" -c safe.directory='*' rev-parse -q --verify HEAD >commit 2>/dev/null ||
	skip "this is not a git checkout, of which tarballs are made"
one=$("$root/tools/dist" "$PWD/one" 2>err) || fail "$(cat err)"
# Settings of the user's that reach git, tar and xz.
mkdir home
printf '[tar]\n\tumask = user\n[core]\n\tattributesFile = %s/home/attributes\n' "$PWD" \
	>home/.gitconfig
echo '*.md export-ignore' >home/attributes
two=$(umask 077 && HOME=$PWD/home TZ=Asia/Tokyo XZ_OPT=-9e "$root/tools/dist" "$PWD/two" 2>err) ||
	fail "$(cat err)"
cmp "$one" "$two" || fail 'two tarballs of one commit differ'

name=$(basename "$one" .tar.xz)
tar -xf "$one"
(cd "$name" && find . -type f -o -type l) | sed 's|^\./||' | sort >packed
git -C "$root" -c safe.directory='*' -c core.quotePath=false ls-tree -r --name-only HEAD |
	sort >tracked
diff packed tracked || fail 'the tarball is not the tree of the commit'
[ "$(xz -dc "$one" | git get-tar-commit-id)" = "$(cat commit)" ] ||
	fail 'the tarball does not say its commit'
version=$(sed -n 's/^#define TEEPERF_VERSION "\(.*\)"/\1/p' "$name/include/teeperf/version.h")
[ "$name" = "teeperf-$version" ] || fail "'$name' has version '$version'"

# No git to be found, and no repository above.
mkdir bin
printf '#!/bin/sh\necho "git $*" >>"%s/asked"\nexit 1\n' "$PWD" >bin/git
chmod +x bin/git
PATH=$PWD/bin:$PATH
GIT_CEILING_DIRECTORIES=$PWD
export PATH GIT_CEILING_DIRECTORIES
cmake -G Ninja -S "$name" -B build -DTEEPERF_TESTS=OFF -DTEEPERF_CROSS=none >configure.log 2>&1 ||
	fail "$(tail configure.log)"
[ ! -e asked ] || fail "the build asks git: $(cat asked)"
targets=
[ "${TEEPERF_FULL:-0}" = 0 ] || targets=all
cmake --build build --target tp_man $targets >build.log 2>&1 || fail "$(tail build.log)"
says "^\.TH TEEPERF 1 .* \"TeePerf $version\"" build/share/man/man1/teeperf.1
if [ "$targets" ]; then
	[ "$(build/bin/teeperf --version)" = "teeperf $version" ] ||
		fail 'the command says another version'
fi
expect 1 "$name/tools/dist" "$PWD/three"
says 'is not a git checkout' err
echo "$name: $(wc -l <packed) files, $(wc -c <"$one") bytes"
