/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_PICK_H
#define PFR_MODEL_PROFILE_PICK_H
/* Interface of profile_pick.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

void pick_learn(struct pick_places *places, const pfr_reader *reader, uint32_t event,
                const struct profile_request *request);
void pick_decoded(const struct pick_places *places, const struct pfr_rec_sample *sample, struct picked *out);
/* Whether the values at fixed offsets can be read without decoding: the length of the record must be plausible. */
static inline bool pick_is_plain(const pfr_reader *reader, const struct pick_places *places, const pfr_record *rec) {
    return places->fixed && length_holds(&reader->events.list[rec->event].length, rec->bytes + RECORD_HEADER,
                                         (uint64_t)rec->size - RECORD_HEADER, reader->context.swap);
}
/* Sets the key of a sample; call it when the other values are set. `place` is part << 48 | offset. */
static inline void pick_key(const struct state *state, struct picked *s, uint64_t place, uint64_t inner) {
    s->key = (struct record_key){.offset = place, .inner = inner};
    if (state->timed)
        s->key.time = s->time == UINT64_MAX ? NO_TIME_MOMENT : s->time;
}

/* The value of a key as a number. For keys whose values are texts or places, it is the recorded number. */
uint64_t pick_value(const struct profile_request *request, const struct pick_places *places,
                    const struct picked *picked, enum profile_key key);

#endif
