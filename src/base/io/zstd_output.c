/* SPDX-License-Identifier: Apache-2.0 */
/* An output that compresses with zstd, built like gzip_output.c. The context is charged to `memory`. */
#include "base/io/zstd_output.h"

#include "base/memory/fail.h"

#include <unistd.h>
#include <zstd.h>

#define STEP ((size_t)16 << 10)
#define LEVEL 3
#define CONTEXT_BYTES ((uint64_t)4 << 20) /* approximate size at this compression level */

/* Calls the library once. Returns the number of bytes that it still has to write; SIZE_MAX if `to` has no room or the
   call failed. */
static size_t pack(struct zstd_output *zstd, ZSTD_inBuffer *in, ZSTD_EndDirective how) {
    if (!out_make_room(zstd->to, STEP))
        return SIZE_MAX;
    ZSTD_outBuffer to = {zstd->to->buffer + zstd->to->used, zstd->to->capacity - zstd->to->used, 0};
    const size_t left = ZSTD_compressStream2(zstd->context, &to, in, how);
    zstd->to->used += to.pos;
    if (!ZSTD_isError(left))
        return left;
    zstd->to->status = zstd->to->status < 0 ? zstd->to->status : PFR_ERR_MEMORY;
    return SIZE_MAX;
}

static ssize_t feed(void *context, int fd, const void *from, size_t length) {
    struct zstd_output *zstd = context;
    ZSTD_inBuffer in = {from, length, 0};
    (void)fd;
    while (in.pos < in.size && pack(zstd, &in, ZSTD_e_continue) != SIZE_MAX)
        continue;
    return (ssize_t)length; /* a failure of `to` is stored in `to` */
}

static void free_context(struct zstd_output *zstd, struct memory *memory) {
    ZSTD_freeCCtx(zstd->context);
    mem_discharge(memory, CONTEXT_BYTES);
}

pfr_status zstd_output_open(struct zstd_output *zstd, struct output *to, struct memory *memory, pfr_error *err) {
    const struct output_calls calls = {feed, zstd};
    *zstd = (struct zstd_output){.to = to};
    if (!mem_charge(memory, CONTEXT_BYTES))
        return mem_fail(memory, err, "output");
    zstd->context = ZSTD_createCCtx();
    if (!zstd->context) {
        mem_discharge(memory, CONTEXT_BYTES);
        return pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "output", "no memory for zstd");
    }
    ZSTD_CCtx_setParameter(zstd->context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(zstd->context, ZSTD_c_checksumFlag, 1);
    const pfr_status st = out_open_fd(&zstd->out, STDIN_FILENO, false, memory, &calls, err); /* `feed` ignores the
                                                                                                descriptor */
    if (st < 0)
        free_context(zstd, memory);
    return st;
}

pfr_status zstd_output_close(struct zstd_output *zstd, pfr_error *err) {
    struct memory *memory = zstd->out.memory;
    const pfr_status st = out_close(&zstd->out, err);
    ZSTD_inBuffer none = {NULL, 0, 0};
    for (size_t left = 1; left && left != SIZE_MAX;)
        left = pack(zstd, &none, ZSTD_e_end);
    free_context(zstd, memory);
    return st < 0 ? st : zstd->to->status < 0 ? out_flush(zstd->to, err) : PFR_OK;
}
