/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repairs a file header whose numbers cannot be right. Other parts of the file repeat them: each attr states its own
 * size, the records begin where attrs and ids end, and the sections listed by the feature table directly follow it.
 * Possible values are never changed. Each change is a finding (found), which pfr_next returns as a hole before the
 * first record.
 */
#include "file/read/repair_header.h"
#include "file/read/resync.h"

#include <inttypes.h>

#define HEADER_SIZE 104u
#define OLD_HEADER_SIZE 72u
#define SECTION 16u
#define ATTR_LEAST 64u
#define SEARCH_MOST ((uint64_t)64 << 20)
#define TABLE_MOST 256u   /* entries */
#define SURE_ENTRIES 5u   /* consecutive entries that prove a table if its end is damaged */
#define LIKELY_ENTRIES 3u /* entries that prove a table if the last section ends where the file ends */

/* Offsets of the header's numbers. */
enum { AT_SIZE = 8, AT_ATTR_SIZE = 16, AT_ATTRS = 24, AT_DATA = 40, AT_DATA_SIZE = 48 };

static bool lies_inside(uint64_t offset, uint64_t size, uint64_t end) {
    return offset <= end && size <= end - offset;
}

/* Keeps the first read error, which must not look like missing data: features_unread makes opening fail with it in the
   end. */
static void remember(pfr_reader *r, const pfr_error *why) {
    if (r->features.unread.status == PFR_OK)
        r->features.unread = *why;
}

/* Returns the bytes read: fewer than `length` at the end of the file. */
static size_t read_some(pfr_reader *r, uint64_t offset, void *to, size_t length) {
    size_t got = 0;
    pfr_error why;
    if (input_read_at(&r->parts[0].in, offset, to, length, &got, &why) < 0)
        remember(r, &why);
    return got;
}

/* A u64 at any offset of the file; 0 past its end. */
static uint64_t peek(pfr_reader *r, uint64_t offset) {
    uint8_t bytes[8];
    return read_some(r, offset, bytes, sizeof bytes) < sizeof bytes ? 0 : load_u64(bytes, r->context.swap);
}

static uint32_t peek_u32(pfr_reader *r, uint64_t offset) {
    uint8_t bytes[4];
    return read_some(r, offset, bytes, sizeof bytes) < sizeof bytes ? 0 : load_u32(bytes, r->context.swap);
}

/* --- Attr entries. */

static bool can_be_entry_size(uint64_t size) {
    return size >= ATTR_LEAST + SECTION && size <= ATTR_MOST + SECTION && size % 8 == 0;
}

/* Size of the file_attr entry at `offset`, according to its attr. The entry locates its ids, which must lie inside the
   file. 0: there is no entry. */
static uint64_t entry_size_at(pfr_reader *r, uint64_t offset) {
    const uint64_t size = (uint64_t)peek_u32(r, offset + 4) + SECTION;
    if (!can_be_entry_size(size) || !lies_inside(offset, size, r->header.file_size))
        return 0;
    const uint64_t ids = peek(r, offset + size - SECTION), length = peek(r, offset + size - 8);
    return length % 8 == 0 && length / 8 <= UINT16_MAX && lies_inside(ids, length, r->header.file_size) &&
                   (length == 0 || ids >= OLD_HEADER_SIZE)
               ? size
               : 0;
}

/* Searches for the attrs after the header, because recorders write ids, attrs and records in this order. */
static uint64_t find_attrs(pfr_reader *r, const struct pfr_rec_file_header *h, uint64_t from) {
    const uint64_t most = from + ATTR_MOST * 16;
    const uint64_t until = h->data.offset > from && h->data.offset < most ? h->data.offset : most;
    for (uint64_t at = from; at + ATTR_LEAST <= until && at < r->header.file_size; at += 8)
        if (entry_size_at(r, at))
            return at;
    return 0;
}

/* Number of consecutive entries from `at` on whose attr states a size that makes the entry `size` bytes long. */
static uint64_t count_entries(pfr_reader *r, uint64_t at, uint64_t size) {
    uint64_t count = 0;
    while (peek_u32(r, at + count * size + 4) + SECTION == size)
        count++;
    return count;
}

/* Whether entries of `size`, which differs from the header's value, fill the section, and their attrs state this
   size. */
static bool entries_fill(pfr_reader *r, const struct pfr_rec_file_header *h, uint64_t size) {
    return size != h->attr_size && h->attrs.size % size == 0 &&
           count_entries(r, h->attrs.offset, size) >= h->attrs.size / size;
}

static void mend_attr_size(pfr_reader *r, struct pfr_rec_file_header *h) {
    const uint64_t size = entry_size_at(r, h->attrs.offset);
    if (!size || !entries_fill(r, h, size))
        return;
    found(r, AT_ATTR_SIZE, 8, "file_header.attr_size",
          "attr entries of %" PRIu64 " bytes, but the attrs contain the size %" PRIu64, h->attr_size, size);
    h->attr_size = size;
}

/* Whether the section has more entries than attrs that state the entry size: attrs.size is then wrong. */
static bool runs_over(pfr_reader *r, const struct pfr_rec_file_header *h) {
    const uint64_t count = count_entries(r, h->attrs.offset, h->attr_size);
    return count > 0 && count < h->attrs.size / h->attr_size;
}

static bool attrs_can_be(pfr_reader *r, const struct pfr_rec_file_header *h) {
    return can_be_entry_size(h->attr_size) && h->attrs.size > 0 && h->attrs.size % h->attr_size == 0 &&
           h->attrs.offset >= OLD_HEADER_SIZE && lies_inside(h->attrs.offset, h->attrs.size, r->header.file_size);
}

static void mend_attrs(pfr_reader *r, struct pfr_rec_file_header *h) {
    mend_attr_size(r, h);
    if (attrs_can_be(r, h) && !runs_over(r, h))
        return;
    uint64_t at = entry_size_at(r, h->attrs.offset) ? h->attrs.offset : find_attrs(r, h, h->size);
    const uint64_t size = at ? entry_size_at(r, at) : 0, count = size ? count_entries(r, at, size) : 0;
    if (count == 0)
        return;
    found(r, AT_ATTRS, SECTION, "file_header.attrs",
          "attrs of %" PRIu64 " bytes at %" PRIu64 " are impossible; %" PRIu64 " were found at %" PRIu64, h->attrs.size,
          h->attrs.offset, count, at);
    h->attrs.offset = at;
    h->attrs.size = count * size;
    h->attr_size = size;
}

/* Whether the first attr is where the header states and has the stated size, with these two byte orders. */
static bool orders_fit(pfr_reader *r, const uint8_t *header, bool swap_header, bool swap_body) {
    const bool kept = r->context.swap;
    const uint64_t size = load_u64(header + AT_SIZE, swap_header);
    const uint64_t attrs = load_u64(header + AT_ATTRS, swap_header);
    r->context.swap = swap_body;
    const uint64_t entry = entry_size_at(r, attrs);
    const bool fits = (size == HEADER_SIZE || size == OLD_HEADER_SIZE) && attrs >= size && entry > 0 &&
                      entry == load_u64(header + AT_ATTR_SIZE, swap_header);
    r->context.swap = kept;
    return fits;
}

bool mend_order(pfr_reader *r, const uint8_t *header, bool *swap_header) {
    const bool said = r->context.swap;
    *swap_header = said;
    for (unsigned i = 0; i < 4; i++) {
        const bool of_header = said ^ (i & 1), of_body = said ^ (i >> 1);
        if (!orders_fit(r, header, of_header, of_body))
            continue;
        *swap_header = of_header;
        if (i > 0)
            found(r, 0, HEADER_SIZE, "file_header",
                  "the byte order of the header differs from that of the events after it");
        return of_body != said;
    }
    return false;
}

static void mend_size(pfr_reader *r, struct pfr_rec_file_header *h) {
    if (h->size == OLD_HEADER_SIZE || h->size == HEADER_SIZE)
        return;
    if (h->size > HEADER_SIZE && h->size % 8 == 0 && h->size <= h->attrs.offset && h->size <= h->data.offset &&
        h->data.offset <= r->header.file_size)
        return; /* a longer header of a future version */
    found(r, AT_SIZE, 8, "file_header.size", "a header of %" PRIu64 " bytes; known sizes are %u, %u and 16", h->size,
          OLD_HEADER_SIZE, HEADER_SIZE);
    h->size = HEADER_SIZE;
}

pfr_status mend_header(pfr_reader *r, struct pfr_rec_file_header *h, pfr_error *err) {
    mend_size(r, h);
    mend_attrs(r, h);
    if (h->attr_size < ATTR_LEAST + SECTION || h->attr_size > RECORD_MOST)
        return pfr_fail(err, PFR_ERR_FORMAT, AT_ATTR_SIZE, 8, "file_header.attr_size",
                        "attr entries of %" PRIu64 " bytes, and no attrs were found", h->attr_size);
    return PFR_OK;
}

/* Corrects ids at an impossible place. Recorders write ids after the header, event by event. So the ids of an event
   begin where those of the previous event end, and end where those of the next event, or the attrs, begin. */
void mend_ids(pfr_reader *r, const struct pfr_rec_file_header *h, uint64_t entry, uint64_t *ids, uint64_t *length) {
    const uint64_t end = h->attrs.offset + h->attrs.size, words = entry + h->attr_size - SECTION;
    const uint64_t said = *length;
    uint64_t from = h->size, to = h->attrs.offset;
    if (*length == 0 || (lies_inside(*ids, *length, r->header.file_size) && *length % 8 == 0 && *ids >= h->size))
        return;
    if (entry > h->attrs.offset)
        from = peek(r, words - h->attr_size) + peek(r, words - h->attr_size + 8);
    if (entry + h->attr_size < end)
        to = peek(r, words + h->attr_size);
    const bool known = from >= h->size && from < to && to <= h->attrs.offset && (to - from) % 8 == 0;
    found(r, words, SECTION, "file_attr.ids", "ids of %" PRIu64 " bytes at %" PRIu64 " are impossible%s", said, *ids,
          known ? "; the bytes between the ids of the other events are used" : "");
    *ids = known ? from : 0;
    *length = known ? to - from : 0;
}

/* --- Start of the records. */

/* The end of the attrs and of all ids, where the records follow. */
static uint64_t end_of_attrs(pfr_reader *r, const struct pfr_rec_file_header *h) {
    uint64_t end = h->attrs.offset + h->attrs.size;
    for (uint64_t at = h->attrs.offset; at + h->attr_size <= h->attrs.offset + h->attrs.size; at += h->attr_size) {
        const uint64_t ids = peek(r, at + h->attr_size - SECTION), length = peek(r, at + h->attr_size - 8);
        if (lies_inside(ids, length, r->header.file_size) && ids + length > end)
            end = ids + length;
    }
    return end;
}

static bool records_begin_at(pfr_reader *r, uint64_t at) {
    struct visible_bytes s;
    pfr_error why;
    if (at >= r->header.file_size)
        return false;
    r->parts[0].end = UINT64_MAX;
    if (sight_at(r, at, &s, &why) < 0)
        return remember(r, &why), false;
    return s.length >= RECORD_HEADER && chain_after(r, &s, 0, 0, 3) == 0;
}

void mend_data_offset(pfr_reader *r, struct pfr_rec_file_header *h) {
    if (h->attrs.size == 0 || !lies_inside(h->attrs.offset, h->attrs.size, r->header.file_size) || !attrs_can_be(r, h))
        return;
    const uint64_t begin = end_of_attrs(r, h);
    if (h->data.offset == begin)
        return;
    if (!records_begin_at(r, begin) || (h->data.offset < begin && h->data.offset >= h->size))
        return;
    found(r, AT_DATA, 8, "file_header.data.offset",
          "the header gives offset %" PRIu64 " for the records, but they begin at %" PRIu64, h->data.offset, begin);
    if (h->data.size && h->data.offset < UINT64_MAX - h->data.size && h->data.offset + h->data.size > begin)
        h->data.size = h->data.offset + h->data.size - begin; /* the end of the records stays as it was */
    h->data.offset = begin;
}

/* --- End of the records: at the feature table. The sections follow the table, one after the other. */

/* Whether there is a table at `at` whose first section is at `first`. Unused bytes may separate the two, because perf
   leaves out sections that it could not write. */
static bool is_table(pfr_reader *r, uint64_t at, uint64_t first) {
    const uint64_t room = first > at && (first - at) % SECTION == 0 ? (first - at) / SECTION : 0;
    uint64_t next = first, count = 0;
    for (; count < room; count++) {
        const uint64_t offset = peek(r, at + count * SECTION), size = peek(r, at + count * SECTION + 8);
        if (offset != next || !lies_inside(offset, size, r->header.file_size))
            break;
        next = offset + size;
    }
    return count >= SURE_ENTRIES || (count >= LIKELY_ENTRIES && next == r->header.file_size);
}

/* Whether a table of `count` entries can begin at `at`: its first entry must place a section after the table. The
   sections may be cut off. */
static bool table_begins(pfr_reader *r, uint64_t at, uint64_t count) {
    const uint64_t first = peek(r, at);
    return first > at && (first - at) % SECTION == 0 && (first - at) / SECTION >= count &&
           (first - at) / SECTION <= TABLE_MOST;
}

/* Whether the table at `at` gives possible offsets to the `count` sections that the header's bitmap requires. */
static bool table_can_be(pfr_reader *r, uint64_t at, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t offset = peek(r, at + i * SECTION), size = peek(r, at + i * SECTION + 8);
        if (size && (!lies_inside(offset, size, r->header.file_size) || offset < at + count * SECTION))
            return false;
    }
    return lies_inside(at, count * SECTION, r->header.file_size);
}

/* Whether the 16 bytes before `at` are an entry of the same table: the section of that entry must end where the section
   of the entry at `at` begins. */
static bool is_within_table(pfr_reader *r, uint64_t at) {
    if (at < 2 * SECTION)
        return false;
    const uint64_t first = peek(r, at), before = peek(r, at - SECTION), size = peek(r, at - SECTION + 8);
    return size > 0 && before > at && lies_inside(before, size, r->header.file_size) && before + size == first;
}

static uint64_t count_features(const pfr_reader *r) {
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof r->header.features / sizeof *r->header.features; i++)
        count += (uint64_t)__builtin_popcountll(r->header.features[i]);
    return count;
}

static uint64_t find_table(pfr_reader *r, uint64_t from) {
    uint8_t chunk[4096 + 8];
    for (uint64_t at = from; at < r->header.file_size && r->features.unread.status == PFR_OK; at += sizeof chunk - 8) {
        const size_t got = read_some(r, at, chunk, sizeof chunk);
        for (size_t i = 0; i + 8 < got; i++) {
            const uint64_t first = load_u64(chunk + i, r->context.swap);
            if (first - (at + i) <= (uint64_t)TABLE_MOST * SECTION && is_table(r, at + i, first))
                return at + i;
        }
    }
    return 0;
}

void mend_data_size(pfr_reader *r, struct pfr_rec_file_header *h) {
    const uint64_t features = count_features(r);
    const uint64_t file_size = r->header.file_size, from = h->data.offset;
    const bool wraps = h->data.size > UINT64_MAX - from;
    const uint64_t said = from + h->data.size;
    if (features == 0 || from >= file_size ||
        (h->data.size && !wraps && (table_can_be(r, said, features) || table_begins(r, said, features)) &&
         !is_within_table(r, said)))
        return;
    const uint64_t least = file_size - from > SEARCH_MOST ? file_size - SEARCH_MOST : from;
    const uint64_t table = find_table(r, least);
    r->parts[0].end_doubtful = !table;
    if (!table || table == from + h->data.size)
        return;
    found(r, AT_DATA_SIZE, 8, "file_header.data.size",
          "records of %" PRIu64 " bytes, but the feature table after them is at %" PRIu64, h->data.size, table);
    h->data.size = table - from;
}
