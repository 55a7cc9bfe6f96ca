), errors AS (
	-- Of `pairs`, which has means' squared errors a_se2 and b_se2, of runs_a and runs_b runs, and how many tests there are.
	SELECT *, a_se2 + b_se2 AS se2,
		CASE WHEN a_se2 + b_se2 > 0 THEN (a_se2 + b_se2) * (a_se2 + b_se2)
				/ (a_se2 * a_se2 / (runs_a - 1) + b_se2 * b_se2 / (runs_b - 1))
			ELSE runs_a + runs_b - 2.0 END AS df
	FROM pairs
), tails AS (SELECT *, sqrt(-2 * ln(0.05 / 2 / tests)) AS q FROM errors
), normal AS (
	SELECT *, q - (2.515517 + 0.802853 * q + 0.010328 * q * q)
		/ (1 + 1.432788 * q + 0.189269 * q * q + 0.001308 * q * q * q) AS z
	FROM tails
), bounds AS (
	SELECT *, z + (z * z * z + z) / (4 * df)
		+ (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * df * df)
		+ (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * df * df * df)
		+ (79 * pow(z, 9) + 776 * pow(z, 7) + 1482 * pow(z, 5) - 1920 * pow(z, 3) - 945 * z)
			/ (92160 * pow(df, 4)) AS bound
	FROM normal
)
