/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Names of functions for people to read: where a table, a tree or a page has no room for all that a
 * demangler says, it shows
 *
 *	std::_Rb_tree<int, ..., std::less<int> >::find(int const&)	std::_Rb_tree<…>::find
 *	void leveldb::Log<int>(int, char const*)			leveldb::Log<…>
 *	std::__cxx11::basic_string<char, ...>::reserve(unsigned long)	std::string::reserve
 *	<alloc::vec::Vec<T> as core::ops::Drop>::drop <alloc::vec::Vec<…> as core::ops::Drop>::drop
 *
 * Result type, arguments of templates, parameters and inline namespaces of the library are left
 * out; strings and streams have their usual names; which clone it is stays. What has no such parts,
 * as names of C, stays as it is, and so does what cannot be taken apart. Different functions may
 * have the same short name: what programs read has full names.
 */
#ifndef TP_SHORT_NAME_H
#define TP_SHORT_NAME_H

#include "common/buf.h"

/* Add NAME, shortened. pre: OUT has no drain. */
void tp_short_name_add(struct tp_buf *out, const char *name);

#endif
