/* SPDX-License-Identifier: Apache-2.0 */
/* Header features. A file has a bitmap in the header and a table of sections directly after the records; a stream has
   HEADER_FEATURE records. Payloads of a file are read on request. */
#include "file/read/features.h"

#include "wire/layout_check.h"
#include "wire/names.h"
#include "wire/variant.h"
#include "wire/feature_bits.h"

#define SLOT 16u

static bool has_bit(const pfr_reader *r, uint32_t bit) {
    return r->header.features[bit / 64] >> (bit % 64) & 1;
}

/* Loads `bytes`, an array of words of `width` bytes in the file's byte order, into four 64-bit words. */
static void load_bitmap(pfr_reader *r, const uint8_t *bytes, unsigned width) {
    memset(r->header.features, 0, sizeof r->header.features);
    for (unsigned bit = 0; bit < FEATURES; bit++) {
        const uint8_t *word = bytes + bit / (width * 8) * width;
        const uint64_t v = width == 8 ? load_u64(word, r->context.swap) : load_u32(word, r->context.swap);
        r->header.features[bit / 64] |= (v >> bit % (width * 8) & 1) << bit % 64;
    }
}

/*
 * The bitmap is an array of the writer's unsigned long, and a big-endian file does not state the size of that type. The
 * width that makes HOSTNAME set is right, because nearly every recording has that feature. If HOSTNAME is set in
 * neither width, only BUILD_ID is assumed, as in perf. An empty bitmap is empty in any width.
 */
void features_bitmap(pfr_reader *r, const uint8_t *bytes) {
    static const uint8_t none[FEATURES / 8];
    load_bitmap(r, bytes, 8);
    if (!r->header.big_endian || has_bit(r, BIT_HOSTNAME) || memcmp(bytes, none, sizeof none) == 0)
        return;
    load_bitmap(r, bytes, 4);
    if (has_bit(r, BIT_HOSTNAME))
        return;
    memset(r->header.features, 0, sizeof r->header.features);
    r->header.features[0] = 1u << BIT_BUILD_ID;
}

static pfr_status add_feature(pfr_reader *r, uint32_t bit, uint64_t offset, pfr_bytes bytes, pfr_error *err) {
    if (r->features.count == r->features.room) {
        const uint32_t room = r->features.room ? r->features.room * 2 : 32;
        pfr_feature *more = mem_resize(&r->memory, r->features.list, r->features.room, room, sizeof *more);
        if (!more)
            return mem_fail(&r->memory, err, "features");
        r->features.list = more;
        r->features.room = room;
    }
    PFR_TRY(u64_map_put(&r->features.index_of, bit, r->features.count, err));
    r->features.list[r->features.count++] = (pfr_feature){
        .bit = bit,
        .name = name_of(SHOW_FEATURE, bit),
        .offset = offset,
        .bytes = bytes,
        .layout = layout_find(TABLE_PERF_FEATURE, bit),
    };
    return PFR_OK;
}

/* Features may share bytes, but each is read and copied separately, so 200 sections on the same megabyte would take 200
   MB. The sum of their sizes is limited to twice the file size, so that one section with a wrong size does not exclude
   all others. */
static bool are_too_many_bytes(const pfr_reader *r, uint64_t size, uint64_t *sum) {
    if (*sum + size > 2 * r->header.file_size)
        return true;
    *sum += size;
    return false;
}

static pfr_status read_slot(pfr_reader *r, uint64_t at, uint32_t bit, uint64_t *sum, pfr_error *err) {
    uint8_t slot[SLOT];
    size_t got = 0;
    PFR_TRY(input_read_at(&r->parts[0].in, at, slot, SLOT, &got, err));
    if (got < SLOT) {
        count_hole(r, &r->damage.quality.bad_header, 0);
        return PFR_OK;
    }
    const uint64_t offset = load_u64(slot, r->context.swap), size = load_u64(slot + 8, r->context.swap);
    PFR_TRY(add_feature(r, bit, offset, (pfr_bytes){NULL, size}, err));
    pfr_feature *f = &r->features.list[r->features.count - 1];
    if (offset > r->header.file_size || size > r->header.file_size - offset) {
        f->status = PFR_HOLE;
        f->bytes.length = offset > r->header.file_size ? 0 : r->header.file_size - offset;
    } else if (are_too_many_bytes(r, size, sum)) {
        f->bytes.length = 0;
        found(r, at, SLOT, "feature",
              "feature %u is not read: features overlap, and together are more than twice as large as the file", bit);
    } else if (size > 0 && offset < r->header.features_offset) {
        found(r, at, SLOT, "feature", "feature %u is at %llu, before the feature table", bit,
              (unsigned long long)offset);
    }
    return PFR_OK;
}

/* Views of a feature keep a pointer to its context. Two features decide by their own content which fields their parts
   have; their contexts are kept in the reader. */
static const struct pfr_context *context_of(const pfr_reader *r, const pfr_feature *f) {
    if (f->layout == L_feature_build_id && variant_of(L_feature_build_id, f->bytes.at, f->bytes.length, &r->context))
        return &r->features.old_build_ids;
    return f->layout == L_feature_cpu_domain_info ? &r->features.domains : &r->context;
}

/* Learns the contexts that depend on the contents of a feature; its payload must be loaded. */
static void learn_contexts(pfr_reader *r, const pfr_feature *f) {
    if (f->layout == L_feature_build_id) {
        r->features.old_build_ids = r->context;
        r->features.old_build_ids.word[WORD_VARIANT] = 1;
    } else if (f->layout == L_feature_cpu_domain_info) {
        r->features.domains = r->context;
        r->features.domains.word[WORD_VERSION] = f->bytes.length >= 4 ? load_u32(f->bytes.at, r->context.swap) : 0;
    }
}

/* NRCPUS is needed to count the parts of other features, so it is read immediately. */
static pfr_status learn_cpus(pfr_reader *r, pfr_error *err) {
    pfr_error ignored;
    const pfr_feature *f = pfr_find_feature(r, 7, err ? err : &ignored);
    if (f && f->bytes.length >= 4)
        r->context.word[WORD_CPUS] = load_u32(f->bytes.at, r->context.swap);
    return PFR_OK;
}

pfr_status features_open(pfr_reader *r, pfr_error *err) {
    if (r->header.not_finalised)
        return PFR_OK;
    uint64_t at = r->header.features_offset, sum = 0;
    for (uint32_t bit = 0; bit < FEATURES; bit++) {
        if (!has_bit(r, bit))
            continue;
        PFR_TRY(read_slot(r, at, bit, &sum, err));
        at += SLOT;
    }
    return learn_cpus(r, err);
}

pfr_status features_add(pfr_reader *r, uint32_t bit, uint64_t offset, const uint8_t *bytes, size_t length,
                        pfr_error *err) {
    const uint8_t *kept = arena_copy(&r->arena, bytes, length, 8);
    if (!kept)
        return mem_fail(&r->memory, err, "features");
    uint64_t known;
    if (u64_map_get(&r->features.index_of, bit, &known)) { /* a later payload replaces the first */
        pfr_feature *f = &r->features.list[known];
        f->offset = offset;
        f->status = PFR_OK;
        f->bytes = (pfr_bytes){kept, length};
        learn_contexts(r, f);
        return learn_cpus(r, err);
    }
    if (bit < FEATURES)
        r->header.features[bit / 64] |= 1ull << bit % 64;
    PFR_TRY(add_feature(r, bit, offset, (pfr_bytes){kept, length}, err));
    learn_contexts(r, &r->features.list[r->features.count - 1]);
    return learn_cpus(r, err);
}

uint32_t pfr_feature_count(const pfr_reader *reader) {
    return reader->features.count;
}

static pfr_status read_payload(pfr_reader *r, pfr_feature *f, pfr_error *err) {
    uint8_t *bytes = arena_take(&r->arena, f->bytes.length, 8);
    size_t got = 0;
    if (!bytes)
        return mem_fail(&r->memory, err, "feature");
    PFR_TRY(input_read_at(&r->parts[0].in, f->offset, bytes, f->bytes.length, &got, err));
    f->bytes = (pfr_bytes){bytes, got};
    learn_contexts(r, f);
    return PFR_OK;
}

const pfr_feature *pfr_get_feature(pfr_reader *r, uint32_t index, pfr_error *err) {
    pfr_error own;
    if (index >= r->features.count) {
        pfr_fail(err, PFR_OK, PFR_NO_OFFSET, 0, "", "no such feature");
        return NULL;
    }
    pfr_feature *f = &r->features.list[index];
    if (f->bytes.at || f->bytes.length == 0 || read_payload(r, f, &own) >= 0)
        return f;
    if (r->features.unread.status == PFR_OK)
        r->features.unread = own;
    if (err)
        *err = own;
    return NULL;
}

pfr_status features_unread(const pfr_reader *r, pfr_error *err) {
    if (r->features.unread.status < 0 && err)
        *err = r->features.unread;
    return r->features.unread.status;
}

const pfr_feature *pfr_find_feature(pfr_reader *r, uint32_t bit, pfr_error *err) {
    uint64_t index;
    if (u64_map_get(&r->features.index_of, bit, &index))
        return pfr_get_feature(r, (uint32_t)index, err);
    pfr_fail(err, PFR_OK, PFR_NO_OFFSET, 0, "", "the recording does not have this feature");
    return NULL;
}

struct pfr_context feature_context(const pfr_reader *r, const pfr_feature *f) {
    struct pfr_context c = *context_of(r, f);
    c.home = context_of(r, f);
    c.word[WORD_VARIANT] = variant_of((unsigned)f->layout, f->bytes.at, f->bytes.length, &r->context);
    return c;
}

void feature_payload_context(struct pfr_context *c, const struct pfr_context *file, unsigned layout,
                             pfr_bytes payload) {
    *c = *file;
    c->home = c;
    c->word[WORD_VARIANT] = variant_of(layout, payload.at, payload.length, file);
    if (layout == L_feature_cpu_domain_info)
        c->word[WORD_VERSION] = payload.length >= 4 ? load_u32(payload.at, file->swap) : 0;
}

pfr_status pfr_decode_feature(const pfr_reader *r, const pfr_feature *feature, void *body, size_t size,
                              pfr_error *err) {
    const struct layout *l = layout_at(feature->layout);
    if (!l || l->size != size)
        return pfr_fail(err, PFR_ERR_USAGE, feature->offset, 0, "pfr_decode_feature",
                        "feature %u has no struct of %zu bytes", feature->bit, size);
    struct cursor in = cursor_on(feature->bytes.at, feature->bytes.length, feature->offset, r->context.swap);
    const struct pfr_context c = feature_context(r, feature);
    return layout_read(l, &c, &in, body, err);
}

static void keep_first(void *context, const struct check_finding *finding) {
    pfr_error *first = context;
    if (!finding->error || first->status != PFR_OK) /* only the rule does-not-fit has an error */
        return;
    *first = *finding->error; /* its text is already escaped */
    first->status = PFR_HOLE;
    first->offset = finding->offset;
    first->length = finding->length;
}

pfr_status pfr_check_feature(const pfr_reader *r, const pfr_feature *f, pfr_error *err) {
    const char *name = f->name ? f->name : "without a name";
    const struct layout *l = layout_at(f->layout);
    pfr_error first = {.status = PFR_OK};
    if (f->status == PFR_HOLE)
        return pfr_fail(err, PFR_HOLE, f->offset, f->bytes.length, "feature", "feature %s is outside the file", name);
    if (!l || !f->bytes.at || f->bytes.length == 0)
        return PFR_OK;
    const struct pfr_context c = feature_context(r, f);
    layout_check(l, &c, f->bytes.at, f->bytes.length, f->offset, keep_first, &first);
    if (first.status == PFR_OK)
        return PFR_OK;
    pfr_fail(err, PFR_HOLE, first.offset, first.length, "feature", "feature %s: ", name);
    if (err) { /* first.text is already escaped */
        const size_t used = strlen(err->text);
        memcpy(err->text + used, first.text, sizeof err->text - 1 - used);
    }
    return PFR_HOLE;
}
