FROM (
	-- The bound of Student's t is reckoned as docs/fleet.md says.
	SELECT what, fn_key, name, runs_a, runs_b, a_ns, b_ns, b_self_ns, cpu_known, a_wall_ns, b_wall_ns, var_a / runs_a AS se2_a, var_b / runs_b AS se2_b,
		se2_a + se2_b AS se2,
		if(se2 > 0, se2 * se2 / (se2_a * se2_a / (runs_a - 1) + se2_b * se2_b / (runs_b - 1)),
			toFloat64(runs_a + runs_b - 2)) AS degrees,
		sqrt(-2 * log(0.05 / 2 / tests)) AS q,
		q - (2.515517 + 0.802853 * q + 0.010328 * q * q)
			/ (1 + 1.432788 * q + 0.189269 * q * q + 0.001308 * q * q * q) AS z,
		z + (z * z * z + z) / (4 * degrees)
			+ (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * degrees * degrees)
			+ (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * degrees * degrees * degrees)
			+ (79 * pow(z, 9) + 776 * pow(z, 7) + 1482 * pow(z, 5) - 1920 * pow(z, 3) - 945 * z)
				/ (92160 * pow(degrees, 4)) AS bound
	FROM (
		SELECT tests, pair.1 AS what, pair.2 AS fn_key, pair.3 AS name, pair.4 AS runs_a, pair.5 AS runs_b,
			pair.6 AS a_ns, pair.7 AS b_ns, pair.8 AS var_a, pair.9 AS var_b, pair.10 AS b_self_ns,
			pair.11 AS cpu_known, pair.12 AS a_wall_ns, pair.13 AS b_wall_ns
		FROM (
			SELECT groupArray(tuple(what, fn_key, name, runs_a, runs_b, a_ns, b_ns, var_a, var_b, b_self_ns,
				cpu_known, a_wall_ns, b_wall_ns)) AS pairs,
				length(pairs) AS tests
			FROM (
				-- A value a run: calls of one run depend on each other, and are not many measurements.
				SELECT what, fn_key, maxIf(function, side = 'b') AS name,
					countIf(side = 'a') AS runs_a, countIf(side = 'b') AS runs_b,
					-- Processor time, where all runs of both sides know it.
					min(has_cpu) AS cpu_known,
					avgIf(x, side = 'a') AS a_wall_ns, avgIf(x, side = 'b') AS b_wall_ns,
					if(cpu_known, avgIf(cpu_x, side = 'a'), a_wall_ns) AS a_ns,
					if(cpu_known, avgIf(cpu_x, side = 'b'), b_wall_ns) AS b_ns,
					if(cpu_known, varSampIf(cpu_x, side = 'a'), varSampIf(x, side = 'a')) AS var_a,
					if(cpu_known, varSampIf(cpu_x, side = 'b'), varSampIf(x, side = 'b')) AS var_b,
					if(cpu_known, sumIf(run_cpu_ns, side = 'b'), sumIf(run_self_ns, side = 'b')) AS b_self_ns
				FROM (
					SELECT run_id, fn_key, function, assumeNotNull(self_ns) AS run_self_ns,
						run_self_ns / timed_calls AS x, isNotNull(self_cpu_ns) AS has_cpu,
						ifNull(self_cpu_ns, 0) AS run_cpu_ns, run_cpu_ns / timed_calls AS cpu_x
					FROM teeperf.functions FINAL WHERE timed_calls > 0 AND isNotNull(self_ns)
				) AS one_side
				GLOBAL ALL INNER JOIN (
