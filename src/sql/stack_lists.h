/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_STACK_LISTS_H
#define PFR_SQL_STACK_LISTS_H
/* What other files use of stack_lists.c, which says how it works. */
#include "sql/sql_parts.h"

/* stack_lists.c */
void stack_lists_free(struct sql_source *source);

#endif
