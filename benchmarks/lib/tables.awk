# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A table for each benchmark, from medians.tsv; with -v variants=variants.tab -v skipped=skipped.tsv.

BEGIN {
	while ((getline line <variants) > 0) {
		if (line ~ /^#/)
			continue
		split(line, field, "\t")
		variant_order[++variant_count] = field[1]
		base_of[field[1]] = field[3]
		flavour_of[field[1]] = field[2]
		label[field[1]] = field[4]
	}
	while ((getline line <skipped) > 0) {
		split(line, field, "\t")
		note_bench(field[1])
		why[field[1], field[2]] = field[3]
	}
}

function note_bench(bench) {
	if (!(bench in known)) {
		known[bench] = 1
		benches[++bench_count] = bench
	}
}

{
	value[$1, $2, $3] = $4
	count[$1, $2, $3] = $5
	if ($3 == "text") {
		if (!($1 in built)) {
			built[$1] = 1
			programs[++program_count] = $1
		}
		flavours[$1] = flavours[$1] " " $2
	} else if ($3 !~ /^build_/ && $3 != "hot_text")
		note_bench($1)
	if ($2 == "own")
		own[$1] = own[$1] " " $3
	if ($3 ~ /^micro\/.*\/wall$/) {
		name = $3
		sub(/^micro\//, "", name)
		sub(/\/wall$/, "", name)
		if (!(($1, name) in micro_known)) {
			micro_known[$1, name] = 1
			micro[$1] = micro[$1] " " name
		}
	}
}

function has(bench, variant, key) {
	return (bench, variant, key) in value
}

# value / divisor with DIGITS, or a dash.
function shown(bench, variant, key, divisor, digits) {
	return has(bench, variant, key) ? sprintf("%." digits "f", value[bench, variant, key] / divisor) : "-"
}

function ratio(bench, variant, key, base, base_key) {
	if (!has(bench, variant, key) || !has(bench, base, base_key) || !value[bench, base, base_key])
		return "-"
	return sprintf("%.2f", value[bench, variant, key] / value[bench, base, base_key])
}

# CPU time over the base per event; per call where calls are counted. Few events drown in noise.
function each(bench, variant, base,    key, cost) {
	key = variant == "count" || variant == "sample" ? "calls" : "events"
	if (variant == base || !has(bench, variant, key) || value[bench, variant, key] < 100000 ||
	    !has(bench, base, "program_cpu"))
		return "-"
	cost = value[bench, variant, "program_cpu"] - value[bench, base, "program_cpu"]
	return sprintf("%.2f", cost / value[bench, variant, key])
}

function per_event(bench, variant) {
	if (!has(bench, variant, "events") || value[bench, variant, "events"] < 1000)
		return "-"
	return sprintf("%.2f", value[bench, variant, "bytes"] / value[bench, variant, "events"])
}

function remark(bench, variant,    text) {
	if (has(bench, variant, "starved") && value[bench, variant, "starved"] > 0)
		text = "  the clock stood still for " value[bench, variant, "starved"] " %"
	if ((bench, variant) in why)
		text = text "  then failed: " why[bench, variant]
	return text
}

function program_table(bench,    i, v, b, kernel) {
	kernel = has(bench, "native", "kernel_wall")
	printf "%-32s %9s %7s %9s %7s %7s %7s %9s %7s %8s %8s %8s %8s %9s %4s\n", bench, "wall ms", "x", "cpu ms", "x",
		kernel ? "kernel" : "", "whole x", "events M", "lost", "ns/event", "MB", "B/event", "MiB", "faults", "runs"
	for (i = 1; i <= variant_count; i++) {
		v = variant_order[i]
		b = base_of[v]
		if (has(bench, v, "program_wall")) {
			printf "%-32s %9s %7s %9s %7s %7s %7s %9s %7s %8s %8s %8s %8s %9s %4d%s\n", label[v],
				shown(bench, v, "program_wall", 1e6, 2), ratio(bench, v, "program_wall", b, "program_wall"),
				shown(bench, v, "program_cpu", 1e6, 2), ratio(bench, v, "program_cpu", b, "program_cpu"),
				kernel ? ratio(bench, v, "kernel_wall", b, "kernel_wall") : "",
				ratio(bench, v, "whole_wall", b, "whole_wall"),
				shown(bench, v, "events", 1e6, 3), shown(bench, v, "lost", 1, 0), each(bench, v, b),
				shown(bench, v, "bytes", 1e6, 1), per_event(bench, v),
				shown(bench, v, "program_kib", 1024, 1), shown(bench, v, "program_faults", 1, 0),
				count[bench, v, "program_wall"],
				remark(bench, v)
		} else if ((bench, v) in why)
			printf "%-32s not run: %s\n", label[v], why[bench, v]
	}
	print ""
}

function over(bench, variant, key, base) {
	if (variant == base || !has(bench, variant, key) || !has(bench, base, key))
		return "-"
	return sprintf("%+.2f", value[bench, variant, key] - value[bench, base, key])
}

function micro_table(bench,    i, j, n, names, v, b, key) {
	n = split(micro[bench], names, " ")
	for (j = 1; j <= n; j++) {
		key = "micro/" names[j]
		printf "%-38s %9s %9s %9s %9s %9s %7s %8s %4s\n", names[j], "ns/call", "over", "cpu ns", "over", "events M",
			"lost", "B/event", "runs"
		for (i = 1; i <= variant_count; i++) {
			v = variant_order[i]
			b = base_of[v]
			if (has(bench, v, key "/wall"))
				printf "%-38s %9s %9s %9s %9s %9s %7s %8s %4d%s\n", label[v],
					shown(bench, v, key "/wall", 1, 2), over(bench, v, key "/wall", b),
					shown(bench, v, key "/cpu", 1, 2), over(bench, v, key "/cpu", b),
					shown(bench, v, "events", 1e6, 3), shown(bench, v, "lost", 1, 0), per_event(bench, v),
					count[bench, v, key "/wall"], remark(bench, v)
			else if ((bench, v) in why)
				printf "%-38s not run: %s\n", label[v], why[bench, v]
		}
		print ""
	}
}

# Programs whose builds are measured, with a line for each flavour; then the code sizes of the others.
function build_table(    i, j, n, names, p, f, b) {
	if (!program_count)
		return
	printf "%-32s %-14s %12s %7s %12s %7s %7s\n", "builds", "flavour", "compile s", "x", ".text bytes", "x", "builds"
	for (i = 1; i <= program_count; i++) {
		p = programs[i]
		n = split(flavours[p], names, " ")
		for (j = 1; j <= n && has(p, "native", "build_cpu"); j++) {
			f = names[j]
			b = f ~ /^gcc/ ? "gcc" : "native"
			printf "%-32s %-14s %12s %7s %12s %7s %7d\n", p, f, shown(p, f, "build_cpu", 1e9, 2),
				ratio(p, f, "build_cpu", b, "build_cpu"), shown(p, f, "text", 1, 0),
				ratio(p, f, "text", b, "text"), count[p, f, "build_cpu"]
		}
	}
	print ""
	print "bytes of .text of the others"
	for (i = 1; i <= program_count; i++) {
		p = programs[i]
		if (has(p, "native", "build_cpu"))
			continue
		printf "%-32s", p
		n = split(flavours[p], names, " ")
		for (j = 1; j <= n; j++)
			printf "%s %s %s", (j > 1 ? "," : ""), names[j], shown(p, names[j], "text", 1, 0)
		print ""
	}
	print ""
}

# What a benchmark measures by itself: a line per figure.
function own_table(bench,    i, n, keys, name) {
	printf "%-64s %12s %4s\n", bench, "median", "runs"
	n = split(own[bench], keys, " ")
	for (i = 1; i <= n; i++) {
		name = keys[i]
		gsub(/_/, " ", name)
		gsub(/,/, ", ", name)
		printf "%-64s %12s %4d\n", name, shown(bench, "own", keys[i], 1, 3), count[bench, "own", keys[i]]
	}
	if ((bench, "own") in why)
		printf "not run: %s\n", why[bench, "own"]
	print ""
}

END {
	for (i = 1; i <= bench_count; i++) {
		if (benches[i] in micro)
			micro_table(benches[i])
		else if (benches[i] in own || (benches[i], "own") in why)
			own_table(benches[i])
		else
			program_table(benches[i])
	}
	build_table()
}
