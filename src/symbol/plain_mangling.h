/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_PLAIN_MANGLING_H
#define PFR_SYMBOL_PLAIN_MANGLING_H
/*
 * Mangled names of C++ that hold nothing but identifiers, which are most of what is ever asked for:
 *
 *     _ZN4llvm5Value7getTypeEv     llvm::Value::getType
 *     _ZNK3foo3barC2ERKS0_         foo::bar::bar
 *     _ZNSt6thread4joinEv          std::thread::join
 *     _Z3runiPPc                   run
 *
 * One pass without memory of what stood before, so that they need no process of their own (demangle.h). The answer is
 * that of libiberty for names without parameters; all else is left to it.
 */
#include <stddef.h>

#define PLAIN_NAME_MOST ((size_t)1000)                     /* bytes of a name that is looked at */
#define PLAIN_TEXT_MOST (PLAIN_NAME_MOST * 2 + (size_t)64) /* bytes of what it may become */

/* Bytes of text, without a NUL; 0: not such a name. Legacy names of Rust, which look alike, are none. */
size_t plain_demangle(const char *name, char to[PLAIN_TEXT_MOST]);

#endif
