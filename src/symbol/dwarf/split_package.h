/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SPLIT_PACKAGE_H
#define PFR_SYMBOL_SPLIT_PACKAGE_H
/*
 * The index of a package of split units (.dwp): a hash table from the id of a unit to a row that says which part of
 * each section is its own (DWARF 5, 7.3.5; version 2 is GNU's of before, gcc.gnu.org/wiki/DebugFissionDWP). It is asked
 * in place: nothing is kept of it.
 */
#include "symbol/dwarf/dwarf_info.h"

/* False: the package has no such unit, or the index is damaged. */
bool split_package_find(const struct debug_sections *sections, uint64_t id, struct split_place *place);

#endif
