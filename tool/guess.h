/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_GUESS_H
#define PERFRAY_TOOL_GUESS_H
/* What a file seems to be that is no recording, and what to do then. */

/* A static sentence, NULL when nothing can be said. Reads the first bytes of regular files only. */
const char *guess_content(const char *path);

#endif
