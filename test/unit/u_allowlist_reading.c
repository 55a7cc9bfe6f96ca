// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By which texts functions, names, files and modules are known to a list.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allowlists/language/reading.h"

#include <stdio.h>
#include <string.h>

// The readings, with '|' between them.
static void expect_joined(const struct tp_readings *found, const char *all)
{
	const struct tp_readings readings = *found;
	char joined[1024] = "";
	for (uint32_t i = 0; i < readings.count; i++) {
		if (i)
			strcat(joined, "|");
		strncat(joined, readings.items[i].text, readings.items[i].size);
	}
	assert_string_equal(joined, all);
}

static void expect(
    void (*read)(struct tp_readings *readings, const char *text), const char *text, const char *all)
{
	struct tp_readings readings;
	read(&readings, text);
	expect_joined(&readings, all);
}

// Of a copy, what it was made of is a reading, whatever the copy is called.
static void expect_copy(
    void (*read)(struct tp_readings *readings, const char *text, const char *origin),
    const char *text, const char *origin, const char *all)
{
	struct tp_readings readings;
	read(&readings, text, origin);
	expect_joined(&readings, all);
}

static void read_function(struct tp_readings *readings, const char *function)
{
	tp_readings_of_function(readings, function, NULL);
}

static void read_name(struct tp_readings *readings, const char *demangled)
{
	tp_readings_of_name(readings, demangled, NULL);
}

static void test_functions(void **state)
{
	(void)state;
	void (*const read)(struct tp_readings *, const char *) = read_function;
	expect(read, NULL, "");
	expect(read, "main", "main");
	expect(read, "_Z3foov.llvm.123", "_Z3foov.llvm.123|_Z3foov");
	expect(read, "foo.constprop.0.isra.1", "foo.constprop.0.isra.1|foo.constprop.0|foo");
	expect(read, "foo.part.0.cold", "foo.part.0.cold|foo.part.0|foo");
	expect(read, "foo.cold.1", "foo.cold.1|foo");
	expect(read, "foo.avx2.0", "foo.avx2.0|foo");
	expect(read, "foo.sse4.2.3", "foo.sse4.2.3|foo");
	expect(read, "foo.arch_x86-64-v3", "foo.arch_x86-64-v3|foo");
	expect(read, "foo._Msve2", "foo._Msve2|foo");
	expect(read, "foo.default.1", "foo.default.1|foo");
	expect(read, "foo.resume", "foo.resume|foo");
	expect(read, "foo.__uniq.4711.llvm.1", "foo.__uniq.4711.llvm.1|foo.__uniq.4711|foo");
	// Not copies: a number alone, other words, nothing in front.
	expect(read, "foo.1", "foo.1");
	expect(read, "foo.bar", "foo.bar");
	expect(read, "foo.bar.1", "foo.bar.1");
	expect(read, "foo.parted", "foo.parted");
	expect(read, "foo.cold.bar", "foo.cold.bar");
	expect(read, ".cold", ".cold");
	expect(read, "foo.", "foo.");
	expect(read, "foo..cold", "foo..cold|foo.");
	expect(read, ".", ".");
	// No more than there is room for.
	expect(read, "f.cold.cold.cold.cold.cold.cold.cold",
	    "f.cold.cold.cold.cold.cold.cold.cold|f.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold|f.cold.cold.cold.cold|f.cold.cold.cold|f.cold.cold|"
	    "f.cold|f");
	expect(read,
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold",
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold.cold.cold|f.cold.cold.cold.cold.cold.cold.cold|"
	    "f.cold.cold.cold.cold.cold.cold|f.cold.cold.cold.cold.cold|f.cold.cold.cold.cold|"
	    "f.cold.cold.cold|f.cold.cold|f.cold");
	expect_copy(tp_readings_of_function, "foo.1", "foo", "foo.1|foo");
	expect_copy(tp_readings_of_function, "foo.1.if.then", "foo.__uniq.1",
	    "foo.1.if.then|foo.__uniq.1|foo");
	expect_copy(tp_readings_of_function, "", "foo", "|foo");
	expect_copy(tp_readings_of_name, "foo.1", "foo", "foo.1|foo");
	expect_copy(tp_readings_of_name, "A::put(int) [clone .1]", "A::put(int)",
	    "A::put(int) [clone .1]|A::put(int)|A::put");
}

static void test_renamed(void **state)
{
	(void)state;
	assert_true(tp_name_is_renamed("foo.llvm.123", "foo"));
	assert_true(tp_name_is_renamed("foo.4", "foo"));
	assert_true(tp_name_is_renamed("foo.4.llvm.123", "foo"));
	assert_false(tp_name_is_renamed("foo", "foo"));
	assert_false(tp_name_is_renamed("foo.", "foo"));
	assert_false(tp_name_is_renamed("foo.llvm.", "foo"));
	assert_false(tp_name_is_renamed("foo.llvm.1x", "foo"));
	assert_false(tp_name_is_renamed("foo.specialized.1", "foo"));
	assert_false(tp_name_is_renamed("foo.llvm.1.resume", "foo"));
	assert_false(tp_name_is_renamed("fool.1", "foo"));
	assert_false(tp_name_is_renamed("f", "foo"));
}

static void test_names(void **state)
{
	(void)state;
	void (*const read)(struct tp_readings *, const char *) = read_name;
	expect(read, NULL, "");
	expect(read, "", "");
	expect(read, "main", "main");
	expect(read, "A::put(int)", "A::put(int)|A::put");
	expect(read, "A::put(void (*)(int)) const", "A::put(void (*)(int)) const|A::put");
	expect(read, "A::put() const &", "A::put() const &|A::put");
	expect(read, "A::put() &&", "A::put() &&|A::put");
	expect(read, "A::operator()(int) const", "A::operator()(int) const|A::operator()");
	expect(read, "A::operator()", "A::operator()");
	expect(read, "(anonymous namespace)::f(int)",
	    "(anonymous namespace)::f(int)|(anonymous namespace)::f");
	expect(read, "f()::{lambda(int)#1}::operator()(int) const",
	    "f()::{lambda(int)#1}::operator()(int) const|f()::{lambda(int)#1}::operator()");
	expect(read, "put[abi:cxx11](int)", "put[abi:cxx11](int)|put[abi:cxx11]");
	expect(read, "put(int) [clone .cold]", "put(int) [clone .cold]|put(int)|put");
	expect(read, "put(int) const [clone .part.0] [clone .cold]",
	    "put(int) const [clone .part.0] [clone .cold]|put(int) const|put");
	expect(read, "put.part.0", "put.part.0|put");
	// The name of a template's instance begins with its return type.
	expect(read, "int tmpl<int>(int)",
	    "int tmpl<int>(int)|int tmpl<int>|tmpl<int>(int)|tmpl<int>");
	expect(read, "char const* A::f<int>(int) const [clone .cold]",
	    "char const* A::f<int>(int) const [clone .cold]|char const* A::f<int>(int) const|"
	    "char const* A::f<int>|A::f<int>(int) const [clone .cold]|A::f<int>(int) const|"
	    "A::f<int>");
	expect(read, "unsigned long (anonymous namespace)::f<int>()",
	    "unsigned long (anonymous namespace)::f<int>()|unsigned long "
	    "(anonymous namespace)::f<int>|"
	    "(anonymous namespace)::f<int>()|(anonymous namespace)::f<int>");
	expect(read, "S& std::operator<< <T<int> >(S&, char)",
	    "S& std::operator<< <T<int> >(S&, char)|S& std::operator<< <T<int> >|"
	    "std::operator<< <T<int> >(S&, char)|std::operator<< <T<int> >");
	expect(read, "bool A::operator==<int>(int)",
	    "bool A::operator==<int>(int)|bool A::operator==<int>|A::operator==<int>(int)|"
	    "A::operator==<int>");
	expect(read, "auto main::{lambda(auto:1)#1}::operator()<int>(int) const",
	    "auto main::{lambda(auto:1)#1}::operator()<int>(int) const|"
	    "auto main::{lambda(auto:1)#1}::operator()<int>|"
	    "main::{lambda(auto:1)#1}::operator()<int>(int) const|"
	    "main::{lambda(auto:1)#1}::operator()<int>");
	expect(read, "decltype ((a)+(b)) sum<int>(int)",
	    "decltype ((a)+(b)) sum<int>(int)|decltype ((a)+(b)) sum<int>|sum<int>(int)|sum<int>");
	// No type, or one around the name.
	expect(read, "A::f() const::{lambda()#1}::operator()() const",
	    "A::f() const::{lambda()#1}::operator()() const|A::f() "
	    "const::{lambda()#1}::operator()");
	expect(read, "A::operator unsigned long() const",
	    "A::operator unsigned long() const|A::operator unsigned long");
	expect(read, "A::operator std::vector<int, B<int> >()",
	    "A::operator std::vector<int, B<int> >()|A::operator std::vector<int, B<int> >");
	expect(read, "int (*f<int>(int))(char)", "int (*f<int>(int))(char)|int (*f<int>(int))");
	expect(read, "non-virtual thunk to A::f()",
	    "non-virtual thunk to A::f()|non-virtual thunk to A::f");
	expect(read, "<T as core::fmt::Display>::fmt", "<T as core::fmt::Display>::fmt");
	expect(read, "a b(", "a b(");
	expect(read, "operator", "operator");
	expect(read, "x operator<", "x operator<|operator<");
	expect(read, "operator new[]", "operator new[]");
	expect(
	    read, "operator new[](unsigned long)", "operator new[](unsigned long)|operator new[]");
	// Not names, but they must do no harm.
	expect(read, ")", ")");
	expect(read, "())", "())");
	expect(read, "(x)", "(x)");
	expect(read, " const", " const");
	expect(read, "]", "]");
}

static void test_files(void **state)
{
	(void)state;
	expect(tp_readings_of_file, NULL, "");
	expect(tp_readings_of_file, "a/b.c", "a/b.c");
	expect(tp_readings_of_file, "././a/b.c", "a/b.c");
	expect(tp_readings_of_file, "../a.c", "../a.c");
	expect(tp_readings_of_module, NULL, "");
	expect(tp_readings_of_module, "libfoo.so", "libfoo.so");
	expect(tp_readings_of_module, "/usr/lib/libfoo.so", "/usr/lib/libfoo.so|libfoo.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_functions),
	    cmocka_unit_test(test_renamed),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
