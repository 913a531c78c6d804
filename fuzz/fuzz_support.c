/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by the targets: see fuzz.h. */
#include "fuzz.h"

#include "base/memory/sizes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const pfr_limits fuzz_limits = {
    .size = sizeof(pfr_limits),
    .memory = 64u << 20,
    .window = 1u << 20,
    .zstd_output_per_record = 1u << 16,
    .chunk = 1u << 20,
};

_Noreturn void law_broken(const char *file, int line, const char *law, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: this does not hold: %s: ", file, line, law);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

uint8_t fuzz_last(const uint8_t *bytes, size_t *length) {
    return *length ? bytes[--*length] : 0;
}

uint64_t fuzz_last_u64(const uint8_t *bytes, size_t *length) {
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)fuzz_last(bytes, length) << 8 * i;
    return v;
}

uint64_t fuzz_take(struct cursor *in, unsigned width) {
    uint64_t v = 0;
    uint8_t byte;
    for (unsigned i = 0; i < width && take_u8(in, &byte); i++)
        v |= (uint64_t)byte << 8 * i;
    return v;
}

struct pfr_context fuzz_context(struct cursor *in) {
    const uint64_t form = fuzz_take(in, 2);
    struct pfr_context c = {.swap = form & FUZZ_SWAP, .mirrored = form & FUZZ_MIRRORED};
    for (unsigned word = 0; word < WORDS; word++)
        if (form >> word & 1)
            c.word[word] = fuzz_take(in, 8);
    return c;
}

void fuzz_check_error(const pfr_error *err, pfr_status status, uint64_t size) {
    LAW(err->status == status, "the error says %s, the call %s: %s", pfr_status_name(err->status),
        pfr_status_name(status), err->text);
    LAW(memchr(err->text, '\0', sizeof err->text), "the text has no end");
    LAW(err->text[0] && !strchr(err->text, '\n'), "the text of %s is '%s'", pfr_status_name(status), err->text);
    LAW(err->where, "where is NULL: %s", err->text);
    LAW(err->offset == PFR_NO_OFFSET || err->offset <= size, "byte %ju of %ju: %s", (uintmax_t)err->offset,
        (uintmax_t)size, err->text);
}

uint64_t fuzz_mix(uint64_t sum, const void *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return sum;
}

void fuzz_draw_sizes(const uint8_t *bytes, size_t length) {
    sizes_draw(fuzz_mix(length, bytes, length), NULL);
}

void fuzz_file_open(struct fuzz_file *file, const uint8_t *bytes, size_t length) {
    file->fd = memfd_create("fuzz", MFD_CLOEXEC);
    LAW(file->fd >= 0, "no file in memory");
    LAW(write(file->fd, bytes, length) == (ssize_t)length, "no room for %zu bytes", length);
    LAW(lseek(file->fd, 0, SEEK_SET) == 0, "not seekable");
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
}

void fuzz_file_close(struct fuzz_file *file) {
    close(file->fd);
}

static uint64_t touch_text(uint64_t sum, const pfr_text *text) {
    LAW(text->length <= text->room, "a text of %u in a room of %u", text->length, text->room);
    LAW(text->at || !text->room, "%u bytes of text nowhere", text->room);
    if (text->room)
        LAW(strnlen(text->at, text->length) == text->length, "a NUL within a text of %u", text->length);
    return text->room ? fuzz_mix(sum, text->at, text->room) : sum;
}

static uint64_t touch_u64s(uint64_t sum, const pfr_u64s *numbers) {
    for (uint64_t i = 0; i < numbers->count; i++) {
        const uint64_t v = pfr_u64s_at(numbers, i);
        sum = fuzz_mix(sum, &v, sizeof v);
    }
    return sum;
}

/* A selected part that takes no bytes counts as one part, because there is no step to a next one. */
static uint64_t touch_items(uint64_t sum, const pfr_items *items, bool chosen) {
    const struct layout *part = layout_at(items->of);
    pfr_items_iter it = pfr_items_begin(items);
    union any_layout rec;
    uint64_t parts = 0;
    if (!part)
        return fuzz_mix(sum, items->at, items->length);
    while (pfr_items_next(&it, &rec, part->size, NULL) == PFR_OK) {
        sum = sum * 31 + fuzz_touch(part, &rec);
        parts++;
    }
    LAW(parts == items->count || chosen, "%ju of %ju parts %s in %ju bytes", (uintmax_t)parts, (uintmax_t)items->count,
        part->name, (uintmax_t)items->length);
    return sum;
}

static uint64_t touch_field(uint64_t sum, const struct field *f, const uint8_t *member) {
    const pfr_bytes *bytes = (const void *)member;
    uint64_t v;
    switch ((enum field_kind)f->kind) {
    case K_TEXT:
    case K_STR32:
        return touch_text(sum, (const void *)member);
    case K_RAW:
    case K_BYTES:
    case K_REST:
    case K_PAD:
        return fuzz_mix(sum, bytes->at, bytes->length);
    case K_A64:
        return touch_u64s(sum, (const void *)member);
    case K_SUB:
        return sum * 31 + fuzz_touch(layout_at(f->of), member);
    case K_ARRAY:
    case K_WHILE:
    case K_CHOICE:
        return touch_items(sum, (const void *)member, f->kind == K_CHOICE);
    default:
        v = field_integer(f, member - f->at);
        return fuzz_mix(sum, &v, sizeof v);
    }
}

uint64_t fuzz_touch(const struct layout *l, const void *rec) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (const struct field *f = l->fields(); f->name; f++)
        sum = touch_field(sum, f, (const uint8_t *)rec + f->at);
    return sum;
}
