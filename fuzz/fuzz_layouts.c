/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any layout, in both byte orders. The law: if layout_check has no finding, reading and writing again gives the same
 * bytes, and so does a conversion to the other order and back. Findings are about bytes that the structs do not store:
 * after a text's NUL and in padding.
 */
#include "fuzz.h"
#include "fuzz_layout_key.h"
#include "wire/layout_check.h"
#include "wire/layout_write.h"

#include <stdlib.h>

struct instance {
    const struct layout *layout;
    const struct pfr_context *context;
    const uint8_t *bytes;
    uint64_t length, used; /* all bytes, and those used by the layout */
};

static void note_loss(void *lost, const struct check_finding *finding) {
    if (strcmp(finding->rule, "padding-not-zero") == 0 || strcmp(finding->rule, "does-not-fit") == 0)
        *(bool *)lost = true;
}

static void written_again(const struct instance *i, const union any_layout *rec) {
    pfr_error err;
    uint8_t *again = malloc(i->used + 1);
    LAW(again, "no memory");
    struct writing to = writing_into(again, i->used);
    to.extent = i->length;
    const pfr_status s = layout_write(i->layout, i->context, rec, &to, &err);
    LAW(s == PFR_OK, "%s of %ju bytes cannot be written: %s", i->layout->name, (uintmax_t)i->used, err.text);
    LAW(to.used == i->used, "%s of %ju bytes becomes %ju", i->layout->name, (uintmax_t)i->used, (uintmax_t)to.used);
    for (uint64_t n = 0; n < i->used; n++)
        LAW(again[n] == i->bytes[n], "byte %ju of %s is %#x, written again %#x", (uintmax_t)n, i->layout->name,
            i->bytes[n], again[n]);
    free(again);
}

static void convert(const struct instance *i, const struct pfr_context *from, const uint8_t *bytes,
                    const struct pfr_context *to, uint8_t *into) {
    pfr_error err;
    struct writing out = writing_into(into, i->length);
    const pfr_status s = layout_convert(i->layout, from, bytes, i->length, 0, to, &out, &err);
    LAW(s == PFR_OK && out.used == i->length, "%s converts to %ju of %ju bytes: %s", i->layout->name,
        (uintmax_t)out.used, (uintmax_t)i->length, s == PFR_OK ? "" : err.text);
}

static void there_and_back(const struct instance *i) {
    struct pfr_context other = *i->context;
    uint8_t *there = malloc(2 * i->length + 1), *back = there + i->length;
    LAW(there, "no memory");
    other.swap = !other.swap;
    other.mirrored = !other.mirrored;
    convert(i, i->context, i->bytes, &other, there);
    convert(i, &other, there, i->context, back);
    LAW(memcmp(back, i->bytes, i->length) == 0, "%s: there and back is other bytes", i->layout->name);
    free(there);
}

static void try_order(const struct layout *l, const struct pfr_context *c, const uint8_t *bytes, size_t length) {
    struct cursor in = cursor_on(bytes, length, 0, c->swap);
    const uint8_t *end = in.end;
    union any_layout rec;
    pfr_error err;
    bool lost = false;
    const pfr_status s = layout_read(l, c, &in, &rec, &err);
    if (s != PFR_OK) {
        LAW(s == PFR_ERR_DAMAGE && err.where[0], "%s: %s", l->name, pfr_status_name(s));
        fuzz_check_error(&err, s, length);
        return;
    }
    fuzz_touch(l, &rec);
    const struct instance i = {l, c, bytes, length, (uint64_t)((in.end != end ? in.end : in.at) - bytes)};
    layout_check(l, c, bytes, length, 0, note_loss, &lost);
    if (lost)
        return;
    written_again(&i, &rec);
    there_and_back(&i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct cursor in = cursor_on(bytes, length, 0, false);
    const struct layout *l = layout_of_key((uint16_t)fuzz_take(&in, 2));
    struct pfr_context c = fuzz_context(&in);
    for (int order = 0; order < 2; order++) {
        c.swap = !c.swap;
        c.mirrored = !c.mirrored;
        try_order(l, &c, in.at, cursor_left(&in));
    }
    return 0;
}
