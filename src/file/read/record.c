/* SPDX-License-Identifier: Apache-2.0 */
/* Content of a record: decodes its body by the layout table and its sample_id, and finds single fields by name. */
#include "file/read/decode_sample.h"
#include "file/read/recording.h"
#include "file/read/findings.h"
#include "wire/fast_sample.h"
#include "wire/layout.h"
#include "wire/variant.h"

#include <perfray/record.h>

static unsigned layout_of(const pfr_record *rec) {
    return layout_of_type(rec->context, rec->type);
}

const char *pfr_record_name(const pfr_record *rec) {
    const struct layout *l = layout_at(layout_of(rec));
    return l ? l->name : NULL;
}

const char *pfr_layout_name(uint64_t layout) {
    const struct layout *l = layout_at(layout);
    return l ? l->name : NULL;
}

/* The context of the record's event, completed with the misc and variant of the record. */
struct pfr_context record_context(const pfr_record *rec, unsigned number) {
    struct pfr_context c = *rec->context;
    c.word[WORD_MISC] = rec->misc;
    c.word[WORD_VARIANT] = variant_of(number, rec->bytes, rec->size, rec->context);
    c.home = rec->context;
    return c;
}

static struct cursor body_of(const pfr_record *rec) {
    const unsigned head = layout_head(rec->context);
    const size_t length = (size_t)rec->size - head - rec->tail;
    return cursor_on(rec->bytes + head, length, rec->offset + head, rec->context->swap);
}

/* Fast path for nearly every record: a sample that matches its event. */
static bool is_fast(const pfr_record *rec, void *body) {
    struct cursor in = body_of(rec);
    return rec->type == PFR_RECORD_SAMPLE && rec->event != PFR_NO_EVENT && fast_sample(rec->context, &in, body);
}

/* Fast decoders for state records (comm, fork, mmap2), of which a recording may have hundreds of thousands; indexed by
   layout. */
typedef bool fast_reader(const struct pfr_context *c, struct cursor *in, void *body);
#define LAYOUT(id, name, doc)                                                                                          \
    static bool read_##name(const struct pfr_context *c, struct cursor *in, void *body) {                              \
        return fast_##name(c, in, body);                                                                               \
    }
#define F(...)
#define END
#include "wire/perf_state.def"
#undef LAYOUT
#define LAYOUT(id, name, doc) [L_##name] = read_##name,
static fast_reader *const fast_readers[LAYOUTS] = {
#include "wire/perf_state.def"
};
#undef LAYOUT
#undef F
#undef END

static pfr_status decode(const pfr_record *rec, unsigned number, void *body, pfr_error *err) {
    if (is_fast(rec, body))
        return PFR_OK;
    if (rec->type == PFR_RECORD_SAMPLE && rec->event == PFR_NO_EVENT)
        return pfr_fail(err, PFR_ERR_DAMAGE, rec->offset, rec->size, "sample", "the sample's id belongs to no event");
    const struct pfr_context c = record_context(rec, number);
    struct cursor in = body_of(rec), again = in;
    if (fast_readers[number] && fast_readers[number](&c, &in, body))
        return PFR_OK;
    return layout_read(layout_at(number), &c, &again, body, err);
}

pfr_status decode_sample(const pfr_record *rec, struct pfr_rec_sample *body, const struct pfr_context **last,
                         pfr_error *err) {
    struct cursor in = body_of(rec);
    if (*last == rec->context && rec->event != PFR_NO_EVENT && fast_sample_again(rec->context, &in, body))
        return PFR_OK;
    const pfr_status st = pfr_decode(rec, body, sizeof *body, err);
    *last = st == PFR_OK ? rec->context : NULL;
    return st;
}

pfr_status pfr_decode(const pfr_record *rec, void *body, size_t size, pfr_error *err) {
    if (size == sizeof(struct pfr_rec_sample) && is_fast(rec, body))
        return PFR_OK;
    const unsigned number = layout_of(rec);
    const struct layout *l = layout_at(number);
    if (!l || l->size != size)
        return pfr_fail(err, PFR_ERR_USAGE, rec->offset, rec->size, "pfr_decode", "type %u has no struct of %zu bytes",
                        rec->type, size);
    const pfr_status st = decode(rec, number, body, err);
    if (st != PFR_OK && err)
        error_in_part(err, rec->part);
    return st;
}

pfr_status pfr_decode_id(const pfr_record *rec, struct pfr_rec_sample_id *id, pfr_error *err) {
    if (rec->tail == 0)
        return PFR_END;
    const size_t at = (size_t)rec->size - rec->tail;
    struct cursor in = cursor_on(rec->bytes + at, rec->tail, rec->offset + at, rec->context->swap);
    if (fast_sample_id(rec->context, &in, id))
        return PFR_OK;
    in = cursor_on(rec->bytes + at, rec->tail, rec->offset + at, rec->context->swap);
    return layout_read(layout_at(L_sample_id), rec->context, &in, id, err);
}

pfr_items_iter pfr_items_begin(const pfr_items *items) {
    return (pfr_items_iter){*items, 0, items->count};
}

pfr_status pfr_items_next(pfr_items_iter *it, void *part, size_t size, pfr_error *err) {
    const struct layout *l = layout_at(it->items.of);
    if (!l || l->size != size)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_items_next", "parts are %s, not of %zu bytes",
                        l ? l->name : "unknown", size);
    struct items_walk walk = items_start(&it->items);
    walk.in.at += it->taken;
    walk.left = it->left;
    const pfr_status s = items_next(&it->items, &walk, part, err);
    it->taken = (uint64_t)(walk.in.at - walk.in.start);
    it->left = walk.left;
    return s;
}

/* The kind of pfr_value for each kind of field. */
static const uint8_t value_kinds[K_KINDS] = {
    [K_U8] = PFR_VALUE_UNSIGNED,  [K_U16] = PFR_VALUE_UNSIGNED,  [K_U32] = PFR_VALUE_UNSIGNED,
    [K_U64] = PFR_VALUE_UNSIGNED, [K_W8] = PFR_VALUE_UNSIGNED,   [K_W32] = PFR_VALUE_UNSIGNED,
    [K_W64] = PFR_VALUE_UNSIGNED, [K_BITS] = PFR_VALUE_UNSIGNED, [K_TEXT] = PFR_VALUE_TEXT,
    [K_STR32] = PFR_VALUE_TEXT,   [K_RAW] = PFR_VALUE_BYTES,     [K_BYTES] = PFR_VALUE_BYTES,
    [K_A64] = PFR_VALUE_U64S,     [K_SUB] = PFR_VALUE_PART,      [K_ARRAY] = PFR_VALUE_ITEMS,
    [K_WHILE] = PFR_VALUE_ITEMS,  [K_CHOICE] = PFR_VALUE_ITEMS,  [K_REST] = PFR_VALUE_BYTES,
    [K_PAD] = PFR_VALUE_BYTES,
};

static void set_integer(pfr_value *v, const struct field *f, const void *body) {
    const uint64_t u = field_integer(f, body);
    if (f->show == SHOW_SDEC) {
        v->kind = PFR_VALUE_SIGNED;
        v->as.i = f->kind == K_U64 ? (int64_t)u : (int32_t)u;
    } else if (f->show == SHOW_DOUBLE) {
        v->kind = PFR_VALUE_DOUBLE;
        memcpy(&v->as.d, &u, sizeof u);
    } else {
        v->as.u = u;
    }
}

/* Copies a member from the body if its type is one of the view structs. */
static void set_view(pfr_value *v, const struct field *f, const uint8_t *member) {
    static const size_t sizes[] = {[PFR_VALUE_TEXT] = sizeof(pfr_text),
                                   [PFR_VALUE_BYTES] = sizeof(pfr_bytes),
                                   [PFR_VALUE_U64S] = sizeof(pfr_u64s),
                                   [PFR_VALUE_ITEMS] = sizeof(pfr_items)};
    if (v->kind == PFR_VALUE_PART) {
        v->as.part = member;
        v->layout = f->of;
    } else {
        memcpy(&v->as, member, sizes[v->kind]);
    }
}

static bool is_present(const struct field *f, const struct pfr_context *c, const void *body) {
    if (f->when.test == TEST_ROOM || f->when.test == TEST_ROOM_WORD)
        return true; /* absent and 0 are not distinguished here: the struct holds the value read */
    return field_present(f, c, body, 0);
}

/* Resolves a dotted path: each component but the last must be a nested layout. */
static pfr_status follow(const struct layout *l, const struct pfr_context *c, const uint8_t *body, const char *path,
                         pfr_value *value, pfr_error *err) {
    for (;;) {
        const size_t length = strcspn(path, ".");
        const struct field *f = l->fields();
        while (f->name && (strncmp(f->name, path, length) != 0 || f->name[length]))
            f++;
        if (!f->name || (path[length] && f->kind != K_SUB))
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, l->name, "%s has no field %s", l->name, path);
        if (!is_present(f, c, body)) {
            *value = (pfr_value){.kind = PFR_VALUE_ABSENT, .name = f->name};
            return PFR_OK;
        }
        if (path[length]) {
            body += f->at;
            l = layout_at(f->of);
            path += length + 1;
            continue;
        }
        *value = (pfr_value){.kind = (pfr_value_kind)value_kinds[f->kind], .name = f->name};
        if (value->kind == PFR_VALUE_UNSIGNED)
            set_integer(value, f, body);
        else
            set_view(value, f, body + f->at);
        return PFR_OK;
    }
}

/* Refuses a nested layout as a value: it would point into the caller's stack frame. */
static pfr_status settle(const char *field, pfr_value *value, pfr_error *err) {
    if (value->kind != PFR_VALUE_PART)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, value->name, "%s has fields of its own: name one as %s.FIELD",
                    field, field);
}

static pfr_status get_from_id(const pfr_record *rec, const char *field, pfr_value *value, pfr_error *err) {
    struct pfr_rec_sample_id id;
    const pfr_status s = pfr_decode_id(rec, &id, err);
    if (s == PFR_END) {
        *value = (pfr_value){.kind = PFR_VALUE_ABSENT, .name = "id"};
        return PFR_OK;
    }
    PFR_TRY(s);
    return follow(layout_at(L_sample_id), rec->context, (const uint8_t *)&id, field, value, err);
}

pfr_status pfr_get(const pfr_record *rec, const char *field, pfr_value *value, pfr_error *err) {
    union {
#define LAYOUT(id, name, doc) struct pfr_rec_##name name##_;
#define F(...)
#define END
#include "wire/layouts.def"
    } body;
    const unsigned number = layout_of(rec);
    if (strncmp(field, "id.", 3) == 0)
        return get_from_id(rec, field + 3, value, err);
    if (!layout_at(number))
        return pfr_fail(err, PFR_ERR_USAGE, rec->offset, rec->size, "pfr_get", "records of type %u are not known",
                        rec->type);
    PFR_TRY(decode(rec, number, &body, err));
    const struct pfr_context c = record_context(rec, number);
    PFR_TRY(follow(layout_at(number), &c, (const uint8_t *)&body, field, value, err));
    return settle(field, value, err);
}
