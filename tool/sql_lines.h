/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_SQL_LINES_H
#define PERFRAY_TOOL_SQL_LINES_H
/*
 * Lines from a terminal, with editing, completion of words and a history that is kept (libedit). The library is
 * loaded when the shell begins: linked, it and the three that it needs would cost every run of perfray half a
 * millisecond. Without it lines are read as the terminal gives them.
 */

/* The history is in `folder`/sql_history, mode 0600; NULL: it is not kept. */
void sql_lines_begin(const char *folder);
/* One more word to complete. */
void sql_lines_word(const char *word);
/* A line without its end, to be freed; NULL: there are no more. */
char *sql_lines_next(const char *prompt);
void sql_lines_end(void);

/* The same without libedit. */
char *sql_lines_unedited(const char *prompt);

#endif
