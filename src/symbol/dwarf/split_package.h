/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SPLIT_PACKAGE_H
#define PFR_SYMBOL_SPLIT_PACKAGE_H
/*
 * Index of a package of split units (.dwp): a hash table from the id of a unit to a row with its part of each section
 * (DWARF 5, 7.3.5; version 2 is the earlier GNU format, gcc.gnu.org/wiki/DebugFissionDWP). Lookups read the section in
 * place.
 */
#include "symbol/dwarf/dwarf_info.h"

/* False: no such unit, or the index is damaged. */
bool split_package_find(const struct debug_sections *sections, uint64_t id, struct split_place *place);

#endif
