/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of the tracepoint formats: see tracing_blob.h, and docs/perf-data-format.md for the order of the parts. */
#include "file/read/tracing_blob.h"

#include <stdlib.h>

static const uint8_t magic[] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

static pfr_status broken(const struct tracing_blob *b, const char *what, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_DAMAGE, cursor_offset(&b->in), cursor_left(&b->in), what,
                    "the tracing data end within %s", what);
}

static bool take_text(struct cursor *in, pfr_text *text) {
    const size_t left = cursor_left(in), length = strnlen((const char *)in->at, left);
    if (length == left)
        return false;
    *text = (pfr_text){(const char *)in->at, (uint32_t)length, (uint32_t)length + 1};
    in->at += length + 1;
    return true;
}

static bool take_sized(struct cursor *in, pfr_bytes *bytes) {
    return take_u64(in, &bytes->length) && take_bytes(in, bytes->length, &bytes->at);
}

/* header_page and header_event: name, size, text */
static bool take_named(struct cursor *in, pfr_bytes *bytes) {
    pfr_text name;
    return take_text(in, &name) && take_sized(in, bytes);
}

static bool take_start(struct tracing_blob *b) {
    const uint8_t *start;
    uint8_t big;
    struct cursor *in = &b->in;
    if (!take_bytes(in, sizeof magic, &start) || memcmp(start, magic, sizeof magic) != 0)
        return false;
    if (!take_text(in, &b->version) || !take_u8(in, &big) || !take_u8(in, &b->long_size))
        return false;
    b->big_endian = big == 1;
    in->swap = b->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return take_u32(in, &b->page_size);
}

static bool skip_ftrace_formats(struct tracing_blob *b) {
    uint32_t count;
    pfr_bytes text;
    if (!take_u32(&b->in, &count))
        return false;
    b->ftrace = b->in;
    b->ftrace_left = count;
    for (uint32_t i = 0; i < count; i++)
        if (!take_sized(&b->in, &text))
            return false;
    return true;
}

pfr_status blob_open(struct tracing_blob *b, const uint8_t *bytes, uint64_t length, uint64_t offset, pfr_error *err) {
    *b = (struct tracing_blob){.in = cursor_on(bytes, length, offset, false)};
    if (!take_start(b))
        return broken(b, "their header", err);
    if (!take_named(&b->in, &b->header_page) || !take_named(&b->in, &b->header_event))
        return broken(b, "header_page and header_event", err);
    if (!skip_ftrace_formats(b) || !take_u32(&b->in, &b->nr_systems))
        return broken(b, "the ftrace formats", err);
    b->systems_left = b->nr_systems;
    return PFR_OK;
}

/* Returns the text after `key`, up to the end of the line. */
static pfr_text line_after(const pfr_text *text, const char *key) {
    const char *at = memmem(text->at, text->length, key, strlen(key));
    if (!at)
        return (pfr_text){NULL, 0, 0};
    at += strlen(key);
    const size_t left = (size_t)(text->at + text->length - at);
    const char *end = memchr(at, '\n', left);
    const uint32_t length = (uint32_t)(end ? (size_t)(end - at) : left);
    return (pfr_text){at, length, length};
}

static uint64_t number_of(pfr_text text) {
    char digits[24] = {0};
    if (text.length == 0 || text.length >= sizeof digits)
        return UINT64_MAX;
    memcpy(digits, text.at, text.length);
    return strtoull(digits, NULL, 10);
}

static void fill_format(struct tracing_format *f, pfr_text system, pfr_bytes text) {
    const uint32_t length = text.length > UINT32_MAX ? UINT32_MAX : (uint32_t)text.length;
    f->system = system;
    f->text = (pfr_text){(const char *)text.at, length, length};
    f->name = line_after(&f->text, "name: ");
    f->id = number_of(line_after(&f->text, "\nID: "));
}

pfr_status blob_next(struct tracing_blob *b, struct tracing_format *f, pfr_error *err) {
    pfr_bytes text;
    while (b->formats_left == 0) {
        if (b->systems_left == 0)
            return PFR_END;
        b->systems_left--;
        if (!take_text(&b->in, &b->system) || !take_u32(&b->in, &b->formats_left))
            return broken(b, "a system", err);
    }
    b->formats_left--;
    if (!take_sized(&b->in, &text))
        return broken(b, "a format", err);
    fill_format(f, b->system, text);
    return PFR_OK;
}

pfr_status blob_next_ftrace(struct tracing_blob *b, struct tracing_format *f, pfr_error *err) {
    static const char system[] = "ftrace";
    pfr_bytes text;
    if (b->ftrace_left == 0)
        return PFR_END;
    b->ftrace_left--;
    if (!take_sized(&b->ftrace, &text)) /* cannot fail: blob_open has checked all of them */
        return broken(b, "the ftrace formats", err);
    fill_format(f, (pfr_text){system, sizeof system - 1, sizeof system}, text);
    return PFR_OK;
}

static bool take_counted(struct cursor *in, pfr_bytes *bytes) {
    uint32_t length;
    if (!take_u32(in, &length) || !take_bytes(in, length, &bytes->at))
        return false;
    bytes->length = length;
    return true;
}

/* Saved command lines exist since version 0.6. The version is a text: a digit, a point, digits. */
static bool has_cmdlines(const pfr_text *version) {
    static const char from[] = "0.6";
    return version->length >= sizeof from - 1 && memcmp(version->at, from, sizeof from - 1) >= 0;
}

pfr_status blob_rest(struct tracing_blob *b, struct tracing_rest *rest, pfr_error *err) {
    *rest = (struct tracing_rest){0};
    if (!take_counted(&b->in, &rest->kallsyms))
        return broken(b, "kallsyms", err);
    if (!take_counted(&b->in, &rest->printk))
        return broken(b, "the printk formats", err);
    if (has_cmdlines(&b->version) && !take_sized(&b->in, &rest->cmdlines))
        return broken(b, "the saved command lines", err);
    return PFR_OK;
}
