/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output that compresses. When the buffer of gzip->out is full, its write function `feed` passes the bytes to the
 * packer, which writes directly into the buffer of the output `to`.
 */
#include "base/io/gzip_output.h"

#include "base/memory/fail.h"
#include "base/io/gzip_packer.h"

#include <unistd.h>

#define MOST ((size_t)1 << 30) /* bytes per call of the packer, which counts in 32 bits */
#define STEP ((size_t)16 << 10)

/* Points `piece` at free room in `to`. Returns false if `to` has failed. */
static bool find_room(struct gzip_output *gzip, struct gzip_piece *piece) {
    if (!out_make_room(gzip->to, STEP))
        return false;
    const size_t room = gzip->to->capacity - gzip->to->used;
    piece->to = (uint8_t *)gzip->to->buffer + gzip->to->used;
    piece->room = (uint32_t)(room < MOST ? room : MOST);
    return true;
}

static void take_packed(struct gzip_output *gzip, const struct gzip_piece *piece) {
    gzip->to->used = (size_t)((char *)piece->to - gzip->to->buffer);
}

static ssize_t feed(void *context, int fd, const void *from, size_t length) {
    struct gzip_output *gzip = context;
    (void)fd;
    length = length < MOST ? length : MOST;
    struct gzip_piece piece = {.from = from, .left = (uint32_t)length};
    while (piece.left && find_room(gzip, &piece)) {
        gzip_pack(gzip->packer, &piece);
        take_packed(gzip, &piece);
    }
    return (ssize_t)length; /* a failure of `to` is stored in `to` */
}

pfr_status gzip_output_open(struct gzip_output *gzip, struct output *to, struct memory *memory, pfr_error *err) {
    const struct output_calls calls = {feed, gzip};
    *gzip = (struct gzip_output){.to = to, .packer = gzip_packer_new(memory)};
    if (!gzip->packer)
        return mem_fail(memory, err, "output");
    const pfr_status st = out_open_fd(&gzip->out, STDIN_FILENO, false, memory, &calls, err); /* `feed` ignores the
                                                                                                descriptor */
    if (st < 0)
        gzip_packer_free(memory, gzip->packer);
    return st;
}

static void write_end(struct gzip_output *gzip) {
    struct gzip_piece piece = {.from = NULL};
    for (bool ended = false; !ended && find_room(gzip, &piece);) {
        ended = gzip_pack_end(gzip->packer, &piece);
        take_packed(gzip, &piece);
    }
}

pfr_status gzip_output_close(struct gzip_output *gzip, pfr_error *err) {
    struct memory *memory = gzip->out.memory;
    const pfr_status st = out_close(&gzip->out, err);
    write_end(gzip);
    gzip_packer_free(memory, gzip->packer);
    return st < 0 ? st : gzip->to->status < 0 ? out_flush(gzip->to, err) : PFR_OK;
}
