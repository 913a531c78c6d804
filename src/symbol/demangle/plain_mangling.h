/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_PLAIN_MANGLING_H
#define PFR_SYMBOL_PLAIN_MANGLING_H
/*
 * Mangled names of C++ that hold nothing but identifiers, operators and templates of simple types, which are most of
 * what is ever asked for:
 *
 *     _ZN4llvm5Value7getTypeEv             llvm::Value::getType
 *     _ZNK3foo3barC2ERKS0_                 foo::bar::bar
 *     _ZNSt6thread4joinEv                  std::thread::join
 *     _ZNSt6vectorIiSaIiEE9push_backERKi   std::vector<int, std::allocator<int> >::push_back
 *     _Z3runiPPc                           run
 *
 * One pass, which keeps where in its own text each thing stands that a name may refer back to; bounded in text, depth
 * and references, it needs no process of its own (demangle.h). The answer is that of libiberty for names without
 * parameters; all else is left to it: conversions, expressions, types of functions and arrays, what is local to a
 * function, tags.
 */
#include <stddef.h>

#define PLAIN_NAME_MOST ((size_t)1000)    /* bytes of a name that is looked at */
#define PLAIN_TEXT_MOST ((size_t)8 << 10) /* bytes of what it may become */

/* Bytes of text, without a NUL; 0: not such a name. Legacy names of Rust, which look alike, are none. */
size_t plain_demangle(const char *name, char to[PLAIN_TEXT_MOST]);

#endif
