/* SPDX-License-Identifier: Apache-2.0 */
/* Queries for common questions: docs/sql.md has the same, tests run them. */
#include <perfray/sql.h>

static const pfr_sql_recipe recipes[] = {
    {1, "number of records by type", "SELECT name, count(*) FROM record GROUP BY name ORDER BY 2 DESC", NULL},
};

const pfr_sql_recipe *pfr_sql_get_recipe(unsigned index) {
    return index < sizeof recipes / sizeof *recipes ? &recipes[index] : NULL;
}
