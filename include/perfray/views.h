/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_VIEWS_H
#define PERFRAY_VIEWS_H
/*
 * Views: the members of a pfr_rec_* struct whose size the file decides. A view points into the reader's buffer and dies
 * at the next call on that reader; it was checked against the end of its record before you see it. What is absent has
 * at == NULL and a length or count of 0.
 *
 * Example, the addresses of a call chain:
 *
 *     for (uint64_t i = 0; i < sample.chain.count; i++)
 *         printf("%#" PRIx64 "\n", pfr_u64s_at(&sample.chain, i));
 */
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Text as the file holds it: any bytes but NUL. Not NUL-terminated within `length`. */
typedef struct pfr_text {
    const char *at;
    uint32_t length; /* bytes before the first NUL or the end of the field */
    uint32_t room;   /* bytes the field takes in the file, with NUL and padding */
} pfr_text;

/* Bytes that have no byte order. */
typedef struct pfr_bytes {
    const uint8_t *at;
    uint64_t length;
} pfr_bytes;

/* 64-bit numbers in the file's byte order, unaligned: read them with pfr_u64s_at. */
typedef struct pfr_u64s {
    const uint8_t *at;
    uint64_t count;
    uint64_t swap; /* 1: the file's byte order is not this machine's */
} pfr_u64s;

/* Repeated or chosen parts, each a layout of its own: walk them with pfr_items_next (record.h). */
typedef struct pfr_items {
    const uint8_t *at;
    uint64_t length; /* bytes */
    uint64_t count;  /* parts */
    const struct pfr_context *context;
    uint64_t of; /* the layout of each part, 0 when no layout is known for it: see pfr_layout_name */
} pfr_items;

static inline uint64_t pfr_u64s_at(const pfr_u64s *view, uint64_t index) {
    uint64_t v;
    if (index >= view->count)
        return 0;
    memcpy(&v, view->at + 8 * index, sizeof v);
    if (!view->swap)
        return v;
    v = (v & 0x00000000ffffffffu) << 32 | v >> 32;
    v = (v & 0x0000ffff0000ffffu) << 16 | (v >> 16 & 0x0000ffff0000ffffu);
    return (v & 0x00ff00ff00ff00ffu) << 8 | (v >> 8 & 0x00ff00ff00ff00ffu);
}

#ifdef __cplusplus
}
#endif
#endif
