/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_ATTR_H
#define PFR_VIEW_INFO_ATTR_H
/*
 * perf_event_attr as printed by perf: every member that is not 0, in perf's order and with perf's names. One list
 * serves the text of `info --events`, the event lines of the header, and JSON.
 */
#include "base/text/json.h"
#include "view/info/info_output.h"

struct attr_style {
    const char *first;   /* in front of the first member */
    const char *between; /* in front of each further member */
    const char *equals;  /* between key and value */
};

extern const struct attr_style attr_style_list;   /* ": type: 1, size: 128" */
extern const struct attr_style attr_style_header; /* ", type = 1, size = 128" */

void say_attr(pfr_output *to, const struct pfr_rec_attr *attr, const struct attr_style *style);

/* Writes the members that are not 0 into the open object: numbers, "0x.." strings, arrays of names. */
void json_attr(struct json *json, const struct pfr_rec_attr *attr);

#endif
