/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_SQL_LINES_H
#define PERFRAY_TOOL_SQL_LINES_H
/*
 * Reads lines from a terminal, with editing, word completion and a stored history (libedit). The library is loaded when
 * the shell begins; if it were linked, it and the three libraries that it needs would cost every run of perfray half a
 * millisecond. If it is not available, lines are read as the terminal returns them.
 */

/* The history is stored in `folder`/sql_history, mode 0600; NULL: it is not stored. */
void sql_lines_begin(const char *folder);
/* Adds a word for completion. */
void sql_lines_word(const char *word);
/* Returns a line without its newline, which the caller frees; NULL: there are no more lines. */
char *sql_lines_next(const char *prompt);
void sql_lines_end(void);

/* Returns a line in the same way, but without libedit. */
char *sql_lines_unedited(const char *prompt);

#endif
