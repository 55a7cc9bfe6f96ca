#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A new TEE is one row of runtime/ports.def, one file and one page. A tree with one more has a
# runtime for it, and cc, record, doctor, help and manual know it. A new option of cc is one row of
# cli/driver/cc_options.def: cc takes it, hands it to the pass, and help and manual have it. Of the
# command only what reads the rows is compiled again.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v ninja >/dev/null || skip "ninja is not installed"
[ -e "$TEEPERF_BUILD/build.ninja" ] || skip "the build was not made by ninja"

# The tree, of which only what a port touches is a copy.
mkdir tree
for entry in "$root"/*; do
	case ${entry##*/} in
	build | cli | runtime | docs) ;;
	*) ln -s "$entry" tree/ ;;
	esac
done
cp -r "$root/cli" "$root/runtime" "$root/docs" tree/

cat >>tree/runtime/ports.def <<'DEF'

TP_PORT(fake, SYSTEM, NONE, "",
	.summary = "Fake TEE: a descriptor; for a test",
	.pages = "fake",
	.kit = {"Fake kit", "/opt/fake", NULL, "its log is a descriptor; "},
	.transport = TP_TEE_INHERITED,
	.clock = TP_CLOCK_CHOICE_SOFT,
	.foreign = true,
	.hints = TP_HINTS("pass '@LOG@' on"))
DEF
cat >tree/runtime/port/fake.c <<'C'
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fake TEE.
#include "runtime/port.h"
#include "runtime/port/posix.h"

bool tp_port_map_log(void **base, uint64_t *size)
{
	return tp_port_map_named(base, size);
}
C
cat >>tree/cli/driver/cc_options.def <<'DEF'

TP_CC_OPTION(zebra, "zebra", PASS, WORDS, "TEEPERF_ZEBRA", "plain|striped|dotted", "plain",
	"fake an option; for a test (default: TEEPERF_ZEBRA, else plain)", "The manual has more of it.",
	"Fake: plain, striped or dotted", "coat")
DEF
# A row whose page is missing is found, and so is a table of pages that lacks a row.
expect 1 tree/tools/write-rows tree ports
says 'docs/platforms/fake.md, which runtime/ports.def names, does not exist' out
echo '# The fake TEE' >tree/docs/platforms/fake.md
expect 1 tree/tools/write-rows tree ports
says 'README.md differs from runtime/ports.def' out
expect 0 tree/tools/write-rows tree ports --update
expect 0 tree/tools/write-rows tree ports
says '^\| `fake` \| Fake TEE \| a descriptor; for a test \| soft \| \[fake\]\(fake.md\) \|$' \
	tree/docs/platforms/README.md

setting() {
	sed -n "s/^$1:[A-Z]*=//p" "$TEEPERF_BUILD/CMakeCache.txt"
}
cmake -S tree -B tree/build -G Ninja -DTEEPERF_TESTS=OFF -DTEEPERF_CROSS=none \
	-DTEEPERF_LLVM_MAJORS=none -DCMAKE_C_COMPILER="$(setting CMAKE_C_COMPILER)" \
	-DCMAKE_CXX_COMPILER="$(setting CMAKE_CXX_COMPILER)" \
	-DCMAKE_BUILD_TYPE=Debug -DTEEPERF_SANITIZE="$(setting TEEPERF_SANITIZE)" \
	-DTEEPERF_COVERAGE="$(setting TEEPERF_COVERAGE)" >configure.log 2>&1 ||
	fail "$(cat configure.log)"

# The sources that the rows go into; they come before the libraries that have the same without the
# row.
rows='"(runtime/ports\.def|cc_options\.def|port_names\.inc)"'
sources=$(cd tree && grep -rElR "$rows" --include='*.c' cli recorder)
[ "$(echo "$sources" | wc -l)" -ge 3 ] || fail "only these read the rows: $sources"
link=$(ninja -C "$TEEPERF_BUILD" -t commands bin/teeperf | tail -n 1)
case $link in
*' -o bin/teeperf '*) ;;
*) fail "how teeperf is linked is not clear: $link" ;;
esac
objects=
for source in $sources; do
	ninja -C tree/build -t query "$PWD/tree/$source" >query || fail "nothing is made of $source"
	objects="$objects $(grep -o '[^ ]*\.o$' query | head -n 1)"
done
ninja -C tree/build --quiet teeperf_port_fake tp_man $objects ||
	fail "the tree with one more port does not build"
mkdir -p tree/build/bin
for object in $objects; do
	set -- "$@" "$PWD/tree/build/$object"
done
(cd "$TEEPERF_BUILD" && sh -c "$(echo "$link" | sed \
	"s|^: && ||; s| -o bin/teeperf | -o '$TEST_TMP/tree/build/bin/teeperf' $* |; s| && :\$||")")
ln -s "$TEEPERF_BUILD"/lib/teeperf/llvm-* tree/build/lib/teeperf/
teeperf=$PWD/tree/build/bin/teeperf

# cc builds for it, record records it, doctor sees its kit, help and manual name it.
cat >app.c <<'C'
__attribute__((noinline)) int twice(int x)
{
	return 2 * x;
}

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += twice(i);
	return sum == 90 ? 7 : 1;
}
C
expect 0 "$teeperf" cc --port=fake -O1 -fno-inline -o app app.c
fake=
expect 7 "$teeperf" record --port fake ./app
says "^teeperf record: fake: pass '/dev/shm/teeperf-.*' on$" err
facts teeperf.trace host.port=fake
"$teeperf" analyze --format csv --view top >top
says '^"?twice"?,10,' top
mkdir -p system/opt/fake
expect 0 "$teeperf" doctor --root system
says '^ok +Fake kit +installed; its log is a descriptor; docs/platforms: fake$' out
for command in cc c++ record; do
	expect 0 "$teeperf" $command --help
	tr -s ' \n' ' ' <out >words
	says 'sgxsdk, vm or fake' words
	expect 129 "$teeperf" $command --port none ./app
	says "option '--port' takes posix, .*, vm or fake, not 'none'" err
	says 'sgxsdk, vm or fake' tree/build/share/man/man1/teeperf-$command.1
done

# The stand-in for clang shows the pass's settings.
mkdir -p tools
printf '#!/bin/sh\necho "coat: $TEEPERF_ZEBRA"\n' >tools/clang-19
chmod +x tools/clang-19
coat() {
	wanted_coat=$1
	shift
	PATH=$TEST_TMP/tools:$PATH expect 0 "$teeperf" cc --llvm=19 --level=off "$@"
	says "^coat: $wanted_coat$" out
}
coat plain -c app.c
coat striped --zebra striped -c app.c
coat dotted -c app.c --zebra=dotted
TEEPERF_ZEBRA=striped coat striped -c app.c
expect 129 "$teeperf" cc --zebra=spotted -c app.c
says "option '--zebra' takes plain, striped or dotted, not 'spotted'" err
for command in cc c++; do
	expect 0 "$teeperf" $command --help
	says '^  --zebra plain\|striped\|dotted$' out
	says '^ +fake an option; for a test' out
	page=tree/build/share/man/man1/teeperf-$command.1
	says '^Fake an option; for a test \(default: TEEPERF_ZEBRA, else plain\)\.$' "$page"
	says '^The manual has more of it\.$' "$page"
	says 'TEEPERF_TAIL_CALLS, TEEPERF_ZEBRA' "$page"
done

# The command that has not got it says so.
expect 129 "$TEEPERF" record --port fake ./app
expect 129 "$TEEPERF" cc --port=fake -c app.c
# A row that CMake cannot read is reported, and not left out.
sed -i 's/^TP_PORT(fake, SYSTEM/TP_PORT(fake,SYSTEM/' tree/runtime/ports.def
expect 1 cmake -S tree -B tree/build
says "begins otherwise than 'TP_PORT" err
