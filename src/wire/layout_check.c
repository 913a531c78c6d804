/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking by descriptors. The layout is read first; then one walk over the fields follows the bytes, because the
 * struct does not keep the place of each number.
 */
#include "wire/layout_check.h"

#include "wire/any_layout.h"

struct check {
    const uint8_t *bytes; /* start of the walk: offsets count from here */
    uint64_t offset;      /* offset of `bytes` in the input */
    check_report *report;
    void *context;
    uint64_t findings;
};

struct check_place {
    struct check *check;
    const struct layout *layout;
    const struct pfr_context *context;
    const uint8_t *rec;
    const uint8_t *at, *end; /* next field, end of the layout's scope */
    const uint8_t *word_at;  /* position of the last word read */
    uint64_t word_length;
};

static void report_finding(const struct check_place *p, const struct field *f, const uint8_t *at, uint64_t length,
                           const char *rule, enum check_severity severity) {
    struct check *check = p->check;
    const struct check_finding finding = {
        check->offset + (uint64_t)(at - check->bytes), length, rule, severity, p->layout, f, NULL};
    check->findings++;
    check->report(check->context, &finding);
}

static bool any_set(const uint8_t *at, uint64_t length) {
    for (uint64_t i = 0; i < length; i++)
        if (at[i])
            return true;
    return false;
}

static void check_zeros(const struct check_place *p, const struct field *f, const uint8_t *at, uint64_t length,
                        const char *rule) {
    if (any_set(at, length))
        report_finding(p, f, at, length, rule, CHECK_NOTE);
}

/* SHOW_NONE marks reserved fields in the tables. */
static bool is_reserved(const struct field *f) {
    return f->show == SHOW_NONE && !field_is_word(f);
}

static const void *member(const struct check_place *p, const struct field *f) {
    return p->rec + f->at;
}

static void check_text(struct check_place *p, const struct field *f) {
    const pfr_text *text = member(p, f);
    const uint8_t *at = (const uint8_t *)text->at;
    if (text->length == text->room && text->room > 0)
        report_finding(p, f, at, text->room, "text-without-nul", CHECK_ODD);
    else
        check_zeros(p, f, at + text->length, text->room - text->length, "padding-not-zero");
    p->at = at + text->room;
}

static void check_bytes(struct check_place *p, const struct field *f) {
    const pfr_bytes *bytes = member(p, f);
    if (is_reserved(f))
        check_zeros(p, f, bytes->at, bytes->length, f->kind == K_PAD ? "padding-not-zero" : "reserved-not-zero");
    p->at = bytes->at + bytes->length;
}

static void check_bits(const struct check_place *p, const struct field *f) {
    if (is_reserved(f) && field_integer(f, p->rec) != 0)
        report_finding(p, f, p->word_at, p->word_length, "reserved-not-zero", CHECK_NOTE);
}

static void check_integer(struct check_place *p, const struct field *f, unsigned width) {
    const uint64_t v = field_integer(f, p->rec);
    if (is_reserved(f) && v != 0)
        report_finding(p, f, p->at, width, "reserved-not-zero", CHECK_NOTE);
    p->word_at = p->at;
    p->word_length = width;
    p->at += width;
}

static const uint8_t *check_fields(struct check *check, const struct layout *l, const struct pfr_context *c,
                                   const void *rec, const uint8_t *at, const uint8_t *end);
static void check_whole(struct check *check, const struct layout *l, const struct pfr_context *c, const uint8_t *at,
                        uint64_t length);

/* Checks parts in sequence by reading each again. */
static void check_items(struct check_place *p, const struct field *f) {
    const pfr_items *items = member(p, f);
    const struct layout *part = layout_at(items->of);
    struct items_walk walk = items_start(items);
    union any_layout rec;
    for (;;) {
        const uint8_t *at = walk.in.at;
        if (items_next(items, &walk, &rec, NULL) != PFR_OK)
            break;
        check_fields(p->check, part, items->context, &rec, at, walk.in.at);
    }
    p->at = items->at + items->length;
}

static void check_choice(struct check_place *p, const struct field *f) {
    const pfr_items *items = member(p, f);
    if (layout_at(items->of))
        check_whole(p->check, layout_at(items->of), items->context, items->at, items->length);
    p->at = items->at + items->length;
}

static void check_field(struct check_place *p, const struct field *f) {
    switch ((enum field_kind)f->kind) {
    case K_U8:
    case K_W8:
        check_integer(p, f, 1);
        break;
    case K_U16:
        check_integer(p, f, 2);
        break;
    case K_U32:
    case K_W32:
        check_integer(p, f, 4);
        break;
    case K_U64:
    case K_W64:
        check_integer(p, f, 8);
        break;
    case K_BITS:
        check_bits(p, f);
        break;
    case K_TEXT:
    case K_STR32:
        check_text(p, f);
        break;
    case K_RAW:
    case K_BYTES:
    case K_REST:
    case K_PAD:
        check_bytes(p, f);
        break;
    case K_A64:
        p->at = ((const pfr_u64s *)member(p, f))->at + 8 * ((const pfr_u64s *)member(p, f))->count;
        break;
    case K_SUB:
        p->at = check_fields(p->check, layout_at(f->of), p->context, member(p, f), p->at, p->end);
        break;
    case K_ARRAY:
    case K_WHILE:
        check_items(p, f);
        break;
    case K_CHOICE:
        check_choice(p, f);
        break;
    case K_KINDS:
        break;
    }
}

/* Returns the end of the layout. A size field in the layout may reduce `end`. */
static const uint8_t *check_fields(struct check *check, const struct layout *l, const struct pfr_context *c,
                                   const void *rec, const uint8_t *at, const uint8_t *end) {
    struct check_place p = {check, l, c, rec, at, end, at, 0};
    for (const struct field *f = l->fields(); f->name; f++) {
        if (!field_present(f, c, rec, (uint64_t)(p.end - p.at)))
            continue;
        check_field(&p, f);
        if (f->extra == EXTRA_SCOPE && (f->kind == K_U16 || f->kind == K_U32)) {
            const uint64_t size = field_integer(f, rec);
            p.end = at + (size == 0 && l == layout_at(L_attr) ? 64 : size);
        }
    }
    return p.at;
}

static void check_misfit(struct check *check, const struct layout *l, const struct pfr_context *c, const uint8_t *at,
                         uint64_t length, const pfr_error *error) {
    struct check_finding finding = {error->offset, error->length, "does-not-fit", CHECK_DEFECT, l, NULL, error};
    struct pfr_context other = *c;
    union any_layout rec;
    other.swap = !c->swap;
    other.home = NULL;
    struct cursor in = cursor_on(at, (size_t)length, 0, other.swap);
    check->findings++;
    check->report(check->context, &finding);
    if (length == 0 || layout_read(l, &other, &in, &rec, NULL) != PFR_OK)
        return;
    finding.offset = check->offset + (uint64_t)(at - check->bytes);
    finding.length = length;
    finding.rule = "other-byte-order";
    finding.error = NULL;
    check->findings++;
    check->report(check->context, &finding);
}

static void check_whole(struct check *check, const struct layout *l, const struct pfr_context *c, const uint8_t *at,
                        uint64_t length) {
    struct cursor in = cursor_on(at, (size_t)length, check->offset + (uint64_t)(at - check->bytes), c->swap);
    const uint8_t *end = in.end;
    union any_layout rec;
    pfr_error error;
    if (layout_read(l, c, &in, &rec, &error) != PFR_OK) {
        check_misfit(check, l, c, at, length, &error);
        return;
    }
    const struct check_place p = {check, l, c, (const uint8_t *)&rec, in.end != end ? in.end : in.at, end, at, 0};
    check_fields(check, l, c, &rec, at, in.end);
    const uint64_t left = (uint64_t)(end - p.at);
    if (any_set(p.at, left))
        report_finding(&p, NULL, p.at, left, "bytes-after-end", CHECK_ODD);
    else if (left >= 8)
        report_finding(&p, NULL, p.at, left, "zeros-after-end", CHECK_NOTE);
}

uint64_t layout_check(const struct layout *l, const struct pfr_context *c, const void *bytes, uint64_t length,
                      uint64_t offset, check_report *report, void *context) {
    struct check check = {bytes, offset, report, context, 0};
    check_whole(&check, l, c, bytes, length);
    return check.findings;
}
