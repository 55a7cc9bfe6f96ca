// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Demangling: what is a mangled name and what only looks like one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/demangle.h"

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
	    cmocka_unit_test(other_names_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
