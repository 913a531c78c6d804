/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_LOOP_H
#define PFR_VIEW_SCRIPT_LOOP_H
/* Interface of script.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* The next records, at most `room`; what is done with each; the same for one whose lines others print: what
 * it ends of all that is kept. */
pfr_status script_next(struct script *s, struct timed_record *some, size_t room, size_t *count, pfr_error *err);
void script_take(struct script *s, const pfr_record *rec, const struct record_key *key);
void script_take_some(struct script *s, const struct timed_record *some, size_t count);
void script_pass(struct script *s, const pfr_record *rec, const struct record_key *key);

/* Whether records of the type do anything. */
bool script_is_of_use(const struct script *s, uint32_t type);

/* One sample, if it is wanted; and whether it is or not */
void script_deliver(struct script *s, const struct moment *m);
void script_print_sample(struct script *s, const struct moment *m);

#endif
