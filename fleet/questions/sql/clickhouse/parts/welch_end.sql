				) AS other_side USING (run_id)
				GROUP BY what, fn_key HAVING runs_a >= 5 AND runs_b >= 5
			)
		)
		ARRAY JOIN pairs AS pair
	)
)
