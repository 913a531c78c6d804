/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_ELSEWHERE_H
#define PERFRAY_TOOL_ELSEWHERE_H
/* Commands of perf, uftrace and llvm-xray that have another name in perfray, or do not exist. */

/* The end of a sentence that names the command to use, or the reason why there is no such command. NULL: no tool has a
   command of this name. */
const char *found_elsewhere(const char *verb);

/* The option of `perfray info` to which a command of another tool corresponds; NULL: there is no such option. */
const char *option_of_other_name(const char *verb);

#endif
