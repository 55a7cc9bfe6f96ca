# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# How a suite is run, for `run`. A suite is a file NAME.suite that defines
#   suite_packages          Debian source packages; the first gives the version of the table
#   suite_needs             Debian packages that must be installed for it, if any
#   suite_quick=yes         it takes seconds: `make test` runs it too, not only `make test-full`
#   suite_build             in an empty folder, with $CC, $CXX and $flags: build the tests
#   suite_run               in the same folder: run the tests, each process through `run_test`
#   suite_tests             standard input: what all tests of one build printed; standard output:
#                           a line "passed|failed|skipped NAME" for each test
#   suite_same              filter: keeps the part of a test's output that both builds must share
#                           (default: all of it); builds are in folders "native" and "traced"
#   suite_counts            compare calls with callgrind's, by `count_calls` (default: nothing)
# and gets $flavour (native or instrumented), $full (1: all of it), $sources (folder of the
# packages' sources), $JOBS.
#
# The baseline is built by the same compiler without the plugin, and runs in the same environment.
# Traces are analysed as they come and deleted; a line of facts for each process stays.

say() {
	echo "$name: $*" >&2
}

# fetch PACKAGE: prints the folder of its source.
fetch() {
	"$root/tools/fetch-source" "$1" 2>"$work/$name/fetch.log" || {
		cat "$work/$name/fetch.log" >&2
		return 77
	}
}

# copy PACKAGE: its source, to ./PACKAGE.
copy() {
	cp -R "$sources/$1/." "$1"
}

# record LABEL COMMAND...: under the recorder; what it says for itself goes to $results/LABEL.said.
# Sets status.
record() {
	label=$1
	shift
	trace=$traces/$label.trace
	status=0
	timeout -k 10 "${limit:-900}" "$TEEPERF" record -q --size "${log:-1G}" \
		-o "$trace" -- "$@" || status=$?
	facts_of "$trace" "$label"
}

facts_of() {
	if [ -e "$1" ]; then
		"$TEEPERF" analyze "$1" --format json >"$1.json" 2>"$1.said" || cat "$1.said" >&2
		python3 "$suites/verdict.py" facts "$2" "$1.json" \
			"$results/called" >>"$results/facts" ||
			echo "{\"label\": \"$2\", \"unreadable\": true}" >>"$results/facts"
		rm -f "$1" "$1.json" "$1.said" "$1.old"
	fi
}

# run_test LABEL COMMAND...: keeps output and exit status; recorded if it is instrumented.
run_test() {
	label=$1
	if [ "$flavour" = native ]; then
		shift
		status=0
		timeout -k 10 "${limit:-900}" "$@" >"$results/$label.out" 2>"$results/$label.err" \
			</dev/null || status=$?
	else
		record "$@" >"$results/$label.out" 2>"$results/$label.all" </dev/null
		# The recorder's own words are no output of the program's.
		grep -v '^teeperf record: ' "$results/$label.all" >"$results/$label.err" || true
		grep '^teeperf record: ' "$results/$label.all" >>"$results/said" || true
		rm "$results/$label.all"
	fi
	echo $status >"$results/$label.status"
}

# write_prefix FILE: a script that runs its arguments as a command, recorded if they are
# instrumented; for suites that put a prefix before each call of the program.
write_prefix() {
	if [ "$flavour" = native ]; then
		printf '#!/bin/sh\nexec "$@"\n' >"$1"
	else
		cat >"$1" <<PREFIX
#!/bin/sh
TEEPERF="$TEEPERF" suites="$suites" results="$results" traces="$traces"
. "\$suites/suite.sh"
log=256M limit=300
record "prefixed.\$\$" "\$@" 2>"\$traces/err.\$\$"
grep -v '^teeperf record: ' "\$traces/err.\$\$" >&2
grep '^teeperf record: ' "\$traces/err.\$\$" >>"\$results/said"
rm -f "\$traces/err.\$\$"
exit \$status
PREFIX
	fi
	chmod +x "$1"
}

# count_calls LABEL SOURCES COMMAND...: the profile's counts are callgrind's, for each function
# whose source is below the folder SOURCES or in a system header.
count_calls() {
	label=$1
	below=$2
	shift 2
	status=0
	"$TEEPERF" record -q --mode full --size 2G -o "$traces/count.trace" -- "$@" \
		>"$results/count.recorded" 2>/dev/null </dev/null || status=$?
	counted=0
	valgrind -q --tool=callgrind --callgrind-out-file="$traces/callgrind.out" "$@" \
		>"$results/count.counted" 2>/dev/null </dev/null || counted=$?
	"$TEEPERF" analyze "$traces/count.trace" --view top \
		--format csv >"$traces/top.csv" 2>/dev/null
	"$TEEPERF" analyze "$traces/count.trace" --format json >"$traces/count.json" 2>/dev/null
	{
		[ "$status" = "$counted" ] ||
			echo "exit status $status recorded, $counted under callgrind"
		for output in recorded counted; do
			suite_same <"$results/count.$output" >"$results/count.$output.left"
		done
		cmp "$results/count.recorded.left" "$results/count.counted.left" || true
		python3 "$suites/verdict.py" facts "$label" "$traces/count.json" /dev/null |
			grep -v '"lost": 0' || true
	} >"$results/$label.differs" 2>&1
	if python3 "$root/test/lib/compare_counts.py" $counts_options "$traces/top.csv" \
		"$traces/callgrind.out" "$below" >"$results/$label.counts" 2>&1; then
		tail -n 1 "$results/$label.counts" >>"$results/counts"
	else
		cat "$results/$label.counts" >>"$results/$label.differs"
	fi
	rm -f "$traces"/count.* "$traces/callgrind.out" "$traces/top.csv"
}

# The compiler that `teeperf cc` runs, as the baseline must be built with no other.
compilers() {
	if [ "$flavour" = native ]; then
		CC=$("$TEEPERF" cc -print-prog-name=clang)
		CXX=$("$TEEPERF" c++ -print-prog-name=clang++)
	else
		CC="$TEEPERF cc"
		CXX="$TEEPERF c++"
	fi
	export CC CXX
	# Debian's valgrind stumbles over DWARF 5.
	flags="$TEEPERF_SUITE_FLAGS -gdwarf-4"
}

# Some tests go by the letters in their folder's path: both have as many.
folder_of_build() {
	case $flavour in
	native) echo "$work/$name/native" ;;
	*) echo "$work/$name/traced" ;;
	esac
}

run_suite() {
	name=$1
	if [ $again = 0 ]; then
		rm -rf "${work:?}/$name"
	else
		rm -rf "$work/$name/sources" "$work/$name"/*.results
	fi
	mkdir -p "$work/$name"
	suite_needs=
	suite_quick=
	counts_options=
	suite_same() { cat; }
	suite_counts() { :; }
	. "$suites/$name.suite"
	for package in $suite_needs; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || {
			say "skipped: '$package' is not installed: run tools/setup"
			return 77
		}
	done
	sources=$work/$name/sources
	mkdir "$sources"
	version=
	for package in $suite_packages; do
		folder=$(fetch "$package") || {
			say "skipped: the source package '$package' cannot be fetched here"
			return 77
		}
		ln -s "$folder" "$sources/$package"
		[ -n "$version" ] ||
			version=$(dpkg-parsechangelog -l "$folder/debian/changelog" -S Version)
	done

	# Both builds first, then the tests: a wrong build shows at once.
	for flavour in native instrumented; do
		results=$work/$name/$flavour.results
		mkdir "$results"
		folder=$(folder_of_build)
		[ ! -d "$folder" ] || continue
		mkdir "$folder"
		cd "$folder"
		compilers
		(set -e; suite_build) >"$results/build.log" 2>&1 || {
			tail -n 30 "$results/build.log" >&2
			say "FAILED: cannot be built ($flavour); all of it is in $results/build.log"
			return 1
		}
	done
	for flavour in native instrumented; do
		results=$work/$name/$flavour.results
		folder=$(folder_of_build)
		traces=$folder/traces
		cd "$folder"
		mkdir -p "$traces"
		compilers
		suite_run
		for file in "$results"/*.out "$results"/*.err; do
			suite_same <"$file" >"$file.same"
		done
		cat "$results"/*.out "$results"/*.err | suite_tests | sort >"$results/tests"
	done
	[ "$full" = 0 ] && [ "${suite_counts_short:-yes}" = no ] || suite_counts
	python3 "$suites/verdict.py" row "$work/$name" "$name" "$version"
}
