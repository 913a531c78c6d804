/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines without an editor: see sql_lines.h. */
#include "sql_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *sql_lines_unedited(const char *prompt) {
    char *line = NULL;
    size_t room = 0;
    fputs(prompt, stdout);
    fflush(stdout);
    if (getline(&line, &room, stdin) < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}
