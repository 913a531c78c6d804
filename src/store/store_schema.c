/* SPDX-License-Identifier: Apache-2.0 */
/* Expands store_tables.def into descriptors. */

#include "store/store_engine.h"

#define BY_DAY STORE_BY_DAY
#define SHARED STORE_SHARED

#define TABLE(name, order, partition, doc) static const struct store_column columns_of_##name[] = {
#define C(kind, name, doc) {#name, doc, STORE_##kind},
#define END                                                                                                            \
    }                                                                                                                  \
    ;
#include "store/store_tables.def"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
#define TABLE(name, order, partition, doc) {#name, doc, order, partition, columns_of_##name, COUNT(columns_of_##name)},
#define C(...)
#define END
const struct store_table store_tables[STORE_TABLES] = {
#include "store/store_tables.def"
};
