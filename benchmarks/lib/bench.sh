# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# Run one benchmark: build it in each flavour, run the variants in turn, and keep their costs in the
# state (state.sh), in figures with these keys:
#
#   program_wall, program_cpu, program_kib, program_faults   of one run; the same of whole,
#                                                            the tool with the program
#   kernel_wall, kernel_cpu                                  the program's own figures, if it prints
#                                                            any
#   micro/NAME/wall, micro/NAME/cpu                          ns per call
#   others                                                   figures from the trace (variants.sh)
#   text, hot_text, compile_cpu                              of a build, whose variant is
#                                                            `build/FLAVOUR` and whose
#                                                            BENCH is the program's name

# bench_load FILE: a benchmark's definition; README.md says what it may contain.
# Of a full run NAME-idle (nobody records) and NAME-on (all is recorded) have the few variants that
# are compared with a hundredth, in many short rounds. Where others share the processor, its speed
# changes from second to second: two short runs next to each other have the same, mostly, and over
# many rounds the rest evens out.
bench_is_close() {
	case $1 in
	*-idle | *-on) return 0 ;;
	esac
	return 1
}

# bench_input NAME: the arguments of its program.
bench_input() {
	if bench_is_close "$1"; then
		(size=quick && bench_arguments "$1")
	else
		bench_arguments "$1"
	fi
}

bench_load() {
	bench_file=$1
	bench_folder=$(dirname "$1")
	bench_rounds=1
	bench_times_builds=no
	bench_output=same
	bench_variants=all
	bench_slow=no
	bench_prepare() { :; }
	bench_program() { echo "${1%-idle}" | sed 's/-on$//'; }
	bench_threads() { echo 1; }
	bench_kernel_time() { :; }
	bench_most() { :; }
	bench_variants_of() {
		case $1 in
		*-idle) echo native plain dual-plain xray-off ;;
		*-on) echo native tsc soft none dual-tsc dual-soft dual-none ;;
		*) echo "$bench_variants" ;;
		esac
	}
	bench_kind=program
	. "$1"
}

bench_wanted() {
	[ -n "$only" ] || return 0
	set -f
	for glob in $only; do
		case $1 in
		$glob)
			set +f
			return 0
			;;
		esac
	done
	set +f
	return 1
}

# fetch PACKAGE: Debian's source package, copied to ./PACKAGE.
fetch() {
	[ -d "$1" ] && return 0
	fetched=$("$top/tools/fetch-source" "$1" 2>fetch.log) || {
		reason="the source package '$1' cannot be fetched: $(tail -n 1 fetch.log)"
		return 1
	}
	rm -rf "$1.new"
	cp -R "$fetched" "$1.new"
	mv "$1.new" "$1"
}

say() {
	printf '%s\n' "$*" >&2
}

# figures_of FILE WHAT: of measure's last line in FILE.
figures_of() {
	tail -n 1 "$1" | awk -v what="$2" '{
		printf "%s_wall %s\n%s_cpu %.0f\n%s_kib %s\n%s_faults %.0f\n", what, $1, what, $2 + $3, what, $4, what, $5 + $6
	}' >>"$work/figures"
}

# Whether a row of VARIANT belongs to this benchmark.
bench_lists() {
	case $1-$bench_slow in
	# Up to 100 times as long.
	callgrind-no | cachegrind*-no) return 1 ;;
	esac
	case $1-$bench_output in
	limit*-same) return 1 ;;
	filtered-times | ten-*-times | compressed-times) return 1 ;;
	esac
	case " $listed_variants " in
	' all ' | *" $1 "*) return 0 ;;
	esac
	return 1
}

# What this benchmark runs, in order, and the flavours that it needs for that, in ready and
# flavours.
bench_choose() {
	ready=
	flavours=
	for variant in $variants; do
		bench_lists "$variant" || continue
		! state_has "$variant" skip || continue
		if variant_works "$variant"; then
			ready="$ready $variant"
			flavour=$(variant_field "$variant" 2)
			case " $flavours " in
			*" $flavour "*) ;;
			*) flavours="$flavours $flavour" ;;
			esac
		else
			skip "$1" "$variant"
		fi
	done
}

# Each flavour of PROGRAM, several at a time; and how large it is.
bench_build_all() {
	several=
	for flavour in $flavours; do
		case $flavour in
		tp-filtered | tp-ten)
			[ -z "$several" ] || wait $several
			several=
			bench_make_list "$flavour" "$1" "$2" || {
				echo "$reason" >"$work/bin/$1/$flavour.reason"
				continue
			}
			;;
		esac
		! flavour_current "$flavour" "$1" || continue
		state_time 0
		(
			trap '[ -z "$running" ] || kill "$running" 2>/dev/null; exit 130' TERM
			flavour_build "$flavour" "$1"
		) &
		several="$several $!"
		progress=$((progress + 1))
		if [ "$(echo $several | wc -w)" -ge "$(nproc)" ]; then
			wait $several
			several=
		fi
	done
	[ -z "$several" ] || wait $several
	[ $stage != build ] || return 0
	kept=$units
	state_load "$1"
	for flavour in $flavours; do
		if [ -e "$work/bin/$1/$flavour.reason" ] || state_has "build/$flavour" 0; then
			continue
		fi
		state_begin
		echo text "$(flavour_text "$work/bin/$1/$flavour")" >>"$work/figures"
		echo hot_text "$(flavour_hot_text "$work/bin/$1/$flavour")" >>"$work/figures"
		state_end "$1" "build/$flavour" 0
	done
	units=$kept
}

# Three builds of PROGRAM of some flavours, in turn.
bench_time_builds() {
	round=1
	while [ $round -le "$builds" ]; do
		for flavour in $flavour_timed; do
			case " $flavours " in
			*" $flavour "*) ;;
			*) continue ;;
			esac
			! state_has "build/$flavour" $round || continue
			state_time 0
			state_begin
			flavour_time "$flavour" "$1" >"$work/figures" || break
			state_end "$1" "build/$flavour" $round
		done
		round=$((round + 1))
	done
}

# bench_make_list FLAVOUR PROGRAM NAME: its list, from a first run of the fully instrumented
# program.
bench_make_list() {
	list=$work/bin/$2/${1#tp-}.allow
	case $1 in
	tp-filtered) BENCH_ALLOWLIST=$list make=variant_allowlist ;;
	tp-ten) BENCH_TEN=$list make=variant_ten ;;
	esac
	export BENCH_ALLOWLIST BENCH_TEN
	reason=
	[ -e "$work/bin/$2/tp" ] && [ ! -e "$work/bin/$2/tp.reason" ] || {
		reason="there is no fully instrumented program to measure first"
		return 1
	}
	# Made once for a program: another list would be another build.
	if [ "$list" -nt "$work/bin/$2/tp" ]; then
		return 0
	fi
	pin=
	known_events=
	variant_run tsc "$work/bin/$2/tp" $(bench_input "$3") || {
		reason="the first run failed: $(variant_why)"
		return 1
	}
	$make "$scratch/trace" >"$list"
}

# bench_once NAME PROGRAM VARIANT ROUND: one run, with what it cost.
bench_once() {
	binary=$work/bin/$2/$(variant_field "$3" 2)
	state_begin
	variant_run "$3" "$binary" $(bench_input "$1") || {
		status=$?
		reason="exit status $status: $(variant_why)"
		return 1
	}
	if [ $bench_output = same ]; then
		cmp -s "$work/bin/$2/expected" "$scratch/out" || {
			reason="its output differs from that of the native program"
			return 1
		}
	fi
	figures_of "$scratch/program.line" program
	figures_of "$scratch/whole.line" whole
	bench_kernel_time "$1" "$scratch/err" |
		awk '{ print "kernel_wall", $1; print "kernel_cpu", $2 }' >>"$work/figures"
	[ $bench_output = same ] || awk '
		NF == 5 { print "micro/" $1 "/wall", $4; print "micro/" $1 "/cpu", $5 }' \
		"$scratch/out" >>"$work/figures"
	(variant_facts "$3") >"$work/facts"
	cat "$work/facts" >>"$work/figures"
	state_end "$1" "$3" "$4"
	[ "$3" != tsc ] || known_events=$(awk '$1 == "events" { print $2 }' "$work/facts")
}

# bench_due VARIANT ROUND: whether VARIANT is run in ROUND. Some runs say the same each time, and
# some take long.
bench_due() {
	! bench_is_close "$name" || return 0
	case $1 in
	callgrind | cachegrind*) [ "$2" = 1 ] ;;
	xray | uftrace) [ "$2" -le $slow_rounds ] ;;
	native | gcc | own | plain | dual-plain | xray-off) ;;
	*) [ "$2" -le $((other_rounds * bench_rounds)) ] ;;
	esac
}

# How many rounds this benchmark has.
bench_last_round() {
	last=$((rounds * bench_rounds))
	! bench_is_close "$name" || last=$((rounds * 7))
	most=$(bench_most "$name")
	[ -z "$most" ] || [ "$last" -le "$most" ] || last=$most
	echo "$last"
}

# bench_left ROUND VARIANT...: those that are due in ROUND and not done.
bench_left() {
	round=$1
	shift
	left_over=
	for variant; do
		if ! state_has "$variant" "$round" && bench_due "$variant" "$round"; then
			left_over="$left_over $variant"
		fi
	done
}

# bench_done BENCH VARIANT...: whether nothing is left to do.
bench_done() {
	state_load "$1"
	shift
	for round in $(seq "$(bench_last_round)"); do
		bench_left "$round" "$@"
		[ -z "$left_over" ] || return 1
	done
}

bench_sources() {
	reason=
	(cd "$work/sources" && bench_prepare >/dev/null && : || {
		echo "${reason:-its sources cannot be prepared}" >"$work/prepare.reason"
		exit 1
	}) || {
		reason=$(cat "$work/prepare.reason")
		return 1
	}
}

# own_one NAME [build]: what it prints goes to $scratch.
own_one() {
	"$work/measure" -g -t 1800 -o "$work/own.line" -- "$here/lib/own-one" "$bench_file" "$@" \
		>"$scratch/figures" 2>"$scratch/err" </dev/null &
	await $!
}

# bench_run_own NAME: a benchmark that measures by itself; it prints lines "key value".
bench_run_own() {
	for round in $(seq "$(bench_last_round)"); do
		! state_has own "$round" || continue
		state_time "$(state_seconds "$1" $((round - 1)))"
		rm -rf "$scratch"
		mkdir -p "$scratch"
		[ "$rounds" = 1 ] || say "$(date +%T)   round $round"
		state_begin
		if ! own_one "$1"; then
			reason=$(variant_why)
			skip "$1" own
			return 0
		fi
		cp "$scratch/figures" "$work/figures"
		state_end "$1" own "$round"
	done
}

# bench_run NAME [builds]: measure it. With `builds` what compiling it costs as well, which takes
# minutes and answers few questions.
bench_run() {
	name=$1
	builds_too=no
	[ "${2:-}" != builds ] || builds_too=$bench_times_builds
	program=$(bench_program "$name")
	# shellcheck disable=SC2046,SC2116 # a list may have several lines: one blank between two
	listed_variants=$(echo $(bench_variants_of "$name"))
	listed=
	for variant in $([ $bench_kind = own ] && echo own || echo "$variants"); do
		[ $bench_kind = program ] && ! bench_lists "$variant" || listed="$listed $variant"
	done
	if bench_done "$name" $listed && { [ "$builds_too" = no ] ||
		bench_builds_done "$program"; }; then
		return 0
	fi
	say "$(date +%T) $name$([ "$builds_too" = no ] || echo ', building it')"
	if ! bench_sources; then
		for variant in $listed; do
			skip "$name" "$variant"
		done
		return 0
	fi
	if [ $bench_kind = own ]; then
		if [ $stage = build ]; then
			state_time 0
			mkdir -p "$scratch"
			progress=$((progress + 1))
			own_one "$name" build || say "  not built: $(variant_why)"
		else
			bench_run_own "$name"
		fi
		return 0
	fi
	bench_choose "$name"
	# Their list is made with its build.
	case "$ready" in
	*ten-only*) case " $flavours " in *' tp-ten '*) ;; *) flavours="$flavours tp-ten" ;; esac ;;
	esac
	mkdir -p "$work/bin/$program"
	bench_build_all "$program" "$name"
	[ $stage != build ] || return 0
	pin=
	[ "$(bench_threads "$name")" != 1 ] || pin=-p
	known_events=$(awk -F'\t' -v bench="$name" '
		$1 == "figure" && $2 == bench && $3 == "tsc" && $5 == "events" { events = $6 } END { print events }' "$rows")
	# Once unmeasured, so that no variant has to read its program and input from the disk; and
	# for its output.
	if [ ! -e "$work/bin/$program/native.reason" ]; then
		variant_run native "$work/bin/$program/native" $(bench_input "$name") || true
		cp "$scratch/out" "$work/bin/$program/expected"
	fi
	for round in $(seq "$(bench_last_round)"); do
		bench_left "$round" $ready
		[ -n "$left_over" ] || continue
		state_time "$(state_seconds "$name" $((round - 1)))"
		# In another order each time, so that none always comes behind the same one. In the
		# first round the number of events is not known yet that others go by.
		[ "$round" = 1 ] || left_over=$(printf '%s\n' $left_over | shuf | tr '\n' ' ')
		for variant in $left_over; do
			state_time 0
			why=$work/bin/$program/$(variant_field "$variant" 2).reason
			if [ -e "$why" ]; then
				reason="it cannot be built: $(cat "$why")"
			elif bench_once "$name" "$program" "$variant" "$round"; then
				continue
			fi
			skip "$name" "$variant"
		done
	done
	[ "$builds_too" = no ] || {
		state_load "$program"
		bench_time_builds "$program"
	}
}

bench_builds_done() {
	state_load "$1"
	for flavour in $flavour_timed; do
		state_has "build/$flavour" "$builds" || return 1
	done
}
