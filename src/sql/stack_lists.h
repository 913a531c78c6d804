/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_STACK_LISTS_H
#define PFR_SQL_STACK_LISTS_H
/* Interface of stack_lists.c; that file describes how it works. */
#include "sql/sql_parts.h"

/* stack_lists.c */
void stack_lists_free(struct sql_source *source);

#endif
