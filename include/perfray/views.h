/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_VIEWS_H
#define PERFRAY_VIEWS_H
/*
 * Views: the members of the pfr_rec_* structs (record_structs.h) whose size depends on the input. A view is a pointer
 * and a length; nothing is copied.
 *
 * Lifetime: a view of a record points into the read buffer and is valid until the next call on the same reader. A view
 * of a header feature is valid as long as the pfr_feature. Copy the bytes to keep them longer.
 *
 * Safety: a view was checked against the end of its record before the caller sees it. The bytes themselves come from
 * the input: text may contain control characters (see pfr_escape in out.h).
 *
 * A record that announces more bytes than it holds is rejected by pfr_decode() (record.h), so code that uses views
 * needs no further checks of bounds.
 *
 * A field that is absent from the record has at == NULL and a length or count of 0.
 *
 * Example, printing the addresses of a call chain:
 *
 *     for (uint64_t i = 0; i < sample.chain.count; i++)
 *         printf("%#" PRIx64 "\n", pfr_u64s_at(&sample.chain, i));
 *
 * Example, printing a text:
 *
 *     printf("%.*s\n", (int)mmap.filename.length, mmap.filename.at);
 */
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A string. It is not NUL-terminated within `length`, and a field that is completely filled has no NUL at all: print
 * it with "%.*s". The encoding is not known; usually it is UTF-8.
 */
typedef struct pfr_text {
    /* The first byte; NULL if the field is absent. */
    const char *at;
    /* Bytes in front of the first NUL, or all bytes of a field without NUL. */
    uint32_t length;
    /* Bytes of the field in the file, including NUL and padding. */
    uint32_t room;
} pfr_text;

/*
 * Bytes without byte order, such as stack copies, build-ids and raw tracepoint data. They are not aligned: use memcpy()
 * to read integers from them.
 */
typedef struct pfr_bytes {
    /* The first byte; NULL if the field is absent. */
    const uint8_t *at;
    /* In bytes. */
    uint64_t length;
} pfr_bytes;

/*
 * An array of 64-bit integers, such as the addresses of a call chain. They are in the byte order of the file and not
 * aligned: read them with pfr_u64s_at().
 */
typedef struct pfr_u64s {
    /* The bytes of the first integer; NULL if the field is absent. */
    const uint8_t *at;
    /* Number of integers. */
    uint64_t count;
    /* 1 if the byte order of the file is not that of this machine, else 0. */
    uint64_t swap;
} pfr_u64s;

/*
 * An array of structures, or one structure whose type is selected by another field. Read the elements with
 * pfr_items_begin() and pfr_items_next() (record.h), which decode one element at a time into its struct pfr_rec_<name>.
 */
typedef struct pfr_items {
    /* The bytes of the first element; NULL if the field is absent. */
    const uint8_t *at;
    /* Bytes of all elements together. */
    uint64_t length;
    /* Number of elements. */
    uint64_t count;
    /* Decides which fields the elements have; used by pfr_items_next(). */
    const struct pfr_context *context;
    /* Number of the layout of the elements; pfr_layout_name() gives its name. 0: the layout is not known, and the bytes
       can be read only as they are. */
    uint64_t of;
} pfr_items;

/*
 * pfr_u64s_at - the integer at `index`, counted from 0, in the byte order of this machine.
 *
 * Returns 0 if `index` is not less than view->count, so a wrong index cannot read outside of the record. Compare with
 * view->count to tell this from an integer that is 0.
 *
 * The function is inline, so that reading a long call chain costs no calls.
 */
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
