/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public output: opening, closing, and the choice of how names are shown. The struct is allocated from its own
 * struct memory, so opening uses a local struct memory first and then copies it in.
 */
#include <unistd.h>
#include "base/text/escape.h"
#include "base/text/public_output.h"

#include <string.h>

#define NAME_LEAST 16u
#define ELLIPSIS "\xe2\x80\xa6"

pfr_output *pfr_output_open_alloc(int fd, bool owned, const pfr_alloc *alloc, pfr_error *err) {
    struct memory memory;
    memory_init(&memory, alloc, 0);
    pfr_output *to = mem_zeroed(&memory, 1, sizeof *to);
    if (!to) {
        mem_fail(&memory, err, "output");
        if (owned)
            close(fd);
        return NULL;
    }
    to->memory = memory;
    if (out_open_fd(&to->out, fd, owned, &to->memory, NULL, err) >= 0)
        return to;
    memory = to->memory;
    mem_free(&memory, to, 1, sizeof *to);
    return NULL;
}

pfr_output *pfr_output_open(int fd, bool owned, pfr_error *err) {
    return pfr_output_open_alloc(fd, owned, NULL, err);
}

void pfr_output_raw_names(pfr_output *out, bool raw) {
    out->raw_names = raw;
}

void pfr_output_columns(pfr_output *out, unsigned columns) {
    out->columns = columns;
}

size_t pfr_escape(char *to, size_t room, const void *bytes, size_t length) {
    return escape_into(to, room, bytes, length);
}

void pfr_output_text(pfr_output *out, const char *text) {
    out_text(&out->out, text);
}

bool pfr_output_failed(const pfr_output *out) {
    return out->out.status != PFR_OK;
}

pfr_status pfr_output_flush(pfr_output *out, pfr_error *err) {
    return out_flush(&out->out, err);
}

pfr_status pfr_output_close(pfr_output *out, pfr_error *err) {
    if (!out)
        return PFR_OK;
    const pfr_status status = out_close(&out->out, err);
    struct memory memory = out->memory;
    mem_free(&memory, out, 1, sizeof *out);
    return status;
}

void print_name(pfr_output *to, const void *bytes, size_t length) {
    if (to->raw_names)
        out_write(&to->out, bytes, length);
    else
        out_escaped(&to->out, bytes, length);
}

size_t text_width(const char *bytes, size_t length) {
    const uint64_t ones = 0x0101010101010101u;
    size_t at = 0, width = length;
    for (uint64_t w; length - at >= sizeof w; at += sizeof w) {
        memcpy(&w, bytes + at, sizeof w);
        width -= (size_t)((w >> 7 & ~(w >> 6) & ones) * ones >> 56);
    }
    for (; at < length; at++)
        width -= ((unsigned char)bytes[at] & 0xc0) == 0x80;
    return width;
}

/* The size in bytes of the first `count` characters. */
static size_t bytes_of(const char *bytes, size_t length, size_t count) {
    size_t at = 0;
    while (at < length && (count || ((unsigned char)bytes[at] & 0xc0) == 0x80))
        count -= ((unsigned char)bytes[at++] & 0xc0) != 0x80;
    return at;
}

/* The parts of a text that are shown if it is too long: its first `front` and its last `back` bytes. */
struct cut {
    size_t front, back;
};

static struct cut cut_of(const char *bytes, size_t length, size_t width) {
    const size_t have = text_width(bytes, length), kept = width ? width - 1 : 0, front = (kept + 1) / 2;
    if (have <= width)
        return (struct cut){length, 0};
    return (struct cut){bytes_of(bytes, length, front), length - bytes_of(bytes, length, have - (kept - front))};
}

void out_text_within(struct output *to, const char *bytes, size_t length, size_t width) {
    const struct cut cut = cut_of(bytes, length, width);
    out_write(to, bytes, cut.front);
    if (cut.front == length)
        return;
    out_text(to, ELLIPSIS);
    out_write(to, bytes + length - cut.back, cut.back);
}

void print_name_within(pfr_output *to, const void *bytes, size_t length, size_t before) {
    const size_t room = to->columns > before + NAME_LEAST ? to->columns - before : NAME_LEAST;
    print_name_in(to, bytes, length, to->columns ? room : SIZE_MAX);
}

void print_name_in(pfr_output *to, const void *bytes, size_t length, size_t width) {
    const struct cut cut = cut_of(bytes, length, width);
    print_name(to, bytes, cut.front);
    if (cut.front == length)
        return;
    out_text(&to->out, ELLIPSIS);
    print_name(to, (const char *)bytes + length - cut.back, cut.back);
}
