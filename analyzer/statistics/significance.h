/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether two groups of numbers differ by more than chance. */
#ifndef TP_SIGNIFICANCE_H
#define TP_SIGNIFICANCE_H

#include <stdint.h>

/*
 * ---- Whether two sets of measurements differ by more than chance: Welch's t-test (B. L. Welch,
 * "The generalization of 'Student's' problem when several different population variances are
 * involved", Biometrika 34, 1947), which supposes neither equal variances nor equal numbers.
 *
 *	t  = (mean B - mean A) / sqrt(varA / nA + varB / nB)
 *	df = (varA / nA + varB / nB)^2 / ((varA / nA)^2 / (nA - 1) + (varB / nB)^2 / (nB - 1))
 *	p  = I(df / (df + t^2); df / 2, 1 / 2), the regularized incomplete beta function
 */

/*
 * How likely a difference of the means like this one, or a greater one, would be if both came from
 * the same distribution; NAN with less than two values on a side. If no value varies: 1 if all are
 * equal, else 0.
 */
double tp_significance_welch(const double *a, uint32_t a_count, const double *b, uint32_t b_count);
/* The regularized incomplete beta function, for 0 <= x <= 1 and a, b > 0. */
double tp_significance_beta(double x, double a, double b);

#endif
