/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of wire/quipper.def, and the lookup of the members that they name. */
#include "base/memory/fail.h"
#include "edit/quipper/quipper.h"

#define FIRST(bit, width) ((bit) << 8 | (width))
/* The argument `extra` of P is a message or a number, by kind; it becomes a row's member `message` or `extra`. */
#define E_NUMBER(x) M_0, x
#define E_ABOUT(x) M_0, x
#define E_TRUTH(x) M_0, x
#define E_ROOMY(x) M_0, x
#define E_ROOMY_TRUTH(x) M_0, x
#define E_BITS(x) M_0, x
#define E_BIT(x) M_0, x
#define E_MISC_BIT(x) M_0, x
#define E_TEXT(x) M_0, x
#define E_TEXTS(x) M_0, x
#define E_BYTES(x) M_0, x
#define E_HEX(x) M_0, x
#define E_NUMBERS(x) M_0, x
#define E_MD5(x) M_0, x
#define E_MD5S(x) M_0, x
#define E_ALWAYS_IS(x) M_0, x
#define E_ALIAS(x) M_0, x
#define E_BESIDE(x) M_0, x
#define E_LACKS(x) M_0, x
#define E_ROOT(x) M_0, x
#define E_ROOT_MD5(x) M_0, x
#define E_PAYLOAD(x) M_0, x
#define E_PART(x) M_##x, 0
#define E_SAME(x) M_##x, 0
#define E_TAIL(x) M_##x, 0
#define E_OWN(x) M_##x, 0

#define MESSAGE(name) static const struct quipper_row rows_##name[] = {
#define P(number, kind, name, from, extra) {number, Q_##kind, E_##kind(extra), #name, from},
#define END                                                                                                            \
    { .name = NULL }                                                                                                   \
    }                                                                                                                  \
    ;
#include "wire/quipper.def"

static const struct quipper_row *const messages[MESSAGES] = {
#define MESSAGE(name) [M_##name] = rows_##name,
#define P(...)
#define END
#include "wire/quipper.def"
};

const struct quipper_row *quipper_rows(unsigned message) {
    static const struct quipper_row none = {.name = NULL};
    return message > M_0 && message < MESSAGES ? messages[message] : &none;
}

const struct quipper_row *quipper_row_of(unsigned message, uint32_t number) {
    const struct quipper_row *row = quipper_rows(message);
    while (row->name && row->number != number)
        row++;
    return row->name ? row : NULL;
}

const struct quipper_row *quipper_row_named(unsigned message, const char *name, size_t length) {
    for (const struct quipper_row *row = quipper_rows(message); row->name; row++)
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
            return row;
    return NULL;
}

static bool is_name(const struct quipper_name *name, const char *text) {
    return strlen(text) == name->length && memcmp(text, name->at, name->length) == 0;
}

const struct quipper_row *quipper_row_from(unsigned message, const char *layout) {
    struct quipper_name name;
    for (const struct quipper_row *row = quipper_rows(message); row->name; row++)
        for (const char *from = row->from; quipper_next_name(&from, &name);)
            if (is_name(&name, layout))
                return row;
    return NULL;
}

/* --- Omitted fields. */

/* True if another message has a field of this name that contains `message`. */
static bool is_in_field(unsigned message, const struct quipper_name *field) {
    for (unsigned around = M_0 + 1; around < MESSAGES; around++)
        for (const struct quipper_row *row = quipper_rows(around); row->name; row++)
            if (row->message == message && is_name(field, row->name))
                return true;
    return false;
}

/* False for fields of the messages that contain records, events and features: without these fields nothing could be
   read. */
static bool may_lack(unsigned message, const struct quipper_row *row) {
    return message != M_perf_data && message != M_event && message != M_file_attr && message != M_string_metadata &&
           row->kind != Q_OWN && row->number < 64;
}

/* Returns false if no field of this name can be omitted. */
static bool leave_out(const struct quipper_name *word, uint64_t *without) {
    const char *dot = memchr(word->at, '.', word->length);
    const struct quipper_name field = {word->at, dot ? (size_t)(dot - word->at) : 0};
    const struct quipper_name name = dot ? (struct quipper_name){dot + 1, word->length - field.length - 1} : *word;
    bool any = false;
    for (unsigned message = M_0 + 1; message < MESSAGES; message++)
        for (const struct quipper_row *row = quipper_rows(message); row->name; row++)
            if (is_name(&name, row->name) && may_lack(message, row) && (!dot || is_in_field(message, &field))) {
                without[message] |= (uint64_t)1 << row->number;
                any = true;
            }
    return any;
}

pfr_status quipper_leave_out(const char *list, uint64_t *without, pfr_error *err) {
    for (const char *at = list; at && *at;) {
        const struct quipper_name word = {at, strcspn(at, ",")};
        if (!leave_out(&word, without))
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "without",
                            "quipper's schema has no optional field named %.*s",
                            word.length > 80 ? 80 : (int)word.length, word.at);
        at += word.length;
        at += *at == ',';
    }
    return PFR_OK;
}

enum quipper_form quipper_form_of(const struct quipper_row *row) {
    static const uint8_t forms[Q_KINDS] = {
        [Q_TRUTH] = FORM_TRUTH,  [Q_ROOMY_TRUTH] = FORM_TRUTH, [Q_BIT] = FORM_TRUTH,     [Q_MISC_BIT] = FORM_TRUTH,
        [Q_LACKS] = FORM_TRUTH,  [Q_TEXT] = FORM_BYTES,        [Q_TEXTS] = FORM_BYTES,   [Q_BYTES] = FORM_BYTES,
        [Q_HEX] = FORM_BYTES,    [Q_ROOT] = FORM_BYTES,        [Q_PAYLOAD] = FORM_BYTES, [Q_PART] = FORM_MESSAGE,
        [Q_SAME] = FORM_MESSAGE, [Q_TAIL] = FORM_MESSAGE,
    };
    if (row->kind != Q_OWN)
        return (enum quipper_form)forms[row->kind];
    return row->message == M_0       ? FORM_NUMBER
           : row->message == M_TRUE  ? FORM_TRUTH
           : row->message == M_BYTES ? FORM_BYTES
                                     : FORM_MESSAGE;
}

bool quipper_next_name(const char **from, struct quipper_name *name) {
    if (!**from)
        return false;
    *name = (struct quipper_name){*from, strcspn(*from, "|")};
    *from += name->length;
    *from += **from == '|';
    return true;
}

static const struct field *field_of(const struct layout *l, const char *name, size_t length) {
    for (const struct field *f = l->fields(); f->name; f++)
        if (strlen(f->name) == length && memcmp(f->name, name, length) == 0)
            return f;
    return NULL;
}

bool quipper_find(const struct layout *l, const struct pfr_context *c, const void *body,
                  const struct quipper_name *path, struct quipper_member *m) {
    const char *at = path->at, *const end = path->at + path->length;
    *m = (struct quipper_member){.there = true, .part_there = true, .layout = l};
    for (;;) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        m->field = field_of(m->layout, at, (size_t)((dot ? dot : end) - at));
        if (!m->field)
            return false;
        m->part_there = m->there;
        m->there = m->there && field_present(m->field, c, (const uint8_t *)body + m->at, UINT64_MAX);
        if (!dot)
            return true;
        m->at += m->field->at;
        m->layout = layout_at(m->field->of);
        at = dot + 1;
    }
}
