/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a tracepoint's sample, in parts: the text of the event, then each requested field. Each part follows its
 * length, a 32-bit word, so parts may contain any byte; NONE is the length of a field that the event lacks. Without
 * requested fields the whole text is that of the event.
 */
#include "model/profile/count/profile_tracepoint.h"

#include "base/text/public_output.h"
#include "model/tracepoint/tracepoint_text.h"

#define NONE UINT32_MAX

/* Writes a part; *has: whether the event has it. */
static pfr_status write_part(struct sample_counter *c, const struct picked *s,
                             const struct profile_tracepoint_field *field, pfr_output *to, bool *has, pfr_error *err) {
    const struct profile_request *w = &c->profile->request;
    const pfr_bytes raw = s->whole ? s->whole->raw.data : (pfr_bytes){NULL, 0};
    const uint64_t config = pfr_get_event(c->profile->reader, s->event)->attr.config;
    *has = true;
    if (!field && !w->tracepoint_plain)
        return tracepoint_text_write(c->trace, config, raw.at, raw.length, s->cpu, to, err);
    *has = !field || field->event < 0 || (uint32_t)field->event == s->event;
    if (!*has)
        return PFR_OK;
    return tracepoint_text_field(c->trace, config, raw.at, raw.length, field ? field->name : NULL,
                                 w->tracepoint_plain || (field && field->plain), to, has, err);
}

static pfr_status add_part(struct sample_counter *c, const struct picked *s,
                           const struct profile_tracepoint_field *field, struct output *to, pfr_error *err) {
    pfr_output part = {.raw_names = true};
    size_t length;
    bool has;
    memory_init(&part.memory, &c->memory->alloc, 0);
    out_open_memory(&part.out, c->memory);
    pfr_status st = write_part(c, s, field, &part, &has, err);
    const char *bytes = out_bytes(&part.out, &length);
    const uint32_t head = has ? (uint32_t)length : NONE;
    if (c->profile->request.nr_tracepoint_fields)
        out_write(to, (const char *)&head, sizeof head);
    if (has && length)
        out_write(to, bytes, length);
    if (st >= 0 && part.out.status < 0)
        st = mem_fail(c->memory, err, "profile");
    out_close(&part.out, NULL);
    return st;
}

pfr_status tracepoint_parts_write(struct sample_counter *c, const struct picked *s, struct output *to, pfr_error *err) {
    const struct profile_request *w = &c->profile->request;
    PFR_TRY(add_part(c, s, NULL, to, err));
    for (uint32_t i = 0; i < w->nr_tracepoint_fields; i++)
        PFR_TRY(add_part(c, s, &w->tracepoint_fields[i], to, err));
    return PFR_OK;
}

bool profile_tracepoint_part(const struct profile *p, uint64_t text, uint32_t part, struct intern_text *of) {
    uint32_t head;
    if (text == NO_TEXT)
        return false;
    *of = intern_get(&p->texts, (uint32_t)text);
    if (!p->request.nr_tracepoint_fields)
        return part == 0;
    while (of->length >= sizeof head) {
        memcpy(&head, of->bytes, sizeof head);
        *of = (struct intern_text){of->bytes + sizeof head, of->length - (uint32_t)sizeof head};
        const uint32_t length = head == NONE ? 0 : head;
        if (length > of->length)
            return false;
        if (part-- == 0)
            return of->length = length, head != NONE;
        *of = (struct intern_text){of->bytes + length, of->length - length};
    }
    return false;
}
