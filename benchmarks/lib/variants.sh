# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# Variants: the ways in which a program is run. variants.tab lists them; here is how each is run and
# what it leaves behind.
#
# Uses: teeperf, llvm, work, here, limit_s; pin, an option of measure; known_events, the events of a
# run, if known; scratch is a folder in memory for what tools write.

# variant_field NAME COLUMN
variant_field() {
	eval "printf '%s\n' \"\${variant_$(echo "$1" | tr - _)_$2-}\""
}

# variant_read: what variant_field knows, and the names, in order, in all_variants.
variant_read() {
	eval "$(awk -F'\t' '
		/^#/ { next }
		{
			names = names " " $1
			gsub(/-/, "_", $1)
			printf "variant_%s_2='\''%s'\'' variant_%s_3='\''%s'\'' variant_%s_4='\''%s'\''\n", $1, $2, $1, $3, $1, $4
		}
		END { print "all_variants='\''" names " '\''" }' "$here/lib/variants.tab")"
}

# variant_run VARIANT COMMAND...: in an empty $scratch. It leaves there program.line (what the
# program cost), whole.line (with the tool around it), out and err. Returns the exit status.
variant_run() {
	variant=$1
	shift
	rm -rf "$scratch"
	mkdir -p "$scratch"
	# By hand the counter's thread is one of the program's own.
	kept=$pin
	[ "$variant" != limit-soft ] || kept=
	set -- "$work/measure" $kept -o program.line -- "$@"
	record="$teeperf record -q -o trace"
	case $variant in
	off | dual-off) set -- $record --on-start off -- "$@" ;;
	tsc | call-tsc | dual-tsc | filtered | untimed | sample | ten-listed)
		set -- $record --clock tsc -- "$@"
		;;
	soft | call-soft | dual-soft) set -- $record --clock soft -- "$@" ;;
	soft-count) set -- $record --clock count -- "$@" ;;
	none | dual-none) set -- $record --clock none -- "$@" ;;
	ten-only*) set -- $record --clock tsc --only "$BENCH_TEN" -- "$@" ;;
	closed) set -- $record --clock tsc --only "$here/micro/closed.allow" -- "$@" ;;
	# What fits is a part of what the program does to warm up.
	lost-*) set -- $record --clock "${variant#lost-}" --mode full --size 1M -- "$@" ;;
	compressed) set -- $record --clock tsc --compress -- "$@" ;;
	count) set -- $record -- "$@" ;;
	perf) set -- perf record -e cpu-clock -F 999 -g -o perf.data -- "$@" ;;
	# The wrapper is not compiled for it, hence --force.
	uftrace) set -- uftrace record --no-libcall --force -d uftrace.data -- "$@" ;;
	# Room for the whole log, whose size is known from TeePerf's run; more only takes time to
	# prepare.
	xray)
		buffers=1500
		[ -z "$known_events" ] || buffers=$((known_events / 100000 + 100))
		set -- env BENCH_XRAY_BUFFERS=$buffers "$here/lib/xray-run" "$@"
		;;
	callgrind)
		set -- valgrind -q --tool=callgrind --trace-children=yes \
			--callgrind-out-file=callgrind.%p "$@"
		;;
	cachegrind*)
		set -- valgrind --tool=cachegrind --cache-sim=yes --trace-children=yes \
			--cachegrind-out-file=cachegrind.%p "$@"
		;;
	esac
	(cd "$scratch" && exec "$work/measure" -g -t "$limit_s" -o whole.line -- "$@") \
		>"$scratch/out" 2>"$scratch/err" </dev/null &
	await $!
}

# await PID: so that a signal, for which this shell would otherwise wait until the program ends,
# takes it along.
await() {
	running=$1
	await_status=0
	wait "$running" || await_status=$?
	running=
	return $await_status
}

# variant_works NAME: whether the tool is there, and does its work on a program of one call.
variant_works() {
	variant_state=$work/variants/$1
	if [ ! -e "$variant_state.done" ]; then
		mkdir -p "$work/variants"
		rm -f "$variant_state.reason"
		variant_try "$1" 2>/dev/null || echo "$reason" >"$variant_state.reason"
		: >"$variant_state.done"
	fi
	[ -e "$variant_state.reason" ] || return 0
	reason=$(cat "$variant_state.reason")
	return 1
}

variant_try() {
	case $1 in
	ten-*)
		BENCH_TEN=$work/flavours/everything.allow
		export BENCH_TEN
		;;
	esac
	flavour=$(variant_field "$1" 2)
	flavour_exists "$flavour" || return 1
	case $1 in
	perf | uftrace) tool=$1 ;;
	callgrind | cachegrind*) tool=valgrind ;;
	*) tool=true ;;
	esac
	command -v $tool >/dev/null || {
		reason="$tool is not installed (tools/setup --bench)"
		return 1
	}
	pin=
	known_events=
	variant_run "$1" "$work/flavours/$flavour/try" && [ "$(cat "$scratch/out")" = 42 ] || {
		reason=$(variant_why)
		return 1
	}
}

variant_why() {
	[ -s "$scratch/err" ] || {
		echo "it fails without a word"
		return
	}
	flavour_why "$scratch/err"
}

bytes_of() {
	cat "$@" 2>/dev/null | wc -c
}

# variant_facts VARIANT: what the run left behind, as lines "key value".
variant_facts() {
	cd "$scratch"
	case $(variant_field "$1" 2) in
	tp*) teeperf_facts ;;
	esac
	case $1 in
	soft | soft-count | call-soft | dual-soft | lost-soft)
		sed -n 's/.*stood still for \([0-9.]*\) %.*/starved \1/p' err | grep . ||
			echo starved 0
		;;
	perf)
		echo bytes "$(bytes_of perf.data)"
		sed -n 's/.*(\([0-9][0-9]*\) samples).*/samples \1/p' err
		;;
	uftrace)
		# One file per thread, 16 bytes per event.
		bytes=$(bytes_of uftrace.data/[0-9]*.dat)
		echo bytes "$bytes"
		echo events $((bytes / 16))
		echo lost "$(sed -n 's/.*LOST \([0-9]*\).*/\1/p' err |
			awk '{ n += $1 } END { print n + 0 }')"
		;;
	xray)
		# 8 bytes per event, and few words about buffers.
		bytes=$(bytes_of xray-log.*)
		echo bytes "$bytes"
		echo events $((bytes / 8))
		;;
	cachegrind*)
		# Of the program, not of measure, which starts it and does little.
		awk -F: '
			/ I +refs:/ { gsub(/[ ,]/, "", $2); refs = $2 + 0 }
			/ I1 +misses:/ && refs > most { gsub(/[ ,]/, "", $2); most = refs; misses = $2 }
			END { if (most) printf "instructions %.0f\ni1_misses %.0f\n", most, misses }' err
		;;
	gprof) echo bytes "$(bytes_of gmon.out)" ;;
	esac
}

teeperf_facts() {
	[ -e trace ] || return 0
	echo bytes "$(bytes_of trace)"
	"$teeperf" analyze trace --view threads --format csv 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i - NF }
		NR > 1 {
			events += $(NF + column["events"])
			lost += $(NF + column["lost"])
			calls += $(NF + column["calls"])
		}
		END {
			printf "events %d\nlost %d\ncalls %d\n", events, lost, calls
		}'
}

# variant_ten TRACE: the ten functions with most own time of those that make less than a hundredth
# of all calls, as one would choose by hand; where there are fewer of these, others.
variant_ten() {
	echo 'default:skip'
	"$teeperf" analyze "$1" --view top --format csv 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i - NF; next }
		{ print $(NF + column["self_ns"]), $(NF + column["calls"]), $(NF + column["linkage"]) }' | sort -rn | awk '
		{ calls[NR] = $2; name[NR] = $3; all += $2 }
		END {
			for (seldom = 1; seldom >= 0; seldom--)
				for (i = 1; i <= NR && ten < 10; i++)
					if ((calls[i] < all / 100) == seldom) {
						print "fun:" name[i] "=allow"
						ten++
					}
		}'
}

# variant_allowlist TRACE: leave out the functions with the most calls for their own time until nine
# tenths of all calls are gone. Functions with less than a thousandth of the calls are not worth a
# line.
variant_allowlist() {
	echo '# The smallest of the hot functions, which make nine tenths of the' \
		'calls, are left out.'
	echo 'default:allow'
	"$teeperf" analyze "$1" --view top --format csv 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i - NF; next }
		{
			calls = $(NF + column["calls"])
			printf "%.9f %d %s\n", calls / ($(NF + column["self_ns"]) + 1), calls, $(NF + column["linkage"])
		}' | sort -rn | awk '
		{ calls[NR] = $2; name[NR] = $3; all += $2 }
		END {
			for (i = 1; i <= NR && gone < all * 0.9; i++) {
				if (calls[i] < all / 1000)
					continue
				gone += calls[i]
				print "fun:" name[i] "=skip"
			}
		}'
}
