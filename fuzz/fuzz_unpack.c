/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compressed input, decompressed in pieces of one size from a source that returns pieces of another size, and again
 * through the read buffer of an input. The sizes must not matter: both give the same bytes and the same final status.
 */
#include "base/memory/bounds.h"
#include "base/io/input.h"
#include "base/io/unpack.h"
#include "fuzz.h"

#include <stdlib.h>

#define OUTPUT_MOST ((size_t)1 << 18) /* more output is ignored */

struct pieces {
    const uint8_t *at;
    size_t left, most;
};

struct unpacked {
    uint8_t *bytes; /* OUTPUT_MOST */
    size_t length;
    pfr_status status;
    pfr_error err;
};

static pfr_status give_piece(void *context, uint8_t *to, size_t room, size_t *got, pfr_error *err) {
    struct pieces *from = context;
    (void)err;
    *got = from->left < from->most ? from->left : from->most;
    *got = *got < room ? *got : room;
    if (*got)
        memcpy(to, from->at, *got);
    from->at += *got;
    from->left -= *got;
    return PFR_OK;
}

static void take_out(struct unpacker *u, size_t room, struct unpacked *to) {
    size_t got;
    while (to->length < OUTPUT_MOST) {
        const size_t left = OUTPUT_MOST - to->length;
        to->status = unpack_read(u, to->bytes + to->length, left < room ? left : room, &got, &to->err);
        LAW((to->status == PFR_OK) == (got > 0) && got <= room, "%s with %zu bytes", pfr_status_name(to->status), got);
        if (to->status != PFR_OK)
            break;
        to->length += got;
    }
    if (to->status < 0 || to->status == PFR_HOLE)
        fuzz_check_error(&to->err, to->status, to->length);
}

static struct unpacked no_bytes(void) {
    const struct unpacked u = {.bytes = malloc(OUTPUT_MOST)};
    LAW(u.bytes, "no memory");
    return u;
}

static struct unpacked unpack_pieces(const uint8_t *bytes, size_t length, size_t most, size_t room) {
    struct memory memory;
    struct pieces from = {bytes, length, most};
    struct unpacked unpacked = no_bytes();
    const pfr_limits limits = limits_resolve(&fuzz_limits);
    memory_init(&memory, NULL, fuzz_limits.memory);
    struct unpacker *u = unpack_open(unpack_recognise(bytes, length), &memory, &limits,
                                     (struct unpack_source){give_piece, &from}, &unpacked.err);
    LAW(u, "no unpacker: %s", unpacked.err.text);
    take_out(u, room, &unpacked);
    unpack_close(u);
    LAW(memory.used == 0, "%ju bytes are still held", (uintmax_t)memory.used);
    return unpacked;
}

static struct unpacked read_windows(const uint8_t *bytes, size_t length, size_t step) {
    struct memory memory;
    struct input in;
    struct unpacked read = no_bytes();
    struct fuzz_file file;
    const struct input_setup setup = {.memory = &memory, .limits = &fuzz_limits, .chunk = 4096};
    const uint8_t *window;
    size_t have;
    memory_init(&memory, NULL, fuzz_limits.memory);
    fuzz_file_open(&file, bytes, length);
    const pfr_status opened = input_open_fd(&in, file.fd, false, file.path, &setup, &read.err);
    LAW(opened == PFR_OK, "the file does not open: %s", read.err.text);
    while (read.length < OUTPUT_MOST) {
        read.status = input_window(&in, read.length, step, &window, &have, &read.err);
        const size_t took = read.status < 0 ? 0 : have < step ? have : step;
        const size_t left = OUTPUT_MOST - read.length, kept = took < left ? took : left;
        if (took == 0)
            break;
        memcpy(read.bytes + read.length, window, kept);
        read.length += kept;
    }
    input_close(&in);
    fuzz_file_close(&file);
    LAW(memory.used == 0, "%ju bytes are still held", (uintmax_t)memory.used);
    return read;
}

/* The position where damaged input ends may depend on the sizes of reads; the output up to that position is the same.
 */
static void compare(const struct unpacked *a, struct unpacked *b, const char *how) {
    const size_t both = a->length < b->length ? a->length : b->length;
    LAW(memcmp(a->bytes, b->bytes, both) == 0, "other bytes come out %s", how);
    LAW(a->length == b->length || a->status == PFR_HOLE || a->status < 0, "%zu bytes come out, %s %zu", a->length, how,
        b->length);
    free(b->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const size_t step = 1 + (size_t)fuzz_last(bytes, &length);
    if (unpack_recognise(bytes, length) == UNPACK_NONE || length < UNPACK_MAGIC)
        return 0;
    struct unpacked whole = unpack_pieces(bytes, length, length, OUTPUT_MOST);
    struct unpacked pieces = unpack_pieces(bytes, length, step, 17 * step);
    struct unpacked windows = read_windows(bytes, length, 17 * step);
    LAW(whole.status == pieces.status || whole.length == OUTPUT_MOST || pieces.length == OUTPUT_MOST,
        "%s, in pieces %s", pfr_status_name(whole.status), pfr_status_name(pieces.status));
    compare(&whole, &pieces, "in pieces");
    compare(&whole, &windows, "by windows");
    free(whole.bytes);
    return 0;
}
