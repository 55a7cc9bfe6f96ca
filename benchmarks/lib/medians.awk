# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From the lines of single runs (bench.sh) to one line per quantity: BENCH VARIANT KEY MEDIAN RUNS.
# Keys: program_wall, program_cpu, program_kib, program_faults, the same of whole, kernel_wall,
# kernel_cpu; the facts' own; build_wall, build_cpu, text, hot_text; micro/NAME/wall, micro/NAME/cpu. The order of
# first appearance is kept.

BEGIN {
	FS = "\t"
	OFS = "\t"
}

function add(bench, variant, key, value,    id) {
	id = bench FS variant FS key
	if (!(id in runs))
		order[++ids] = id
	values[id, ++runs[id]] = value
}

function median(id,    n, i, j, t, v) {
	n = runs[id]
	for (i = 1; i <= n; i++) {
		t = values[id, i] + 0
		for (j = i - 1; j >= 1 && v[j] > t; j--)
			v[j + 1] = v[j]
		v[j + 1] = t
	}
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

$1 == "run" {
	add($2, $3, $4 "_wall", $5)
	add($2, $3, $4 "_cpu", $6 + $7)
	if ($4 != "kernel") {
		add($2, $3, $4 "_kib", $8)
		add($2, $3, $4 "_faults", $9 + $10)
	}
}
$1 == "fact" { add($2, $3, $4, $5) }
$1 == "micro" {
	add($2, $3, "micro/" $4 "/wall", $5)
	add($2, $3, "micro/" $4 "/cpu", $6)
}
$1 == "build" {
	add($2, $3, "build_wall", $4)
	add($2, $3, "build_cpu", $5)
}
$1 == "text" || $1 == "hot_text" { add($2, $3, $1, $4) }

END {
	for (i = 1; i <= ids; i++)
		print order[i], sprintf("%.9g", median(order[i])), runs[order[i]]
}
