/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_GROUPS_H
#define PFR_VIEW_REPORT_GROUPS_H
/* What the header says beside the samples: groups of events, and which cpu is in which socket. */
#include "view/report/fields/report_parts.h"

/* A feature of the header; NULL where the recording has none. Errors: as pfr_find_feature. */
pfr_status report_feature(struct report *r, uint32_t bit, const pfr_feature **feature, pfr_error *err);
/* Fills r->socket_of where a field asks for it. */
pfr_status report_learn_sockets(struct report *r, pfr_error *err);
/* Fills r->groups: those that were recorded, or all events as one. */
pfr_status report_learn_groups(struct report *r, pfr_error *err);
void report_free_groups(struct report *r);

/* How many events are shown together with this one: 1 where it is no leader, 0 where it is shown with another. */
uint32_t report_members_of(const struct report *r, uint32_t event);

/* The name of the group that this event leads, "anon group" where it has none; NULL: it leads none. */
const char *report_group_name(const struct report *r, uint32_t leader);

#endif
