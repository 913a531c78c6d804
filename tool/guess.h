/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_GUESS_H
#define PERFRAY_TOOL_GUESS_H
/* Guesses the type of a file that is not a recording, to advise the user. */

/* Returns a static sentence, or NULL if the type is unknown. Reads the first bytes; regular files only. */
const char *guess_content(const char *path);

#endif
