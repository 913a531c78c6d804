/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_SQL_SHELL_H
#define PERFRAY_TOOL_SQL_SHELL_H
/* The interactive part of `perfray sql`. */
#include <perfray/sql.h>
#include "command.h"

#define SQL_MEMORY ((uint64_t)1 << 30) /* SQLite's memory limit in bytes if --limit memory was not given */

/* cmd_sql.c: prints the rows, or an error message. */
enum exit_status sql_run_text(const struct task *task, pfr_sql *sql, unsigned format, const char *text);

/* Runs a command of the shell, such as ".tables". ENDS_GATE: there is no such command. */
enum exit_status sql_run_command(const struct task *task, pfr_sql *sql, unsigned format, const char *command);

/* Reads statements and commands from the terminal until its end. Failed statements do not affect the status. */
enum exit_status sql_shell(const struct task *task, pfr_sql *sql, unsigned format);

#endif
