/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON lines: one object per record. Keys are stored with a comma in front, which the first member of an object skips.
 * Numbers and keys are formatted directly in the output's buffer, because dumps can be gigabytes large.
 */
#include "view/dump/dump_form.h"

#include "base/text/escape.h"
#include "base/text/json.h"

#include <perfray/trace.h>

#define NUMBER 20u /* digits of a 64-bit number */

static char *put_key(struct dump *d, const struct dump_key *key, char *to) {
    const size_t comma = !d->filled;
    memcpy(to, key->json + comma, key->json_length - comma);
    d->filled = true;
    return to + key->json_length - comma;
}

/* Writes the key, or the comma before an array element, and reserves room for a number after it. Returns NULL if the
 * output failed. */
static char *begin_value(struct dump *d, const struct dump_key *key) {
    const size_t most = (key && key->json ? key->json_length : 0u) + NUMBER + 4;
    if (!out_room(d->out, most))
        return NULL;
    char *to = d->out->buffer + d->out->used;
    if (key && key->json)
        return put_key(d, key, to);
    if (d->filled)
        *to++ = ',';
    d->filled = true;
    return to;
}

static void end_value(struct dump *d, char *to) {
    d->out->used = (size_t)(to - d->out->buffer);
}

static void begin_with(struct dump *d, const struct dump_key *key, char bracket) {
    char *to = begin_value(d, key);
    if (!to)
        return;
    end_value(d, to);
    if (key && !key->json) {
        out_json_string(d->out, key->name, strlen(key->name));
        out_char(d->out, ':');
    }
    out_char(d->out, bracket);
    d->filled = false;
}

static void json_begin_part(struct dump *d, const struct dump_key *key) {
    begin_with(d, key, '{');
}

static void json_end_part(struct dump *d) {
    out_char(d->out, '}');
    d->filled = true;
}

static void json_begin_list(struct dump *d, const struct dump_key *key, uint64_t count) {
    (void)count;
    begin_with(d, key, '[');
}

static void json_end_list(struct dump *d) {
    out_char(d->out, ']');
    d->filled = true;
}

static char *put_signed(char *to, int64_t value) {
    if (value < 0)
        *to++ = '-';
    return to + format_u64(to, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void show_double(struct dump *d, uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    struct json json = json_on(d->out, JSON_LINE);
    json_f64(&json, value);
}

#define KEY(text)                                                                                                      \
    { ",\"" text "\":", sizeof(",\"" text "\":") - 1, text }
static const struct dump_key key_symbol = KEY("symbol");

static void json_string_of(struct dump *d, const struct dump_key *key, const void *at, size_t length) {
    char *to = begin_value(d, key);
    if (!to)
        return;
    end_value(d, to);
    out_json_string(d->out, at, length);
}

static void json_integer(struct dump *d, const struct dump_key *key, const struct field *f, uint64_t value) {
    char *to = begin_value(d, key);
    if (!to)
        return;
    if (f->show == SHOW_SDEC)
        to = put_signed(to, f->kind == K_U64 ? (int64_t)value : (int32_t)value);
    else if (f->show != SHOW_DOUBLE)
        to += format_u64(to, value);
    end_value(d, to);
    if (f->show == SHOW_DOUBLE)
        show_double(d, value);
    if (d->function && d->function->named)
        json_string_of(d, &key_symbol, d->function->text, d->function->length);
}

static void json_bytes(struct dump *d, const struct dump_key *key, const uint8_t *at, uint64_t length) {
    char *to = begin_value(d, key);
    if (!to)
        return;
    *to++ = '"';
    end_value(d, to);
    out_hex_bytes(d->out, at, length);
    out_char(d->out, '"');
}

static void json_numbers(struct dump *d, const struct dump_key *key, const struct field *f, const pfr_u64s *numbers) {
    (void)f;
    begin_with(d, key, '[');
    for (uint64_t i = 0; i < numbers->count; i++) {
        if (!out_room(d->out, NUMBER + 1))
            return;
        char *to = d->out->buffer + d->out->used;
        *to = ',';
        to += i > 0;
        end_value(d, to + format_u64(to, pfr_u64s_at(numbers, i)));
    }
    json_end_list(d);
}

static void show_member(struct dump *d, const struct dump_key *key, uint64_t value) {
    char *to = begin_value(d, key);
    if (to)
        end_value(d, to + format_u64(to, value));
}

static const struct dump_key key_offset = KEY("offset"), key_part = KEY("part"), key_inner = KEY("inner"),
                             key_size = KEY("size"), key_type = KEY("type"), key_name = KEY("name"),
                             key_misc = KEY("misc"), key_bit = KEY("bit"), key_payload = KEY("payload"),
                             key_pid = KEY("pid"), key_tid = KEY("tid"), key_cpu = KEY("cpu"), key_tsc = KEY("tsc");

static void show_signed(struct dump *d, const struct dump_key *key, int64_t value) {
    char *to = begin_value(d, key);
    if (to)
        end_value(d, put_signed(to, value));
}

/* Writes the known parts of the position of an XRay record: process, thread, CPU, time. */
static void show_point(struct dump *d) {
    const pfr_trace_point *at = pfr_get_trace_point(d->reader);
    if (at->has_pid)
        show_signed(d, &key_pid, at->pid);
    if (at->has_tid)
        show_signed(d, &key_tid, at->tid);
    if (at->timed) {
        show_member(d, &key_cpu, at->cpu);
        show_member(d, &key_tsc, at->tsc);
    }
}

static void json_begin_record(struct dump *d, const struct dump_head *head) {
    const pfr_record *rec = head->rec;
    out_char(d->out, '{');
    d->filled = false;
    show_member(d, &key_offset, head->offset);
    if (rec && rec->part > 0)
        show_member(d, &key_part, rec->part);
    if (rec && rec->inside)
        show_member(d, &key_inner, rec->inner);
    show_member(d, &key_size, head->size);
    if (rec)
        show_member(d, &key_type, rec->type);
    json_string_of(d, &key_name, head->name, strlen(head->name));
    if (head->bit)
        show_member(d, &key_bit, *head->bit);
    if (rec && rec->context->trace)
        show_point(d);
    else if (rec)
        show_member(d, &key_misc, rec->misc);
    if (rec && rec->event != PFR_NO_EVENT)
        show_member(d, &dump_key_event, (uint64_t)rec->event);
    if (rec && rec->payload)
        show_member(d, &key_payload, rec->payload);
}

static void json_end_record(struct dump *d) {
    out_write(d->out, "}\n", 2);
}

const struct dump_form dump_json_form = {
    .wraps_fields = true,
    .begin_record = json_begin_record,
    .end_record = json_end_record,
    .begin_part = json_begin_part,
    .end_part = json_end_part,
    .begin_array = json_begin_list,
    .end_array = json_end_list,
    .integer = json_integer,
    .text = json_string_of,
    .bytes = json_bytes,
    .numbers = json_numbers,
};
