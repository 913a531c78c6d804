/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_LOOP_H
#define PFR_VIEW_SCRIPT_LOOP_H
/* Interface of script.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* script_next returns the next records, at most `room`. script_take and script_take_some process them. script_pass is
   for a record whose lines other threads print: it only invalidates the caches that the record affects. */
pfr_status script_next(struct script *s, struct timed_record *some, size_t room, size_t *count, pfr_error *err);
void script_take(struct script *s, const pfr_record *rec, const struct record_key *key);
void script_take_some(struct script *s, const struct timed_record *some, size_t count);
void script_pass(struct script *s, const pfr_record *rec, const struct record_key *key);

/* Whether records of this type have any effect. */
bool script_is_of_use(const struct script *s, uint32_t type);

/* script_deliver prints a sample if it is selected; script_print_sample always prints it. */
void script_deliver(struct script *s, const struct moment *m);
void script_print_sample(struct script *s, const struct moment *m);

#endif
