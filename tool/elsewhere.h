/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_ELSEWHERE_H
#define PERFRAY_TOOL_ELSEWHERE_H
/* Commands of perf, uftrace and llvm-xray that have another name here, or do not exist. */

/* Which command does it, or why no command does: the rest of a sentence. NULL: no tool has such a command. */
const char *found_elsewhere(const char *verb);

/* The option of `perfray info` that such a command is; NULL: it is no other name of info. */
const char *option_of_other_name(const char *verb);

#endif
