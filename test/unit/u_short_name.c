// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names as people read them: of LevelDB, RocksDB, libstdc++, libc++ and Rust, as demanglers write
// them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/short_name.h"

static void check(const char *name, const char *wanted)
{
	struct tp_buf out;
	tp_buf_init(&out);
	tp_buf_add_string(&out, "before ");
	tp_short_name_add(&out, name);
	assert_memory_equal(out.data, "before ", 7);
	assert_string_equal(out.data + 7, wanted);
	tp_buf_release(&out);
}

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define TREE                                                                                   \
	"std::_Rb_tree<int, std::pair<int const, long>, std::_Select1st<std::pair<int const, " \
	"long> >, std::less<int>, std::allocator<std::pair<int const, long> > >"

static void test_libstdcxx(void **state)
{
	(void)state;
	check(TREE "::find(int const&)", "std::_Rb_tree<…>::find");
	check(TREE "::_M_begin() const", "std::_Rb_tree<…>::_M_begin");
	check(STRING "::reserve(unsigned long)", "std::string::reserve");
	check("std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, "
	      "std::allocator<wchar_t> >::size() const",
	    "std::wstring::size");
	check("std::__cxx11::basic_string<char, std::char_traits<char>, "
	      "my::arena<char> >::size() const",
	    "std::basic_string<…>::size");
	check("std::basic_string_view<char, std::char_traits<char> >::find(char, "
	      "unsigned long) const",
	    "std::string_view::find");
	check("std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
	      "<std::char_traits<char> >"
	      "(std::basic_ostream<char, std::char_traits<char> >&, char const*)",
	    "std::operator<< <…>");
	check("bool std::operator==<char, std::char_traits<char>, std::allocator<char> >(" STRING
	      " const&, char const*)",
	    "std::operator==<…>");
	check("bool __gnu_cxx::operator!=<int*, std::vector<int, std::allocator<int> > >(int)",
	    "__gnu_cxx::operator!=<…>");
	check("<operator<>", "<operator<>");
	check("<app::operator<u8> as T>::f", "<app::operator<u8> as T>::f");
	check("std::ostream::operator<<(int)", "std::ostream::operator<<");
	check("std::__cxx11::list<int, std::allocator<int> >::push_back(int const&)",
	    "std::list<…>::push_back");
	check("std::unique_ptr<Foo, std::default_delete<Foo> >::operator->() const",
	    "std::unique_ptr<…>::operator->");
	check("std::vector<bool, std::allocator<bool> >::operator[](unsigned long)",
	    "std::vector<…>::operator[]");
	check("std::function<void ()>::operator()() const", "std::function<…>::operator()");
	check("void std::__introsort_loop<int*, long, __gnu_cxx::__ops::_Iter_comp_iter<bool "
	      "(*)(int, int)> >"
	      "(int*, int*, long, __gnu_cxx::__ops::_Iter_comp_iter<bool (*)(int, int)>)",
	    "std::__introsort_loop<…>");
	check("decltype (((declval<int>)())+(1)) add<int>(int)", "add<…>");
	check("operator new(unsigned long)", "operator new");
	check("operator new[](unsigned long, std::align_val_t)", "operator new[]");
	check("operator\"\" _km(long double)", "operator\"\" _km");
	check("Foo::operator bool() const", "Foo::operator bool");
	check("Foo::operator unsigned long() const", "Foo::operator unsigned long");
	check("Foo::operator std::vector<int, std::allocator<int> >() const",
	    "Foo::operator std::vector<…>");
	check("std::locale::name[abi:cxx11]() const", "std::locale::name");
	check("non-virtual thunk to std::iostream::~iostream()",
	    "non-virtual thunk to std::iostream::~iostream");
	check("std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> "
	      ">::size() const",
	    "std::string::size");
	check("std::__1::vector<int, std::__1::allocator<int> >::push_back(int&&)",
	    "std::vector<…>::push_back");
}

static void test_databases(void **state)
{
	(void)state;
	check(
	    "leveldb::SkipList<char const*, leveldb::MemTable::KeyComparator>::FindGreaterOrEqual("
	    "char const* const&, leveldb::SkipList<char const*, "
	    "leveldb::MemTable::KeyComparator>::Node**) const",
	    "leveldb::SkipList<…>::FindGreaterOrEqual");
	check("leveldb::(anonymous namespace)::PosixWritableFile::Append(leveldb::Slice const&)",
	    "leveldb::(anonymous namespace)::PosixWritableFile::Append");
	check("(anonymous namespace)::main_loop(int)", "(anonymous namespace)::main_loop");
	check("leveldb::DBImpl::Get(leveldb::ReadOptions const&, leveldb::Slice const&, " STRING
	      "*)",
	    "leveldb::DBImpl::Get");
	check("rocksdb::InlineSkipList<rocksdb::MemTableRep::KeyComparator "
	      "const&>::Insert<false>(char const*, "
	      "rocksdb::InlineSkipList<rocksdb::MemTableRep::KeyComparator const&>::Splice*, bool)",
	    "rocksdb::InlineSkipList<…>::Insert<…>");
	check("bool rocksdb::InlineSkipList<rocksdb::MemTableRep::KeyComparator "
	      "const&>::Insert<true>(char const*)",
	    "rocksdb::InlineSkipList<…>::Insert<…>");
	check("rocksdb::DBImpl::BackgroundCallFlush(rocksdb::Env::Priority)",
	    "rocksdb::DBImpl::BackgroundCallFlush");
	check("rocksdb::WriteThread::AwaitState(rocksdb::WriteThread::Writer*, unsigned char, "
	      "rocksdb::WriteThread::AdaptationContext*)::{lambda()#1}::operator()() const",
	    "rocksdb::WriteThread::AwaitState::{lambda#1}::operator()");
}

static void test_odd(void **state)
{
	(void)state;
	// What has nothing to leave out.
	static const char *const same[] = {"main", "parse_line", "[attached]", "(smaller)",
	    "0x1234", "a::b", "", "<", "<>", "a<", "a(", "a)", "a>", "::", "f(int", "f<int",
	    "a<b(c>)", "total of 12 functions", "-[NSString length:]",
	    "void (*signal(int, void (*)(int)))(int)", "f(int) something", "main.(*Tree).Insert",
	    "operator", "operator_x"};
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		check(same[i], same[i]);
	check("foo(int) [clone .constprop.0] [clone .cold]",
	    "foo [clone .constprop.0] [clone .cold]");
	check("foo(int) (.cold)", "foo (.cold)");
	check("ns::foo [clone .part.0]", "ns::foo [clone .part.0]");
	check("f(int)::g(char)", "f::g");
	check("main::'lambda'(int)::operator()(int) const", "main::'lambda'::operator()");
	check("main()::<lambda(int)>", "main::<lambda>");
	check("<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
	    "<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop");
	check("core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<…>");
	check("core::fmt::<impl core::fmt::Display for u8>::fmt",
	    "core::fmt::<impl core::fmt::Display for u8>::fmt");
	check("<dyn core::any::Any + Send>::is", "<dyn core::any::Any + Send>::is");
	check("app::main::{{closure}}", "app::main::{{closure}}");
	check("unsigned long const& std::max<unsigned long>(unsigned long const&, "
	      "unsigned long const&)",
	    "std::max<…>");
	check("A<(B)1>::f()", "A<…>::f");
	check("A<&(B::operator->())>::f()", "A<…>::f");
}

// Cut anywhere and with any bracket in the way, it ends, and never reads beyond the name.
static void test_pieces(void **state)
{
	(void)state;
	static const char whole[] =
	    "a<b(c)>::operator<< <d>(" STRING ") const::{lambda(e)#1}::operator()() [clone .f]";
	for (size_t from = 0; from < sizeof(whole); from++)
		for (size_t size = 0; from + size < sizeof(whole); size++) {
			char *piece = strndup(whole + from, size);
			assert_non_null(piece);
			struct tp_buf out;
			tp_buf_init(&out);
			tp_short_name_add(&out, piece);
			assert_true(out.size <= size + 4 * size);
			assert_int_equal(strlen(out.data), out.size);
			tp_buf_release(&out);
			free(piece);
		}
	char deep[400];
	memset(deep, '<', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	check(deep, deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_libstdcxx),
	    cmocka_unit_test(test_databases),
	    cmocka_unit_test(test_odd),
	    cmocka_unit_test(test_pieces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
