/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_FOLD_TEMPLATES_H
#define PFR_SYMBOL_FOLD_TEMPLATES_H
/*
 * Shorter demangled names, for people: "std::map<int, std::vector<char> >::find" becomes "std::map<...>::find" (with an
 * ellipsis character), or "std::map::find" with `omit`. "std::__cxx11::" becomes "std::". Arguments of up to three
 * characters stay unless omitted; brackets of operators and of the types that Rust names begin with stay.
 */
#include <stdbool.h>
#include <stddef.h>

/* In place; returns the new length, which is never larger. */
size_t fold_templates(char *text, size_t length, bool omit);

#endif
