/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading checks everything once: checksum, sizes that add up to the file's, sorted disjoint ranges, frames whose outer
 * frames precede them (so no chain has a loop), offsets within the texts, and the final NUL. Writing sorts the ranges;
 * of overlapping ranges, the first one is kept.
 */
#include "symbol/dwarf/line_image.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAGIC "pfrlines"
#define ORDER_MARK 0x01020304u
#define SUMMED_FROM 24u

struct line_image_header {
    char magic[8];
    uint32_t revision, order;
    uint64_t sum, whole;
    uint64_t object_size, changed_ns;
    uint32_t id_size, ranges, frames, texts;
    uint8_t id[BUILD_ID_MOST];
};
_Static_assert(sizeof(struct line_image_header) == 128, "as line_image.h has it");
_Static_assert(sizeof(struct line_range) == 24 && sizeof(struct line_frame) == 16, "as line_image.h has it");

/* --- Reading. */

static bool is_of(const struct line_image_header *h, const struct line_key *key) {
    return h->revision == LINE_IMAGE_REVISION && h->order == ORDER_MARK && h->object_size == key->size &&
           h->changed_ns == key->changed_ns && h->id_size == key->id.size &&
           memcmp(h->id, key->id.bytes, key->id.size) == 0;
}

static bool has_sound_ranges(const struct line_image *image) {
    uint64_t before = 0;
    for (uint32_t i = 0; i < image->range_count; i++) {
        const struct line_range *r = &image->ranges[i];
        if (r->from < before || r->end <= r->from || r->frame > image->frame_count || r->zero != 0)
            return false;
        before = r->end;
    }
    return true;
}

static bool has_sound_frames(const struct line_image *image) {
    for (uint32_t i = 0; i < image->frame_count; i++) {
        const struct line_frame *f = &image->frames[i];
        if (f->function > image->text_size || f->file > image->text_size || f->around >> 1 > i)
            return false;
    }
    return image->text_size == 0 || image->texts[image->text_size - 1] == '\0';
}

enum symbol_result line_image_open(struct line_image *image, const uint8_t *bytes, size_t size,
                                   const struct line_key *key) {
    struct line_image_header h;
    *image = (struct line_image){.bytes = bytes};
    if (size < sizeof h)
        return SYMBOL_DAMAGED;
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, MAGIC, sizeof h.magic) != 0)
        return SYMBOL_DAMAGED;
    if (!is_of(&h, key))
        return SYMBOL_OTHER_BUILD;
    const uint64_t whole =
        sizeof h + (uint64_t)h.ranges * sizeof *image->ranges + (uint64_t)h.frames * sizeof *image->frames + h.texts;
    if (h.whole != size || whole != size || XXH3_64bits(bytes + SUMMED_FROM, size - SUMMED_FROM) != h.sum)
        return SYMBOL_DAMAGED;
    image->range_count = h.ranges;
    image->frame_count = h.frames;
    image->text_size = h.texts;
    image->ranges = (const void *)(bytes + sizeof h);
    image->frames = (const void *)(bytes + sizeof h + (size_t)h.ranges * sizeof *image->ranges);
    image->texts = (const char *)bytes + (size - h.texts);
    return has_sound_ranges(image) && has_sound_frames(image) ? SYMBOL_FOUND : SYMBOL_DAMAGED;
}

const struct line_range *line_image_find(const struct line_image *image, uint64_t address) {
    size_t low = 0, high = image->range_count; /* the first range that ends after the address */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (image->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < image->range_count && image->ranges[low].from <= address ? &image->ranges[low] : NULL;
}

static const char *text_at(const struct line_image *image, uint32_t offset) {
    return offset ? image->texts + offset - 1 : NULL;
}

bool line_image_frames(const struct line_image *image, const struct line_range *range,
                       struct source_frame to[LINE_FRAMES_MOST], size_t *count) {
    *count = 0;
    for (uint32_t at = range->frame; at; at = image->frames[at - 1].around >> 1) {
        const struct line_frame *f = &image->frames[at - 1];
        if (*count == LINE_FRAMES_MOST)
            return false;
        to[(*count)++] = (struct source_frame){.function = text_at(image, f->function),
                                               .file = text_at(image, f->file),
                                               .line = f->line,
                                               .is_inlined = f->around & 1};
    }
    return true;
}

/* --- Writing. */

void line_maker_init(struct line_image_maker *m, struct memory *memory) {
    *m = (struct line_image_maker){.memory = memory};
    intern_init(&m->texts, memory);
    intern_init(&m->frames, memory);
}

void line_maker_free(struct line_image_maker *m) {
    intern_free(&m->texts);
    intern_free(&m->frames);
    mem_free(m->memory, m->ranges, m->room, sizeof *m->ranges);
}

/* Frames refer to texts by number until all texts are known; then offsets replace the numbers. */
static bool put_text(struct line_image_maker *m, const char *text, uint32_t *number) {
    uint32_t id;
    *number = 0;
    if (!text)
        return true;
    const uint32_t before = m->texts.count;
    if (intern_put(&m->texts, text, strlen(text), &id, NULL) < 0)
        return false;
    if (m->texts.count != before)
        m->text_size += strlen(text) + 1;
    *number = id + 1;
    return true;
}

static bool put_frame(struct line_image_maker *m, const struct source_frame *frame, uint32_t around, uint32_t *number) {
    struct line_frame made = {.line = frame->line, .around = around << 1 | frame->is_inlined};
    uint32_t id;
    if (!put_text(m, frame->function, &made.function) || !put_text(m, frame->file, &made.file) ||
        intern_put(&m->frames, &made, sizeof made, &id, NULL) < 0)
        return false;
    *number = id + 1;
    return true;
}

bool line_maker_add(struct line_image_maker *m, const struct source_frames *frames) {
    struct line_range range = {.from = frames->from, .end = frames->end};
    if (range.from >= range.end || frames->count > LINE_FRAMES_MOST)
        return false;
    for (size_t i = frames->count; i-- > 0;)
        if (!put_frame(m, &frames->at[i], range.frame, &range.frame))
            return false;
    struct line_range *grown = mem_grow(m->memory, m->ranges, m->count, &m->room, 64, sizeof *grown);
    if (!grown)
        return false;
    m->ranges = grown;
    m->ranges[m->count++] = range;
    return true;
}

bool line_maker_add_image(struct line_image_maker *m, const struct line_image *image) {
    struct source_frame frames[LINE_FRAMES_MOST];
    bool added = true;
    for (uint32_t i = 0; added && i < image->range_count; i++) {
        const struct line_range *r = &image->ranges[i];
        struct source_frames one = {.at = frames, .from = r->from, .end = r->end};
        if (line_image_frames(image, r, frames, &one.count))
            added = line_maker_add(m, &one);
    }
    return added;
}

static int compare_ranges(const void *a, const void *b) {
    const struct line_range *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static void put_in_order(struct line_image_maker *m) {
    size_t kept = 0;
    if (m->count > 1)
        qsort(m->ranges, m->count, sizeof *m->ranges, compare_ranges);
    for (size_t i = 0; i < m->count; i++)
        if (kept == 0 || m->ranges[i].from >= m->ranges[kept - 1].end)
            m->ranges[kept++] = m->ranges[i];
    m->count = kept;
}

/* Writes the texts in order; `offsets`: their positions. */
static void write_texts(const struct line_image_maker *m, uint8_t *to, uint32_t *offsets) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->texts.count; i++) {
        const struct intern_text text = intern_get(&m->texts, i);
        memcpy(to + at, text.bytes, (size_t)text.length + 1);
        offsets[i] = at;
        at += text.length + 1;
    }
}

static void write_frames(const struct line_image_maker *m, uint8_t *to, const uint32_t *offsets) {
    for (uint32_t i = 0; i < m->frames.count; i++) {
        struct line_frame f;
        memcpy(&f, intern_get(&m->frames, i).bytes, sizeof f);
        f.function = f.function ? offsets[f.function - 1] + 1 : 0;
        f.file = f.file ? offsets[f.file - 1] + 1 : 0;
        memcpy(to + (size_t)i * sizeof f, &f, sizeof f);
    }
}

static void write_all(const struct line_image_maker *m, const struct line_key *key, uint8_t *to, size_t size,
                      uint32_t *offsets) {
    struct line_image_header h = {.magic = MAGIC,
                                  .revision = LINE_IMAGE_REVISION,
                                  .order = ORDER_MARK,
                                  .whole = size,
                                  .object_size = key->size,
                                  .changed_ns = key->changed_ns,
                                  .id_size = (uint32_t)key->id.size,
                                  .ranges = (uint32_t)m->count,
                                  .frames = m->frames.count,
                                  .texts = (uint32_t)m->text_size};
    const size_t ranges = m->count * sizeof *m->ranges;
    memcpy(h.id, key->id.bytes, key->id.size);
    if (ranges)
        memcpy(to + sizeof h, m->ranges, ranges);
    write_texts(m, to + size - m->text_size, offsets);
    write_frames(m, to + sizeof h + ranges, offsets);
    memcpy(to, &h, sizeof h);
    h.sum = XXH3_64bits(to + SUMMED_FROM, size - SUMMED_FROM);
    memcpy(to, &h, sizeof h);
}

uint8_t *line_maker_write(struct line_image_maker *m, const struct line_key *key, size_t *size) {
    put_in_order(m);
    const uint64_t whole = sizeof(struct line_image_header) + (uint64_t)m->count * sizeof *m->ranges +
                           (uint64_t)m->frames.count * sizeof(struct line_frame) + m->text_size;
    if (whole > LINE_IMAGE_MOST || key->id.size == 0)
        return NULL;
    uint32_t *offsets = mem_alloc(m->memory, m->texts.count, sizeof *offsets);
    uint8_t *bytes = offsets ? mem_alloc(m->memory, (size_t)whole, 1) : NULL;
    if (bytes)
        write_all(m, key, bytes, (size_t)whole, offsets);
    if (offsets)
        mem_free(m->memory, offsets, m->texts.count, sizeof *offsets);
    *size = (size_t)whole;
    return bytes;
}
