# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# Run one benchmark: build it in each flavour, run the variants in turn, and write what they cost to
# $raw, as tab-separated lines (medians.awk reads them):
#
#   run BENCH VARIANT program|whole WALL USER SYSTEM KIB MINOR MAJOR   times in ns, of one run
#   fact BENCH VARIANT KEY VALUE                                       of one run
#   micro BENCH VARIANT NAME WALL CPU                                  ns per call, of one run
#   build PROGRAM FLAVOUR WALL CPU                                     of one build
#   text PROGRAM FLAVOUR BYTES                                         and hot_text, of what runs while nobody records
#
# What was not run goes to $skipped: BENCH VARIANT REASON.

# bench_load FILE: a benchmark's definition; README.md says what it may contain.
bench_load() {
	bench_file=$1
	bench_folder=$(dirname "$1")
	bench_rounds=1
	bench_times_builds=no
	bench_output=same
	bench_variants=all
	bench_slow=no
	bench_prepare() { :; }
	bench_program() { echo "$1"; }
	bench_threads() { echo 1; }
	bench_kernel_time() { :; }
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

# skip BENCH VARIANT: why is in reason. Said once while running; the tables say it in each row.
skip() {
	cut -f2,3 "$skipped" | grep -Fxq "$2$(printf '\t')$reason" || say "  $2: not run: $reason"
	printf '%s\t%s\t%s\n' "$1" "$2" "$reason" >>"$skipped"
}

# The line of measure in FILE, between a prefix of fields and the end.
put_line() { # FILE FIELD...
	file=$1
	shift
	tail -n 1 "$file" | awk -v OFS='\t' -v prefix="$(printf '%s\t' "$@")" '{
		print prefix $1, $2, $3, $4, $5, $6
	}' >>"$raw"
}

# Whether a row of VARIANT belongs to this benchmark.
bench_lists() {
	case $1-$bench_output in
	limit*-same) return 1 ;;
	filtered-times | compressed-times) return 1 ;;
	esac
	[ "$bench_variants" = all ] && return 0
	case " $bench_variants " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# Whether this benchmark runs VARIANT.
bench_takes() {
	case $1-$bench_slow in
	callgrind-no | cachegrind*-no) ;;
	*) return 0 ;;
	esac
	reason="it takes up to 100 times as long, and is run with micro, SQLite, Lua and zlib only"
	return 1
}

# What this benchmark runs, and the flavours that it needs for that, in ready and flavours.
bench_choose() {
	ready=
	flavours=
	for variant in $variants; do
		bench_lists "$variant" || continue
		if bench_takes "$variant" && variant_works "$variant"; then
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

# Each flavour of PROGRAM, several at a time unless the time that it takes is wanted.
bench_build_all() {
	running=0
	for flavour in $flavours; do
		repeats=1
		case " $flavour_timed " in
		*" $flavour "*) [ $bench_times_builds = no ] || repeats=$builds ;;
		esac
		case $flavour in
		tp-filtered | tp-ten)
			wait
			bench_make_list "$flavour" "$1" "$2" || {
				echo "$reason" >"$work/bin/$1/$flavour.reason"
				continue
			}
			;;
		esac
		flavour_build "$flavour" "$1" "$repeats" &
		running=$((running + 1))
		if [ $size = full ] || [ $running -ge "$(nproc)" ]; then
			wait
			running=0
		fi
	done
	wait
	for flavour in $flavours; do
		[ ! -e "$work/bin/$1/$flavour.reason" ] || continue
		[ $bench_times_builds = no ] ||
			awk -v OFS='\t' -v prefix="build$(printf '\t%s' "$1" "$flavour")" \
				'{ print prefix, $1, $2 + $3 }' "$work/bin/$1/$flavour.cost" >>"$raw"
		printf 'text\t%s\t%s\t%s\n' "$1" "$flavour" "$(flavour_text "$work/bin/$1/$flavour")" >>"$raw"
		printf 'hot_text\t%s\t%s\t%s\n' "$1" "$flavour" "$(flavour_hot_text "$work/bin/$1/$flavour")" >>"$raw"
	done
}

# bench_make_list FLAVOUR PROGRAM NAME: its list, from a first run of the fully instrumented program.
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
	variant_run tsc "$work/bin/$2/tp" $(bench_arguments "$3") || {
		reason="the first run failed: $(variant_why)"
		return 1
	}
	$make "$scratch/trace" >"$list"
}

# bench_once NAME PROGRAM VARIANT: one run, with what it cost.
bench_once() {
	binary=$work/bin/$2/$(variant_field "$3" 2)
	variant_run "$3" "$binary" $(bench_arguments "$1") || {
		status=$?
		reason="exit status $status: $(variant_why)"
		return 1
	}
	if [ $bench_output = same ]; then
		if [ ! -e "$work/bin/$2/expected" ]; then
			cp "$scratch/out" "$work/bin/$2/expected"
		fi
		cmp -s "$work/bin/$2/expected" "$scratch/out" || {
			reason="its output differs from that of the native program"
			return 1
		}
	fi
	put_line "$scratch/program.line" run "$1" "$3" program
	put_line "$scratch/whole.line" run "$1" "$3" whole
	bench_kernel_time "$1" "$scratch/err" |
		awk -v OFS='\t' -v prefix="run$(printf '\t%s' "$1" "$3" kernel)" '{ print prefix, $1, $2, 0 }' >>"$raw"
	[ $bench_output = same ] || awk -v OFS='\t' -v prefix="micro$(printf '\t%s' "$1" "$3")" '
		NF == 5 { print prefix, $1, $4, $5 }' "$scratch/out" >>"$raw"
	(variant_facts "$3") >"$work/facts"
	awk -v OFS='\t' -v prefix="fact$(printf '\t%s' "$1" "$3")" '
		NF == 2 { print prefix, $1, $2 }' "$work/facts" >>"$raw"
	[ "$3" != tsc ] || known_events=$(awk '$1 == "events" { print $2 }' "$work/facts")
}

# How often VARIANT is run in ROUND.
bench_due() {
	case $1 in
	callgrind | cachegrind*) [ "$2" = 1 ] ;;
	xray | uftrace) [ $size != quick ] || [ "$2" = 1 ] ;;
	esac
}

# bench_run_own NAME: a benchmark that measures by itself; it prints lines "key value".
bench_run_own() {
	round=1
	while [ $round -le "$rounds" ]; do
		rm -rf "$scratch"
		mkdir -p "$scratch"
		if ! (bench_measure "$1") >"$scratch/figures" 2>"$scratch/err"; then
			reason=$(variant_why)
			skip "$1" own
			return 0
		fi
		awk -v OFS='\t' -v prefix="fact$(printf '\t%s' "$1" own)" '
			NF == 2 { print prefix, $1, $2 }' "$scratch/figures" >>"$raw"
		round=$((round + 1))
	done
}

bench_run() {
	name=$1
	program=$(bench_program "$name")
	say "$(date +%T) $name"
	reason=
	if ! (cd "$work/sources" && bench_prepare >/dev/null && : || {
		echo "${reason:-its sources cannot be prepared}" >"$work/prepare.reason"
		exit 1
	}); then
		reason=$(cat "$work/prepare.reason")
		[ $bench_kind = program ] || skip "$name" own
		for variant in $([ $bench_kind = own ] || echo "$variants"); do
			skip "$name" "$variant"
		done
		return 0
	fi
	if [ $bench_kind = own ]; then
		bench_run_own "$name"
		return 0
	fi
	bench_choose "$name"
	bench_build_all "$program" "$name"
	rm -f "$work/bin/$program/expected"
	pin=
	[ "$(bench_threads "$name")" != 1 ] || pin=-p
	failed=
	known_events=
	# Once unmeasured, so that no variant has to read its program and input from the disk.
	if [ ! -e "$work/bin/$program/native.reason" ]; then
		variant_run native "$work/bin/$program/native" $(bench_arguments "$name") || true
	fi
	round=1
	while [ $round -le $((rounds * bench_rounds)) ]; do
		# In another order each time, so that none always comes behind the same one. In the first round the number of events
		# is not known yet that others go by.
		[ $round = 1 ] || ready=$(printf '%s\n' $ready | shuf | tr '\n' ' ')
		for variant in $ready; do
			case " $failed " in
			*" $variant "*) continue ;;
			esac
			bench_due "$variant" $round || continue
			why=$work/bin/$program/$(variant_field "$variant" 2).reason
			if [ -e "$why" ]; then
				reason="it cannot be built: $(cat "$why")"
			elif bench_once "$name" "$program" "$variant"; then
				continue
			fi
			failed="$failed $variant"
			skip "$name" "$variant"
		done
		round=$((round + 1))
	done
}
