/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_SQL_LINES_H
#define PERFRAY_TOOL_SQL_LINES_H
/*
 * Lines from a terminal, with editing, completion of words and a history that is kept (libedit). Without libedit
 * (sql_lines_plain.c) lines are read as the terminal gives them.
 */

/* The history is in `folder`/sql_history, mode 0600; NULL: it is not kept. */
void sql_lines_begin(const char *folder);
/* One more word to complete. */
void sql_lines_word(const char *word);
/* A line without its end, to be freed; NULL: there are no more. */
char *sql_lines_next(const char *prompt);
void sql_lines_end(void);

#endif
