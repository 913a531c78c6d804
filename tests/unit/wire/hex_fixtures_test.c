/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes every byte fixture with the tables: each `expect` line must hold for its bytes and for the same record in the
 * other byte order. The fixtures use the field names of perf_event.h and perf's structs; if our tables divide fields
 * differently, `names` below maps fixture names to our names.
 */
#include "field_path.h"
#include "hex_fixture.h"
#include "test.h"
#include "wire/any_layout.h"
#include "wire/layout_write.h"
#include "wire/names.h"
#include "wire/variant.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* The beginning of a field name in fixtures, and the corresponding beginning in the tables. Of several rows that match,
 * the longest beginning is used. NULL: the field describes a meaning that no table contains.
 */
static const struct {
    const char *layout, *theirs, *ours;
} names[] = {
#include "hex_names.def"
};

struct decoded {
    const struct layout *layout;
    struct pfr_context context;
    union any_layout rec;
    struct pfr_rec_sample_id id;
    uint32_t type;
    uint16_t misc, size;
};

static uint64_t tail_of(const struct hex_fixture *h, uint32_t type) {
    const bool has = h->sample_id_all && type < 64 && type != 9 && strcmp(h->kind, "record") == 0;
    return has ? layout_fixed_size(layout_at(L_sample_id), &h->context) : 0;
}

static const struct layout *layout_of(const struct hex_fixture *h) {
    if (strcmp(h->kind, "attr") == 0)
        return layout_at(L_attr);
    if (strcmp(h->kind, "layout") == 0)
        return layout_at(layout_named(h->layout));
    if (strcmp(h->kind, "file") == 0)
        return layout_at(h->length >= 72 && h->bytes[8] >= 72 ? L_file_header : L_pipe_header);
    if (strcmp(h->kind, "feature") == 0)
        return layout_at(layout_find(TABLE_PERF_FEATURE, h->feature));
    return layout_at(layout_find(TABLE_PERF_RECORD, load_u32(h->bytes, SWAP_OF_LITTLE)));
}

/* Sets *from and *length to the range of the fixture's body. */
static void find_body(const struct hex_fixture *h, size_t *from, size_t *length) {
    *from = 0;
    *length = h->length;
    if (strcmp(h->kind, "record") == 0) {
        const uint16_t size = load_u16(h->bytes + 6, SWAP_OF_LITTLE);
        *from = 8;
        *length = size - 8 - tail_of(h, load_u32(h->bytes, SWAP_OF_LITTLE));
    } else if (strcmp(h->kind, "file") == 0) {
        *length = (size_t)load_u64(h->bytes + 8, SWAP_OF_LITTLE);
    }
}

static void set_context(const struct hex_fixture *h, struct decoded *d) {
    d->context = h->context;
    d->context.swap = SWAP_OF_LITTLE != h->big;
    d->context.mirrored = h->big && !h->low_first;
    d->context.word[WORD_VARIANT] = variant_of(layout_named(d->layout->name), h->bytes, h->length, &d->context);
    if (strcmp(h->kind, "record") == 0)
        d->context.word[WORD_MISC] = load_u16(h->bytes + 4, SWAP_OF_LITTLE);
    if (h->feature == 32 && h->length >= 4)
        d->context.word[WORD_VERSION] = load_u32(h->bytes, SWAP_OF_LITTLE);
}

static void decode(const struct hex_fixture *h, struct decoded *d) {
    size_t from, length;
    pfr_error err;
    find_body(h, &from, &length);
    struct cursor in = cursor_on(h->bytes + from, length, 0, d->context.swap);
    pfr_status s = layout_read(d->layout, &d->context, &in, &d->rec, &err);
    if (s == PFR_OK && from) {
        in = cursor_on(h->bytes + from + length, (size_t)tail_of(h, load_u32(h->bytes, SWAP_OF_LITTLE)), 0,
                       SWAP_OF_LITTLE);
        s = in.start < in.end ? layout_read(layout_at(L_sample_id), &d->context, &in, &d->id, &err) : PFR_OK;
        d->type = load_u32(h->bytes, SWAP_OF_LITTLE);
        d->misc = load_u16(h->bytes + 4, SWAP_OF_LITTLE);
        d->size = load_u16(h->bytes + 6, SWAP_OF_LITTLE);
    }
    if (s != PFR_OK)
        fail_msg("%s: %s", h->name, err.text);
}

/* Returns how many characters of `field` the pattern matches, plus 1; 0: no match. "[*]" matches any index, which is
 * stored in *star. */
static size_t match_beginning(const char *field, const char *pattern, unsigned long *star) {
    const char *at = field;
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            char *end;
            *star = strtoul(at, &end, 10);
            at = end;
        } else if (*at++ != *pattern) {
            return 0;
        }
    }
    return (size_t)(at - field) + 1;
}

/* Replaces the beginning of a fixture's field name by the beginning in the tables. False: no table has this field. */
static bool our_name(const struct decoded *d, const char *field, char ours[HEX_LINE]) {
    size_t best = 0;
    unsigned long star = 0;
    const char *put = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsigned long index = 0;
        if (strcmp(names[i].layout, d->layout->name) != 0)
            continue;
        const size_t matched = match_beginning(field, names[i].theirs, &index);
        if (matched > best) {
            best = matched;
            star = index;
            put = names[i].ours;
        }
    }
    if (!put)
        return false;
    const char *asterisk = strchr(put, '*');
    const char *rest = field + (best ? best - 1 : 0);
    if (asterisk)
        snprintf(ours, HEX_LINE, "%.*s%lu%s%s", (int)(asterisk - put), put, star, asterisk + 1, rest);
    else
        snprintf(ours, HEX_LINE, "%s%s", put, rest);
    return true;
}

static bool header_value(const struct decoded *d, const char *field, struct found_value *value) {
    *value = (struct found_value){FOUND_INTEGER, 0, 4, NULL, 0};
    value->integer = strcmp(field, "type") == 0 ? d->type : strcmp(field, "misc") == 0 ? d->misc : d->size;
    return true;
}

/* Some bits of a number, by a set of names of mode PARTS: data_src.mem_op is "op:5" of DATA_SRC. */
static bool value_part(unsigned show, const char *name, struct found_value *value) {
    const struct name_set *set = name_set_of(show);
    for (const struct name *n = set->names; n->text; n++) {
        const size_t length = strcspn(n->text, ":");
        if (strlen(name) != length || memcmp(name, n->text, length) != 0)
            continue;
        const unsigned width = (unsigned)strtoul(n->text + length + 1, NULL, 10);
        value->integer = value->integer >> n->value & ((1ull << width) - 1);
        return true;
    }
    return false;
}

static bool find_expected(const struct decoded *d, const char *field, struct found_value *value) {
    if (strncmp(field, "header.", 7) == 0)
        return header_value(d, field + 7, value);
    if (strncmp(field, "sample_id.", 10) == 0)
        return find_value(layout_at(L_sample_id), &d->id, field + 10, value);
    if (strncmp(field, "data_src.mem_", 13) == 0)
        return find_value(d->layout, &d->rec, "data_src", value) && value_part(SHOW_DATA_SRC, field + 13, value);
    if (strncmp(field, "weight_struct.", 14) == 0)
        return find_value(d->layout, &d->rec, "weight_struct", value) && value_part(SHOW_WEIGHT, field + 14, value);
    return find_value(d->layout, &d->rec, field, value);
}

static bool equals_bytes(const char *digits, const struct found_value *value) {
    for (uint64_t i = 0; i < value->length; i++) {
        unsigned byte;
        if (sscanf(digits + 2 * i, "%2x", &byte) != 1 || byte != ((const uint8_t *)value->at)[i])
            return false;
    }
    return strlen(digits) == 2 * value->length;
}

static bool equals_number(const char *text, const struct found_value *value) {
    if (strpbrk(text, ".e") && text[1] != 'x') {
        const double wanted = strtod(text, NULL);
        return memcmp(&wanted, &value->integer, sizeof wanted) == 0;
    }
    const uint64_t wanted = text[0] == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
    const uint64_t mask = value->width == 8 ? UINT64_MAX : (1ull << 8 * value->width) - 1;
    return (wanted & mask) == value->integer;
}

/* Text between quotation marks, with \\n for a line feed; bytes are compared up to their first NUL. */
static bool equals_text(const char *quoted, const struct found_value *value) {
    const char *at = value->at, *end = at + strnlen(at, value->length);
    for (quoted++; *quoted && *quoted != '"'; quoted++, at++) {
        const bool feed = quoted[0] == '\\' && quoted[1] == 'n';
        quoted += feed;
        if (at == end || *at != (feed ? '\n' : *quoted))
            return false;
    }
    return at == end && *quoted == '"';
}

static bool equals(const char *text, const struct found_value *value) {
    if (text[0] == '"')
        return value->kind != FOUND_INTEGER && equals_text(text, value);
    if (strncmp(text, "hex:", 4) == 0)
        return value->kind == FOUND_BYTES && equals_bytes(text + 4, value);
    return value->kind == FOUND_INTEGER && equals_number(text, value);
}

struct tally {
    unsigned checked, beyond, wrong;
};

static void check_expects(const struct hex_fixture *h, const struct decoded *d, const char *form, struct tally *tally) {
    for (unsigned i = 0; i < h->expects; i++) {
        char field[HEX_LINE];
        struct found_value value;
        if (!our_name(d, h->field[i], field)) {
            tally->beyond++;
            continue;
        }
        tally->checked++;
        const bool found = find_expected(d, field, &value);
        if (found && equals(h->value[i], &value))
            continue;
        tally->wrong++;
        print_error("%s (%s): %s = %s, %s %s %#jx\n", h->name, form, h->field[i], h->value[i], field,
                    found ? "is" : "is not found", (uintmax_t)(found ? value.integer : 0));
    }
}

/* Checks the record in the other byte order. Its struct is read from the converted bytes; header and tail stay as they
 * are. */
static void check_twin(const struct hex_fixture *h, const struct decoded *d, struct tally *tally) {
    struct decoded twin = *d;
    size_t from, length;
    pfr_error err;
    find_body(h, &from, &length);
    uint8_t *bytes = malloc(length + 1);
    assert_non_null(bytes);
    struct writing to = writing_into(bytes, length);
    twin.context.swap = !d->context.swap;
    twin.context.mirrored = !h->big;
    pfr_status s = layout_convert(d->layout, &d->context, h->bytes + from, length, 0, &twin.context, &to, &err);
    struct cursor in = cursor_on(bytes, (size_t)to.used, 0, twin.context.swap);
    if (s == PFR_OK)
        s = layout_read(d->layout, &twin.context, &in, &twin.rec, &err);
    if (s != PFR_OK || to.used != length)
        fail_msg("%s, twin of %ju bytes for %zu: %s", h->name, (uintmax_t)to.used, length, err.text);
    check_expects(h, &twin, "other byte order", tally);
    free(bytes);
}

static void check_fixture(const struct hex_fixture *h, struct tally *tally) {
    struct decoded d = {.layout = layout_of(h)};
    if (!d.layout) { /* a record type that no table contains */
        tally->beyond += h->expects;
        return;
    }
    set_context(h, &d);
    decode(h, &d);
    check_expects(h, &d, "as written", tally);
    check_twin(h, &d, tally);
}

/* Checks every fixture of a folder, and sets `seen` for the layouts of the fixtures. */
static struct tally check_folder(const char *name, bool seen[LAYOUTS]) {
    static struct hex_fixture fixture;
    struct tally tally = {0, 0, 0};
    char folder[512];
    snprintf(folder, sizeof folder, "%.400s/%s", getenv("FIXTURES"), name);
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (const struct dirent *file; (file = readdir(files));) {
        const size_t length = strlen(file->d_name);
        if (length < 5 || strcmp(file->d_name + length - 4, ".hex") != 0)
            continue;
        if (!load_hex_fixture(&fixture, folder, file->d_name))
            fail_msg("%s is not a fixture", file->d_name);
        check_fixture(&fixture, &tally);
        if (layout_of(&fixture))
            seen[layout_named(layout_of(&fixture)->name)] = true;
    }
    closedir(files);
    print_message("%s: %u expectations checked, %u are not of a table\n", name, tally.checked, tally.beyond);
    assert_int_equal(tally.wrong, 0);
    return tally;
}

TEST(every_expectation_of_every_byte_fixture_holds_in_both_byte_orders) {
    bool seen[LAYOUTS] = {false};
    if (!getenv("FIXTURES"))
        skip();
    assert_true(check_folder("hex", seen).checked > 3000);
}

TEST(every_layout_of_traces_has_a_byte_fixture_whose_expectations_hold) {
    bool seen[LAYOUTS] = {false};
    if (!getenv("FIXTURES"))
        skip();
    assert_true(check_folder("hex/xray", seen).checked > 200);
    for (unsigned number = L_xray_header; number < LAYOUTS; number++)
        if (!seen[number] && number != L_profile_function) /* a part of profile_path */
            fail_msg("%s has no byte fixture", layout_at(number)->name);
}
