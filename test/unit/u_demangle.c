// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Demangling: mangled names, and texts that only look like one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/linkage_name.h"

static void check(const char *name, const char *expected)
{
	char *text = tp_demangle(name);
	if (expected) {
		assert_non_null(text);
		assert_string_equal(text, expected);
	} else {
		assert_null(text);
	}
	free(text);
}

static void names(void **state)
{
	(void)state;
	check("_ZN3foo3barEi", "foo::bar(int)");
	check("_ZNSt6vectorIiSaIiEE9push_backEOi",
	    "std::vector<int, std::allocator<int> >::push_back(int&&)");
	check("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const");
	check("_ZN3FooD0Ev", "Foo::~Foo()");
	check("_Z3runv.cold", "run() [clone .cold]");
}

// Each level is twice as long as the one before it: 36 levels in 370 bytes are more than there is
// memory.
static void a_name_does_not_explode(void **state)
{
	(void)state;
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1f1AIiiES_IS0_S0_E";
	check(name, "f(A<int, int>, A<A<int, int>, A<int, int> >)");
	for (int i = 1; i < 36; i++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "S_IS%c_S%c_E",
		    digits[i], digits[i]);
	assert_in_range(strlen(name), 300, 400);
	check(name, NULL);
	// One that is long without any doubling.
	char *text = malloc(100000);
	memset(text, 'a', 99999);
	memcpy(text, "_Z80000", 7);
	text[80007] = 'v';
	text[80008] = '\0';
	check(text, NULL);
	free(text);
}

// "f", "i" and "main" would be types to the demangler.
static void other_names_stay(void **state)
{
	(void)state;
	check("f", NULL);
	check("i", NULL);
	check("main", NULL);
	check("", NULL);
	check("_", NULL);
	check("_Z", NULL);
	check("_Zbroken", NULL);
	check("_ZN3fooE3", NULL);
	check("_ZN99999999999999999999foo", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names),
	    cmocka_unit_test(a_name_does_not_explode),
	    cmocka_unit_test(other_names_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
