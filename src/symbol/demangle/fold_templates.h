/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_FOLD_TEMPLATES_H
#define PFR_SYMBOL_FOLD_TEMPLATES_H
/*
 * Shortens demangled names for readers: "std::map<int, std::vector<char> >::find" becomes "std::map<...>::find" (with
 * an ellipsis character), or "std::map::find" with `omit`. "std::__cxx11::" becomes "std::". Arguments of up to three
 * characters stay unless omitted. The angle brackets of operators, and of types at the beginning of Rust names, stay.
 */
#include <stdbool.h>
#include <stddef.h>

/* Changes the text in place; returns the new length, which is never larger. */
size_t fold_templates(char *text, size_t length, bool omit);

#endif
