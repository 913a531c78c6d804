/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_PLAIN_MANGLING_H
#define PFR_SYMBOL_PLAIN_MANGLING_H
/*
 * Demangles C++ names that consist of identifiers, operators and templates of simple types, which are most of the names
 * in practice:
 *
 *  _ZN4llvm5Value7getTypeEv             llvm::Value::getType
 *  _ZNK3foo3barC2ERKS0_                 foo::bar::bar
 *  _ZNSt6thread4joinEv                  std::thread::join
 *  _ZNSt6vectorIiSaIiEE9push_backERKi   std::vector<int, std::allocator<int> >::push_back
 *  _Z3runiPPc                           run
 *
 * One pass over the name; it remembers the position in the output of each part that later references may name. Since
 * output, depth and references are bounded, no separate process (demangle.h) is needed. The result equals libiberty's
 * without parameters. Everything else is left to libiberty: conversions, expressions, function and array types, names
 * local to a function, tags.
 */
#include <stddef.h>

#define PLAIN_NAME_MOST ((size_t)1000)    /* longest mangled name */
#define PLAIN_TEXT_MOST ((size_t)8 << 10) /* longest text */

/* Returns the length of the text, without a NUL; 0 if the name is not of this form. Legacy Rust names look similar, but
   are not of this form. */
size_t plain_demangle(const char *name, char to[PLAIN_TEXT_MOST]);

#endif
