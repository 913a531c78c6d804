/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes one record to an output form: its fields, its sample_id, and all bytes that no table describes, so that
 * nothing of the record is lost.
 */
#include "view/dump/dump_record.h"
#include "view/dump/dump_decode.h"
#include "view/dump/dump_walk.h"
#include "view/dump/dump_hole.h"

static void show_rest(struct dump *d, const struct dump_key *key, const uint8_t *at, uint64_t length) {
    d->spot = (struct dump_spot){NULL, 0};
    d->form->bytes(d, key, at, length);
}

void dump_show_fields(struct dump *d, const struct dump_shown *shown) {
    const struct cursor *in = &shown->in;
    if (d->form->wraps_fields)
        d->form->begin_part(d, &dump_key_fields);
    dump_fields(d, shown->layout, &d->context, shown->body, in->start, in->end);
    if (d->form->wraps_fields)
        d->form->end_part(d);
    if (cursor_left(in) == 0)
        return;
    d->counts.trailing++;
    d->counts.trailing_bytes += cursor_left(in);
    show_rest(d, &dump_key_trailing, in->at, cursor_left(in));
}

static void show_damaged(struct dump *d, const struct dump_shown *shown) {
    const struct cursor *in = &shown->in;
    d->spot = (struct dump_spot){NULL, 0};
    if (shown->damage)
        d->form->text(d, &dump_key_damaged, shown->damage, strlen(shown->damage));
    show_rest(d, &dump_key_bytes, in->start, (uint64_t)(in->end - in->start));
}

static void show_id(struct dump *d, const pfr_record *rec) {
    struct pfr_rec_sample_id id;
    const uint8_t *end = rec->bytes + rec->size;
    if (dump_decode_id(rec, &id, NULL) != PFR_OK)
        return;
    d->form->begin_part(d, &dump_key_id);
    dump_fields(d, L_sample_id, rec->context, &id, end - rec->tail, end);
    d->form->end_part(d);
}

void dump_show(struct dump *d, const struct dump_head *head, const struct dump_shown *shown) {
    d->form->begin_record(d, head);
    if (shown->layout && !shown->damage)
        dump_show_fields(d, shown);
    else
        show_damaged(d, shown);
    if (head->rec && head->rec->tail > 0)
        show_id(d, head->rec);
    d->form->end_record(d);
}

void dump_show_record(struct dump *d, const pfr_record *rec, unsigned layout) {
    pfr_error err;
    struct dump_shown shown = {.layout = layout, .body = &d->body};
    if (!layout) {
        d->counts.unknown++;
        const unsigned begin = layout_head(rec->context);
        shown.in = cursor_on(rec->bytes + begin, (size_t)rec->size - begin - rec->tail, rec->offset + begin, false);
    } else if (dump_decode(d, rec, layout, &shown.in, &err) != PFR_OK) {
        shown.damage = err.text;
        d->counts.damaged++;
        err.offset = rec->offset;
        err.length = rec->inside ? 0 : rec->size;
        dump_report_hole(d, &err);
    }
    const struct dump_head head = {layout ? d->layouts[layout]->name : "unknown", rec, rec->offset, rec->size, NULL};
    dump_show(d, &head, &shown);
}
