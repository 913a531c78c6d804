/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_GROUPS_H
#define PFR_VIEW_REPORT_GROUPS_H
/* Facts from the header features that the report uses: event groups, and the socket of each CPU. */
#include "view/report/fields/report_parts.h"

/* Looks up a feature of the header; *feature is NULL if the recording does not have it. Errors: as pfr_find_feature. */
pfr_status report_feature(struct report *r, uint32_t bit, const pfr_feature **feature, pfr_error *err);
/* Fills r->socket_of if a field or --sockets needs it. */
pfr_status report_learn_sockets(struct report *r, pfr_error *err);
/* Fills r->groups with the recorded groups; with --group and no recorded group, all events form one group. */
pfr_status report_learn_groups(struct report *r, pfr_error *err);
void report_free_groups(struct report *r);

/* Returns the size of the group that this event leads: 1 if the event is in no group, 0 if it is shown with its leader.
 */
uint32_t report_members_of(const struct report *r, uint32_t event);

/* Returns the name of the group that this event leads ("anon group": the group has no name); NULL: the event leads no
 * group. */
const char *report_group_name(const struct report *r, uint32_t leader);

#endif
