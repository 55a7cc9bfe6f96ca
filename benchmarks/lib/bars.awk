# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The bars: what was promised, what was measured, and how far apart these are. From medians.tsv, with
# -v size=... -v skipped=skipped.tsv.

BEGIN {
	while ((getline line <skipped) > 0) {
		split(line, field, "\t")
		why[field[1], field[2]] = field[3]
	}
}

{ value[$1, $2, $3] = $4 }

function has(bench, variant, key) {
	return (bench, variant, key) in value
}

function heading() {
	printf "%-64s %8s %10s %8s  %s\n", "what", "bar", "measured", "ratio", "verdict"
}

# MEASURED is to be at most BAR (at least, if LEAST); "" if it is not known, for REASON.
function bar(what, limit, unit, measured, reason, least,    met) {
	if (measured == "") {
		printf "%-64s %8s %10s %8s  %s\n", what, limit unit, "-", "-", "not measured" (reason ? ": " reason : "")
		return
	}
	met = least ? measured >= limit : measured <= limit
	printf "%-64s %8s %10s %8.2f  %s\n", what, limit unit, sprintf("%.2f", measured) unit, measured / limit,
		met ? "met" : "MISSED"
}

function because(bench, variant) {
	return why[bench, variant]
}

function divided(bench, variant, base, key) {
	if (!has(bench, variant, key) || !has(bench, base, key) || !value[bench, base, key])
		return ""
	return value[bench, variant, key] / value[bench, base, key]
}

function over(bench, variant, key) {
	if (!has(bench, variant, key) || !has(bench, "native", key))
		return ""
	return value[bench, variant, key] - value[bench, "native", key]
}

# What VARIANT costs over native, over what the limit costs over native.
function over_limit(bench, variant, key,    cost, limit) {
	cost = over(bench, variant, key)
	limit = over(bench, "limit", key)
	return cost == "" || limit == "" || limit <= 0 ? "" : cost / limit
}

# Geometric mean over the kernels of VARIANT's time over perf's; in missing those that lack one.
function geometric(variant, threads,    names, n, i, bench, sum, each) {
	n = split("histogram kmeans linear_regression matrix_multiply pca reverse_index string_match word_count",
		names, " ")
	missing = ""
	for (i = 1; i <= n; i++) {
		bench = "phoenix-" names[i] "-" threads
		each = divided(bench, variant, "perf", "kernel_wall")
		if (each == "")
			missing = missing (missing ? ", " : "") names[i]
		else
			sum += log(each)
	}
	if (missing)
		missing = "no figures for " missing
	return missing ? "" : exp(sum / n)
}

function phoenix_bars(variant, threads, what,    g) {
	g = geometric(variant, threads)
	bar("Phoenix, " what ", over perf record, geometric mean", 1.15, "x", g, missing)
}

function bytes_bar(bench, variant, limit, what,    b) {
	b = ""
	if (has(bench, variant, "bytes") && value[bench, variant, "events"] > 0)
		b = value[bench, variant, "bytes"] / value[bench, variant, "events"]
	bar(bench ", bytes per event, " what, limit, "", b, because(bench, variant))
}

function build_bars(bench,    compile, text) {
	compile = divided(bench, "tp", "native", "build_cpu")
	bar(bench ", compile time, all functions", 12, "%", compile == "" ? "" : (compile - 1) * 100)
	text = divided(bench, "tp", "native", "text")
	bar(bench ", size of .text with the runtime in it", 26, "%", text == "" ? "" : (text - 1) * 100)
}

function divided_bar(bench, what, limit, variant, base, key) {
	bar(what, limit, "x", divided(bench, variant, base, key),
		because(bench, variant) ? because(bench, variant) : because(bench, base))
}

# What a build costs that is shipped: nobody records, everything is instrumented; and what it costs to record with it.
function production_bars(bench, name) {
	divided_bar(bench, name ", no recorder", 1.02, "plain", "native", "program_cpu")
	divided_bar(bench, name ", no recorder, two bodies", 1.01, "dual-plain", "native", "program_cpu")
	divided_bar(bench, name ", no recorder, two bodies over XRay dormant", 1, "dual-plain", "xray-off", "program_cpu")
	divided_bar(bench, name ", no recorder, instructions, in line", 1.01, "cachegrind-plain", "cachegrind", "instructions")
	divided_bar(bench, name ", no recorder, instructions, two bodies", 1.01, "cachegrind-dual", "cachegrind", "instructions")
	divided_bar(bench, name ", no recorder, instructions, XRay dormant", 1.01, "cachegrind-xray", "cachegrind", "instructions")
	divided_bar(bench, name ", no recorder, I1 misses, in line", 1.5, "cachegrind-plain", "cachegrind", "i1_misses")
	divided_bar(bench, name ", no recorder, I1 misses, two bodies", 1.5, "cachegrind-dual", "cachegrind", "i1_misses")
	divided_bar(bench, name ", no recorder, I1 misses, XRay dormant", 1.5, "cachegrind-xray", "cachegrind", "i1_misses")
	divided_bar(bench, name ", .text, two bodies", 2.1, "tp-dual", "native", "text")
	divided_bar(bench, name ", text that runs while nobody records, two bodies", 1.05, "tp-dual", "native", "hot_text")
	divided_bar(bench, name ", tsc, two bodies over in line", 1, "dual-tsc", "tsc", "program_cpu")
	divided_bar(bench, name ", soft clock, two bodies over in line", 1, "dual-soft", "soft", "program_cpu")
	divided_bar(bench, name ", no clock, two bodies over in line", 1, "dual-none", "none", "program_cpu")
}

END {
	print "Bars" (size == "full" ? "" : " (stated for full size; this run is '" size "')")
	print ""
	heading()
	bar("leaf pair, tsc, cost over that of the hand-written limit", 1.03, "x",
		over_limit("micro-leaf", "tsc", "micro/leaf/wall"), because("micro-leaf", "tsc"))
	bar("leaf pair, soft clock, over native", 2, " ns", over("micro-leaf", "soft", "micro/leaf/wall"),
		because("micro-leaf", "soft"))
	bar("SQLite, all calls, soft clock", 1.6, "x", divided("sqlite", "soft", "native", "program_wall"),
		because("sqlite", "soft"))
	bar("SQLite, all calls, tsc", 3.2, "x", divided("sqlite", "tsc", "native", "program_wall"),
		because("sqlite", "tsc"))
	bar("SQLite, all calls, no clock", 1.25, "x", divided("sqlite", "none", "native", "program_wall"),
		because("sqlite", "none"))
	bar("two threads, tsc, cpu per call over that of the limit", 1.1, "x",
		over_limit("micro-threads2", "tsc", "micro/threads2.two/cpu"), because("micro-threads2", "tsc"))
	bar("leaf pair, switched off, over native", 0.6, " ns", over("micro-leaf", "off", "micro/leaf/wall"),
		because("micro-leaf", "off"))
	bar("leaf pair, count only, over native", 0.3, " ns", over("micro-leaf", "count", "micro/leaf/wall"),
		because("micro-leaf", "count"))
	phoenix_bars("soft", 2, "2 threads, soft clock")
	phoenix_bars("soft", 1, "1 thread, soft clock")
	phoenix_bars("tsc", 2, "2 threads, tsc")
	phoenix_bars("tsc", 1, "1 thread, tsc")
	bar("string_match, every call, 2 threads, soft clock, over perf record", 2, "x",
		divided("phoenix-string_match_calls-2", "soft", "perf", "kernel_wall"),
		because("phoenix-string_match_calls-2", "soft"))
	bar("string_match, every call, 1 thread, soft clock, over perf record", 2, "x",
		divided("phoenix-string_match_calls-1", "soft", "perf", "kernel_wall"),
		because("phoenix-string_match_calls-1", "soft"))
	rate = has("drain", "own", "rate_m") ? value["drain", "own", "rate_m"] : ""
	bar("stream mode, one drain thread to memory, M events/s", 80, "", rate, because("drain", "own"), 1)
	# An event is 8 bytes; a hundredth more is for the heads of chunks and files.
	bytes_bar("sqlite", "tsc", 8.08, "raw, all of the file")
	bytes_bar("lua", "tsc", 8.08, "raw, all of the file")
	bytes_bar("sqlite", "compressed", 3, "compressed")
	bytes_bar("lua", "compressed", 3, "compressed")
	build_bars("sqlite")
	build_bars("lua")
	divided_bar("sqlite", "SQLite, ten functions by --only over the same by list", 1.01, "ten-only", "ten-listed", "program_cpu")
	divided_bar("sqlite", "SQLite, the same, two bodies", 1.01, "ten-only-dual", "ten-listed", "program_cpu")
	production_bars("sqlite", "SQLite")
	production_bars("lua", "Lua")
	production_bars("leveldb", "LevelDB")
	production_bars("zlib", "zlib")
	bar("leaf pair, two bodies, no recorder, over native", 0.3, " ns",
		over("micro-leaf", "dual-plain", "micro/leaf/wall"), because("micro-leaf", "dual-plain"))
	bar("leaf pair, XRay dormant, over native", 0.3, " ns", over("micro-leaf", "xray-off", "micro/leaf/wall"),
		because("micro-leaf", "xray-off"))
}
