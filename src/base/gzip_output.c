/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressing on the way out: the buffer of an ordinary output is emptied by a call that feeds zlib (RFC 1952), which
 * writes straight into the buffer of the output behind it.
 */
#include "gzip_output.h"

#include "fail.h"
#include "library_memory.h"

#include <zlib.h>

#define MOST ((size_t)1 << 30) /* zlib counts in 32 bits */
#define STEP ((size_t)16 << 10)
#define LEVEL 1 /* the next one takes half as long again for a tenth of the bytes */

static void *take(void *memory, unsigned count, unsigned size) {
    return library_allocate(memory, count, size);
}

static void give_back(void *memory, void *at) {
    library_free(memory, at);
}

/* False: there is no room behind. */
static bool deflate_some(struct gzip_output *gzip, int flush, int *result) {
    z_stream *z = gzip->stream;
    if (!out_make_room(gzip->to, STEP))
        return false;
    z->next_out = (uint8_t *)gzip->to->buffer + gzip->to->used;
    z->avail_out = (unsigned)(gzip->to->capacity - gzip->to->used);
    *result = deflate(z, flush);
    gzip->to->used = (size_t)((char *)z->next_out - gzip->to->buffer);
    return true;
}

static ssize_t feed(void *context, int fd, const void *from, size_t length) {
    struct gzip_output *gzip = context;
    z_stream *z = gzip->stream;
    int result = Z_OK;
    (void)fd;
    length = length < MOST ? length : MOST;
    z->next_in = (uint8_t *)(uintptr_t)from;
    z->avail_in = (unsigned)length;
    while (z->avail_in && result == Z_OK && deflate_some(gzip, Z_NO_FLUSH, &result))
        ;
    return (ssize_t)length; /* what the output behind did not take, it knows */
}

pfr_status gzip_output_open(struct gzip_output *gzip, struct output *to, struct memory *memory, pfr_error *err) {
    const struct output_calls calls = {feed, gzip};
    *gzip = (struct gzip_output){.to = to, .stream = mem_zeroed(memory, 1, sizeof(z_stream))};
    if (!gzip->stream)
        return mem_fail(memory, err, "output");
    *gzip->stream = (z_stream){.zalloc = take, .zfree = give_back, .opaque = memory};
    pfr_status st = deflateInit2(gzip->stream, LEVEL, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK
                        ? PFR_OK
                        : mem_fail(memory, err, "output");
    if (st >= 0) {
        st = out_open_fd(&gzip->out, STDIN_FILENO, false, memory, &calls, err); /* `feed` takes no descriptor */
        if (st < 0)
            deflateEnd(gzip->stream);
    }
    if (st < 0)
        mem_free(memory, gzip->stream, 1, sizeof(z_stream));
    return st;
}

pfr_status gzip_output_close(struct gzip_output *gzip, pfr_error *err) {
    struct memory *memory = gzip->out.memory;
    int result = Z_OK;
    const pfr_status st = out_close(&gzip->out, err);
    while (result == Z_OK && deflate_some(gzip, Z_FINISH, &result))
        ;
    deflateEnd(gzip->stream);
    mem_free(memory, gzip->stream, 1, sizeof(z_stream));
    return st < 0 ? st : gzip->to->status < 0 ? out_flush(gzip->to, err) : PFR_OK;
}
