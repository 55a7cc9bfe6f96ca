# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# Flavours: the ways in which a program is compiled. Each is a folder with the commands cc and c++,
# so that a build knows nothing of the options behind them. Which of them exist here is found by
# trying.
#
# Uses: teeperf, llvm (major), work, here; sets reason when a function fails.

# Those of which building is timed.
flavour_timed='native tp tp-dual'

# flavour_write NAME CC CXX: CC and CXX are shell text.
flavour_write() {
	mkdir -p "$work/flavours/$1"
	printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$work/flavours/$1/cc.new"
	printf '#!/bin/sh\nexec %s "$@"\n' "$3" >"$work/flavours/$1/c++.new"
	for command in cc c++; do
		chmod +x "$work/flavours/$1/$command.new"
		mv "$work/flavours/$1/$command.new" "$work/flavours/$1/$command"
	done
}

flavour_write_all() {
	clang=clang-$llvm
	tp="'$teeperf' cc"
	tpxx="'$teeperf' c++"
	flavour_write native "$clang" "clang++-$llvm"
	line=--shape=inline # the default is two bodies on some processors
	flavour_write tp "$tp $line" "$tpxx $line"
	flavour_write tp-untimed "$tp $line --clock=tsc --exits=untimed" \
		"$tpxx $line --clock=tsc --exits=untimed"
	flavour_write tp-count "$tp --level=count" "$tpxx --level=count"
	flavour_write tp-sample "$tp --level=sample" "$tpxx --level=sample"
	flavour_write tp-call "$tp --shape=call" "$tpxx --shape=call"
	flavour_write tp-dual "$tp --shape=dual" "$tpxx --shape=dual"
	flavour_write tp-filtered "$tp $line --allowlist=\"\$BENCH_ALLOWLIST\"" \
		"$tpxx $line --allowlist=\"\$BENCH_ALLOWLIST\""
	flavour_write tp-ten "$tp $line --allowlist=\"\$BENCH_TEN\"" \
		"$tpxx $line --allowlist=\"\$BENCH_TEN\""
	xray='-fxray-instrument -fxray-instruction-threshold=1'
	flavour_write xray "$clang $xray" "clang++-$llvm $xray"
	flavour_write xray-off "$clang $xray" "clang++-$llvm $xray"
	flavour_write limit "$clang -DLIMIT" false
	flavour_write limit-soft "$clang -DLIMIT_SOFT" false
	flavour_write limit-none "$clang -DLIMIT_NONE" false
	flavour_write limit-count "$clang -DLIMIT_COUNT" false
	flavour_write gcc gcc g++
	flavour_write gcc-pg 'gcc -pg' 'g++ -pg'
}

# Objects that are linked in besides the program.
flavour_link() {
	case $1 in
	xray) echo "$work/xray_fdr.o" ;;
	esac
}

# flavour_exists NAME: by compiling and running one program; the answer is kept in the state.
flavour_exists() {
	flavour_state=$work/flavours/$1/try
	if [ ! -e "$flavour_state.done" ]; then
		: >"$flavour_state.done"
		rm -f "$flavour_state.reason"
		echo 'default:allow' >"$work/flavours/everything.allow"
		BENCH_ALLOWLIST=$work/flavours/everything.allow \
			BENCH_TEN=$work/flavours/everything.allow "$work/flavours/$1/cc" -O2 \
			"$here/startup/startup_work.c" \
			-o "$flavour_state" $(flavour_link "$1") >"$flavour_state.log" 2>&1 &&
			(cd "$work/flavours/$1" && ./try) >>"$flavour_state.log" 2>&1 ||
			flavour_why "$flavour_state.log" >"$flavour_state.reason"
	fi
	[ -e "$flavour_state.reason" ] || return 0
	reason=$(cat "$flavour_state.reason")
	return 1
}

# The line of LOG that says most.
flavour_why() {
	awk '
		!first { first = $0 }
		!said && /[Ee]rror|not found|unknown|cannot/ { said = $0 }
		END { print said ? said : first ? first : "the compiler says nothing" }' "$1" |
		sed "s|$work/||g; s|$here/||g"
}

# flavour_stamp FLAVOUR: changes when the program must be built again.
flavour_stamp() {
	{
		cat "$work/flavours/$1/cc" "$bench_file" "$work/compilers"
		case $1 in
		tp*) cat "$work/teeperf.stamp" ;;
		esac
		case $1 in
		tp-filtered) cat "$BENCH_ALLOWLIST" ;;
		tp-ten) cat "$BENCH_TEN" ;;
		esac
		flavour_link "$1" | xargs -r cat
		cat "$bench_folder"/*.c "$bench_folder"/*.cpp "$bench_folder"/*.h \
			2>/dev/null || true
	} | cksum
}

# flavour_make FLAVOUR PROGRAM OUT JOBS
flavour_make() {
	CC=$work/flavours/$1/cc CXX=$work/flavours/$1/c++ CFLAGS=-O2 LDFLAGS=$(flavour_link "$1") \
		bench_source=$work/sources size=$size jobs=$4 "$work/measure" -g -o "$3.cost" -- \
		"$here/lib/build-one" "$bench_file" "$2" "$3" >"$3.log" 2>&1 </dev/null &
	await $!
}

# flavour_current FLAVOUR PROGRAM: whether $work/bin/PROGRAM/FLAVOUR is there as it should be.
flavour_current() {
	[ "$(flavour_stamp "$1")" = "$(cat "$work/bin/$2/$1.stamp" 2>/dev/null)" ]
}

# flavour_build FLAVOUR PROGRAM: into $work/bin/PROGRAM/FLAVOUR. Beside it: .stamp; and .reason, if
# it failed.
flavour_build() {
	out=$work/bin/$2/$1
	mkdir -p "$work/bin/$2"
	stamp=$(flavour_stamp "$1")
	rm -rf "$out" "$out".*
	flavour_make "$1" "$2" "$out" "$jobs" || flavour_why "$out.log" >"$out.reason"
	rm -rf "$out.objects"
	echo "$stamp" >"$out.stamp"
}

# flavour_time FLAVOUR PROGRAM: how long one build takes, alone on one processor; "compile_cpu NS".
flavour_time() {
	out=$scratch/timed
	rm -rf "$out" "$out".*
	flavour_make "$1" "$2" "$out" 1 || return 1
	awk '{ print "compile_cpu", $2 + $3 }' "$out.cost"
	rm -rf "$out" "$out".*
}

# flavour_hot_text FILE: the same without code that only runs while somebody records, and without
# TeePerf's and XRay's runtime.
flavour_hot_text() {
	nm --defined-only -S "$1" | awk '
		$3 ~ /^[tTwWiV]$/ && $4 !~ /\.recorded(\.|$)|^(__)?(teeperf|xray)_|^tp_|xray/ && !seen[$1]++ { print $2 }' |
		while read -r bytes; do
			echo $((0x$bytes))
		done | awk '{ sum += $1 } END { print sum + 0 }'
}

# flavour_text FILE: the size of its code in bytes.
flavour_text() {
	size -A -d "$1" | awk '$1 == ".text" { print $2 }'
}
