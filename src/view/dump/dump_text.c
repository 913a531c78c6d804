/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: one line per record, its fields indented by two spaces per level. With --hex, the bytes of each value follow it
 * in brackets, and nothing is shortened.
 *
 *     0x278 40 comm misc 0x2000 event 0
 *       pid 8
 *       comm "work"
 *       id
 *         time 1370.893614509
 */
#include "view/dump/dump_form.h"

#include "base/text/escape.h"
#include "base/text/text.h"
#include "wire/names.h"

#include <perfray/trace.h>

#define INDENT 2u
#define BYTES_SHOWN 32u /* bytes of longer byte strings that are shown without --hex */

static void begin_line(struct dump *d, const struct dump_key *key) {
    out_pad(d->out, (size_t)d->depth * INDENT);
    if (key)
        out_text(d->out, key->name);
}

static void end_line(struct dump *d) {
    const struct dump_spot *spot = &d->spot;
    if (d->options.hex && spot->at && spot->length > 0) {
        out_write(d->out, "  [", 3);
        out_hex_bytes(d->out, spot->at, spot->length);
        out_char(d->out, ']');
    }
    out_char(d->out, '\n');
}

static void show_hex(struct output *out, uint64_t value) {
    out_write(out, "0x", 2);
    out_hex(out, value, 1);
}

static void text_begin_part(struct dump *d, const struct dump_key *key) {
    begin_line(d, key);
    if (!key)
        out_char(d->out, '-');
    out_char(d->out, '\n');
    d->depth++;
}

static void text_end_part(struct dump *d) {
    d->depth--;
}

static void text_begin_array(struct dump *d, const struct dump_key *key, uint64_t count) {
    begin_line(d, key);
    out_char(d->out, ' ');
    out_u64(d->out, count);
    out_char(d->out, '\n');
    d->depth++;
}

static void show_flags(struct output *out, unsigned show, uint64_t value) {
    bool first = true;
    for (; value; value &= value - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(value);
        const char *name = name_of(show, bit);
        out_char(out, first ? ' ' : '|');
        first = false;
        if (name)
            out_text(out, name);
        else
            show_hex(out, 1ull << bit);
    }
}

/* A name "var2:16" with value 32 names the part of 16 bits that begins at bit 32. */
static void show_parts(struct output *out, const struct name_set *set, uint64_t value) {
    for (const struct name *n = set->names; n->text; n++) {
        const size_t length = strcspn(n->text, ":");
        uint64_t width = 0;
        if (!n->text[length] || !parse_u64(n->text + length + 1, &width) || width > 63)
            continue;
        out_char(out, ' ');
        out_write(out, n->text, length);
        out_char(out, '=');
        show_hex(out, value >> n->value & ((1ull << width) - 1));
    }
}

static void show_set(struct output *out, unsigned show, uint64_t value) {
    const struct name_set *set = name_set_of(show);
    const char *name = set->mode == NAMES_VALUES ? name_of(show, value) : NULL;
    if (set->mode == NAMES_VALUES)
        out_u64(out, value);
    else
        show_hex(out, value);
    if (set->mode == NAMES_FLAGS)
        show_flags(out, show, value);
    else if (set->mode == NAMES_PARTS)
        show_parts(out, set, value);
    else if (name) {
        out_char(out, ' ');
        out_text(out, name);
    }
}

static void show_double(struct output *out, uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    out_f64(out, value, 9);
}

static void show_number(struct output *out, const struct field *f, uint64_t value) {
    if (f->show >= SHOW_SETS)
        show_set(out, f->show, value);
    else if (f->show == SHOW_HEX || f->show == SHOW_NONE)
        show_hex(out, value);
    else if (f->show == SHOW_SDEC)
        out_i64(out, f->kind == K_U64 ? (int64_t)value : (int32_t)value);
    else if (f->show == SHOW_NS)
        out_time(out, value, 9);
    else if (f->show == SHOW_DOUBLE)
        show_double(out, value);
    else
        out_u64(out, value);
}

static void text_integer(struct dump *d, const struct dump_key *key, const struct field *f, uint64_t value) {
    begin_line(d, key);
    out_char(d->out, ' ');
    show_number(d->out, f, value);
    if (d->function && d->function->named) {
        out_char(d->out, ' ');
        print_name(d->to, d->function->text, d->function->length);
    }
    end_line(d);
}

static void text_text(struct dump *d, const struct dump_key *key, const void *at, size_t length) {
    begin_line(d, key);
    out_write(d->out, " \"", 2);
    print_name(d->to, at, length);
    out_char(d->out, '"');
    end_line(d);
}

static void text_bytes(struct dump *d, const struct dump_key *key, const uint8_t *at, uint64_t length) {
    const bool whole = d->options.hex || length <= BYTES_SHOWN;
    begin_line(d, key);
    out_char(d->out, ' ');
    out_hex_bytes(d->out, at, whole ? length : BYTES_SHOWN);
    if (!whole) {
        out_text(d->out, "... (");
        out_u64(d->out, length);
        out_text(d->out, " bytes)");
    }
    out_char(d->out, '\n');
}

static void text_numbers(struct dump *d, const struct dump_key *key, const struct field *f, const pfr_u64s *numbers) {
    text_begin_array(d, key, numbers->count);
    for (uint64_t i = 0; i < numbers->count; i++) {
        begin_line(d, NULL);
        show_number(d->out, f, pfr_u64s_at(numbers, i));
        d->spot = (struct dump_spot){numbers->at + 8 * i, 8};
        end_line(d);
    }
    d->depth--;
}

static void show_labelled(struct output *out, const char *label, uint64_t value) {
    out_text(out, label);
    out_u64(out, value);
}

/* Writes the known parts of the position of an XRay record: process, thread, CPU, time. */
static void show_point(const struct dump *d) {
    const pfr_trace_point *at = pfr_get_trace_point(d->reader);
    if (at->has_pid) {
        out_text(d->out, " pid ");
        out_i64(d->out, at->pid);
    }
    if (at->has_tid) {
        out_text(d->out, " tid ");
        out_i64(d->out, at->tid);
    }
    if (at->timed) {
        show_labelled(d->out, " cpu ", at->cpu);
        show_labelled(d->out, " tsc ", at->tsc);
    }
}

static void text_begin_record(struct dump *d, const struct dump_head *head) {
    const pfr_record *rec = head->rec;
    show_hex(d->out, head->offset);
    out_char(d->out, ' ');
    out_u64(d->out, head->size);
    out_char(d->out, ' ');
    out_text(d->out, head->name);
    d->depth = 1;
    if (head->bit)
        show_labelled(d->out, " bit ", *head->bit);
    if (rec && rec->context->trace)
        show_point(d);
    if (rec && !rec->context->trace) {
        out_text(d->out, " misc ");
        show_hex(d->out, rec->misc);
        if (!pfr_record_name(rec))
            show_labelled(d->out, " type ", rec->type);
        if (rec->event != PFR_NO_EVENT)
            show_labelled(d->out, " event ", (uint64_t)rec->event);
        if (rec->part > 0)
            show_labelled(d->out, " part ", rec->part);
        if (rec->inside)
            show_labelled(d->out, " inner ", rec->inner);
        if (rec->payload)
            show_labelled(d->out, " payload ", rec->payload);
    }
    out_char(d->out, '\n');
}

static void text_end_record(struct dump *d) {
    d->depth = 0;
}

const struct dump_form dump_text_form = {
    .begin_record = text_begin_record,
    .end_record = text_end_record,
    .begin_part = text_begin_part,
    .end_part = text_end_part,
    .begin_array = text_begin_array,
    .end_array = text_end_part,
    .integer = text_integer,
    .text = text_text,
    .bytes = text_bytes,
    .numbers = text_numbers,
};
