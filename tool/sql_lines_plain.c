/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for builds without libedit: see sql_lines.h. */
#include "sql_lines.h"

void sql_lines_begin(const char *folder) {
    (void)folder;
}

void sql_lines_word(const char *word) {
    (void)word;
}

char *sql_lines_next(const char *prompt) {
    return sql_lines_unedited(prompt);
}

void sql_lines_end(void) {
}
