/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names: `*` matches any text, `?` any character. */
#include "runtime/rt_text.h"

/* On a mismatch, it is sufficient to extend the match of the last `*`. Time is at most the product of both
   lengths. */
RT_PLAIN bool rt_glob(const char *pattern, const char *text) {
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == *text || *pattern == '?') {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}
