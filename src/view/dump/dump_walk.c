/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generic traversal: shows any struct by the descriptors of its layout. It tracks the position in the bytes as well
 * as in the struct, because trailing fields are missing in shorter records, and --hex shows the bytes of each value.
 *
 * Fields without a display format (reserved, padding) are skipped if they are 0. Words whose bits follow as fields of
 * their own, and fields implied by the name of the layout, are always skipped.
 */
#include "view/dump/dump_walk.h"

#include "file/read/recording.h"
#include "view/dump/dump_decode.h"

#include <assert.h>
#include <perfray/trace.h>

#define KEY(text)                                                                                                      \
    { ",\"" text "\":", sizeof(",\"" text "\":") - 1, text }
const struct dump_key dump_key_fields = KEY("fields"), dump_key_id = KEY("id"), dump_key_ids = KEY("ids"),
                      dump_key_bytes = KEY("bytes"), dump_key_trailing = KEY("trailing"),
                      dump_key_damaged = KEY("damaged"), dump_key_event = KEY("event");

/* Fields whose bytes have a layout chosen by another field: for example, the payload of HEADER_FEATURE has the layout
   of the feature. */
static const struct {
    unsigned layout;
    const char *field, *by;
    enum layout_table table;
} refined[] = {
    {L_header_feature, "payload", "feat_id", TABLE_PERF_FEATURE},
};

static_assert(LAYOUTS <= UINT8_MAX, "of_type holds layout numbers");

struct field_place {
    struct dump *d;
    const struct pfr_context *context;
    const uint8_t *body, *start, *at, *end;
    unsigned layout;
};

static pfr_status size_tables(struct dump *d, pfr_error *err) {
    for (unsigned n = L_NONE + 1; n < LAYOUTS; n++) {
        d->layouts[n] = layout_at(n);
        d->fields[n] = d->layouts[n]->fields();
        d->first_key[n] = (uint16_t)d->nr_keys;
        for (const struct field *f = d->fields[n]; f->name; f++, d->nr_keys++)
            d->key_text_size += strlen(f->name) + sizeof ",\"\":";
    }
    d->keys = mem_alloc(&d->to->memory, d->nr_keys, sizeof *d->keys);
    d->key_text = mem_alloc(&d->to->memory, d->key_text_size, 1);
    d->part = mem_alloc(&d->to->memory, DUMP_DEPTH, sizeof *d->part);
    return d->keys && d->key_text && d->part ? PFR_OK : mem_fail(&d->to->memory, err, "dump");
}

static char *make_key(struct dump_key *key, const char *name, char *text) {
    const size_t length = strlen(name);
    *key = (struct dump_key){text, (uint16_t)(length + 4), name};
    memcpy(text, ",\"", 2);
    memcpy(text + 2, name, length);
    memcpy(text + 2 + length, "\":", 3);
    return text + length + 5;
}

pfr_status dump_tables_make(struct dump *d, pfr_error *err) {
    PFR_TRY(size_tables(d, err));
    struct dump_key *key = d->keys;
    char *text = d->key_text;
    for (unsigned n = L_NONE + 1; n < LAYOUTS; n++)
        for (const struct field *f = d->fields[n]; f->name; f++)
            text = make_key(key++, f->name, text);
    const struct pfr_context *c = &d->reader->context;
    for (unsigned type = 0; type < DUMP_TYPES; type++)
        d->of_type[type] = (uint8_t)layout_of_type(c, c->trace ? PFR_TRACE_TYPES + type : type);
    return PFR_OK;
}

void dump_tables_free(struct dump *d) {
    mem_free(&d->to->memory, d->keys, d->nr_keys, sizeof *d->keys);
    mem_free(&d->to->memory, d->key_text, d->key_text_size, 1);
    mem_free(&d->to->memory, d->part, DUMP_DEPTH, sizeof *d->part);
}

static void take(struct field_place *p, uint64_t length) {
    p->d->spot = (struct dump_spot){p->at, length};
    p->at += length;
}

static bool are_zero(const uint8_t *at, uint64_t length) {
    while (length > 0 && *at == 0)
        at++, length--;
    return length == 0;
}

static bool is_shown(const struct field *f, uint64_t value) {
    if (f->show == SHOW_NONE)
        return value && !field_is_word(f);
    return f->show != SHOW_IMPLIED;
}

/* Shows a number, with the function's name if it is a function id. */
static void show_value(struct field_place *p, const struct dump_key *key, const struct field *f, uint64_t value) {
    struct dump *d = p->d;
    d->function = NULL;
    if (f->show == SHOW_FUNCTION && d->options.instr_maps && d->failed == PFR_OK)
        d->failed = function_names_find(&d->functions, (uint32_t)value, &d->function, &d->why);
    if (d->failed < 0)
        d->function = NULL;
    d->form->integer(d, key, f, value);
}

static void show_integer(struct field_place *p, const struct dump_key *key, const struct field *f, unsigned width) {
    const uint64_t value = field_integer(f, p->body);
    take(p, width);
    if (is_shown(f, value))
        show_value(p, key, f, value);
    if (f->extra == EXTRA_SCOPE && !field_is_word(f)) /* the value is the size of the layout */
        p->end = p->start + (value || p->layout != L_attr ? value : 64);
}

static void show_text(struct field_place *p, const struct dump_key *key, const struct field *f, unsigned before) {
    const pfr_text *text = (const void *)(p->body + f->at);
    take(p, before + (uint64_t)text->room);
    p->d->form->text(p->d, key, text->at, text->length);
}

static unsigned refined_layout(const struct field_place *p, const struct field *f) {
    for (size_t i = 0; i < sizeof refined / sizeof *refined; i++)
        if (refined[i].layout == p->layout && strcmp(refined[i].field, f->name) == 0)
            return layout_find(refined[i].table,
                               field_integer(field_named(layout_at(p->layout), refined[i].by), p->body));
    return L_NONE;
}

/* Shows the bytes as another layout, nested under its name; false if they do not fit it. */
static bool show_refined(struct field_place *p, const struct dump_key *key, const pfr_bytes *bytes, unsigned layout) {
    struct dump *d = p->d;
    struct cursor in;
    if (!layout || dump_decode_feature(d, bytes, 0, layout, &in, NULL) != PFR_OK)
        return false;
    if (cursor_left(&in) >= 8 || !are_zero(in.at, cursor_left(&in))) /* otherwise only padding is left */
        return false;
    const struct dump_key name = {NULL, 0, d->layouts[layout]->name};
    d->form->begin_part(d, key);
    d->form->begin_part(d, &name);
    dump_fields(d, layout, &d->context, &d->body, bytes->at, bytes->at + bytes->length);
    d->form->end_part(d);
    d->form->end_part(d);
    return true;
}

static void show_bytes(struct field_place *p, const struct dump_key *key, const struct field *f) {
    const pfr_bytes bytes = *(const pfr_bytes *)(const void *)(p->body + f->at);
    take(p, bytes.length);
    if (f->show == SHOW_NONE && are_zero(bytes.at, bytes.length))
        return;
    if (f->kind == K_REST && show_refined(p, key, &bytes, refined_layout(p, f)))
        return;
    if (f->show == SHOW_TEXT)
        p->d->form->text(p->d, key, bytes.at, strnlen((const char *)bytes.at, bytes.length));
    else
        p->d->form->bytes(p->d, key, bytes.at, bytes.length);
}

static void show_numbers(struct field_place *p, const struct dump_key *key, const struct field *f) {
    const pfr_u64s *numbers = (const void *)(p->body + f->at);
    take(p, numbers->count * 8);
    p->d->form->numbers(p->d, key, f, numbers);
}

static void show_part(struct field_place *p, const struct dump_key *key, const struct field *f) {
    struct dump *d = p->d;
    d->form->begin_part(d, key);
    p->at = dump_fields(d, f->of, p->context, p->body + f->at, p->at, p->end);
    d->form->end_part(d);
}

/* Shows the elements up to the first one that does not fit its layout. If there is such an element and `name` is given,
   also shows the bytes of all elements. */
static void show_each(struct dump *d, const pfr_items *items, const struct dump_key *name) {
    struct items_walk walk = items_start(items);
    union dump_body *part = d->part++;
    pfr_status s = PFR_OK;
    for (const uint8_t *at = walk.in.at; (s = items_next(items, &walk, part, NULL)) == PFR_OK; at = walk.in.at) {
        d->form->begin_part(d, name);
        dump_fields(d, (unsigned)items->of, items->context, part, at, walk.in.end);
        d->form->end_part(d);
    }
    d->part--;
    d->spot = (struct dump_spot){NULL, 0};
    if (s < 0 && name)
        d->form->bytes(d, &dump_key_bytes, items->at, items->length);
}

static void show_items(struct field_place *p, const struct dump_key *key, const struct field *f) {
    struct dump *d = p->d;
    const pfr_items items = *(const pfr_items *)(const void *)(p->body + f->at);
    p->at += items.length;
    d->form->begin_array(d, key, items.count);
    show_each(d, &items, NULL);
    d->form->end_array(d);
}

/* Shows the structure whose layout another field selected, under the name of the layout; if no layout was selected,
   shows bytes. */
static void show_choice(struct field_place *p, const struct dump_key *key, const struct field *f) {
    struct dump *d = p->d;
    const pfr_items items = *(const pfr_items *)(const void *)(p->body + f->at);
    if (!layout_at(items.of)) {
        take(p, items.length);
        d->form->bytes(d, key, items.at, items.length);
        return;
    }
    const struct dump_key name = {NULL, 0, d->layouts[items.of]->name};
    p->at += items.length;
    d->form->begin_part(d, key);
    show_each(d, &items, &name);
    d->form->end_part(d);
}

static void show_bits(struct field_place *p, const struct dump_key *key, const struct field *f) {
    const uint64_t value = field_integer(f, p->body);
    p->d->spot = (struct dump_spot){NULL, 0};
    if (is_shown(f, value))
        show_value(p, key, f, value);
}

static void show_field(struct field_place *p, const struct dump_key *key, const struct field *f) {
    switch ((enum field_kind)f->kind) {
    case K_U8:
    case K_W8:
        show_integer(p, key, f, 1);
        break;
    case K_U16:
        show_integer(p, key, f, 2);
        break;
    case K_U32:
    case K_W32:
        show_integer(p, key, f, 4);
        break;
    case K_U64:
    case K_W64:
        show_integer(p, key, f, 8);
        break;
    case K_BITS:
        show_bits(p, key, f);
        break;
    case K_TEXT:
        show_text(p, key, f, 0);
        break;
    case K_STR32:
        show_text(p, key, f, 4);
        break;
    case K_RAW:
    case K_BYTES:
    case K_REST:
    case K_PAD:
        show_bytes(p, key, f);
        break;
    case K_A64:
        show_numbers(p, key, f);
        break;
    case K_SUB:
        show_part(p, key, f);
        break;
    case K_ARRAY:
    case K_WHILE:
        show_items(p, key, f);
        break;
    case K_CHOICE:
        show_choice(p, key, f);
        break;
    case K_KINDS:
        break;
    }
}

const uint8_t *dump_fields(struct dump *d, unsigned layout, const struct pfr_context *c, const void *body,
                           const uint8_t *at, const uint8_t *end) {
    struct field_place p = {d, c, body, at, at, end, layout};
    const struct dump_key *key = d->keys + d->first_key[layout];
    for (const struct field *f = d->fields[layout]; f->name; f++, key++)
        if (f->when.test == TEST_ALWAYS || field_present(f, c, body, (uint64_t)(p.end - p.at)))
            show_field(&p, key, f);
    return p.end == end ? p.at : p.end;
}
