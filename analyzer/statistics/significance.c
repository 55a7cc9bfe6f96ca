// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Welch's t-test.
#include "significance.h"

#include <math.h>

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's
// method.
static double fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1;
	double d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double result = d;
	for (int m = 1; m < 1000; m++) {
		double change = 1;
		for (int odd = 0; odd < 2; odd++) {
			const double term =
			    odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
				: m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
			d = 1 + term * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + term / c;
			c = fabs(c) < tiny ? tiny : c;
			change = c * d;
			result *= change;
		}
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return result;
}

// The logarithm of the gamma function; lgamma() sets a global variable.
static double log_gamma(double x)
{
	int sign;
	return lgamma_r(x, &sign);
}

double tp_significance_beta(double x, double a, double b)
{
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	const double front =
	    exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	// It converges fast on this side, and the other one is its mirror image.
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(x, a, b) / a;
	return 1 - front * fraction(1 - x, b, a) / b;
}

// The mean, and the variance of that mean.
static double mean_of(const double *values, uint32_t count, double *variance)
{
	double sum = 0;
	double squares = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	const double mean = sum / count;
	for (uint32_t i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	*variance = squares / (count - 1) / count;
	return mean;
}

double tp_significance_welch(const double *a, uint32_t a_count, const double *b, uint32_t b_count)
{
	double a_variance;
	double b_variance;
	if (a_count < 2 || b_count < 2)
		return NAN;
	const double difference =
	    mean_of(b, b_count, &b_variance) - mean_of(a, a_count, &a_variance);
	const double variance = a_variance + b_variance;
	if (!(variance > 0))
		return difference == 0 ? 1 : 0;
	const double df =
	    variance * variance /
	    (a_variance * a_variance / (a_count - 1) + b_variance * b_variance / (b_count - 1));
	const double t2 = difference * difference / variance;
	return tp_significance_beta(df / (df + t2), df / 2, 0.5);
}
