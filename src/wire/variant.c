/* SPDX-License-Identifier: Apache-2.0 */
/* The probes, and the table of the layouts that have one. */
#include "wire/variant.h"

typedef uint64_t probe(const uint8_t *bytes, size_t size, const struct pfr_context *c);

enum {
    MISC_BUILD_ID = 1 << 14,      /* misc of an MMAP2 record */
    MISC_BUILD_ID_SIZE = 1 << 15, /* misc of a build-id entry */
    LONGEST_TAIL = 48             /* every field of sample_id */
};

static bool starts_path(const uint8_t *at) {
    return (at[0] == '/' || at[0] == '[') && at[1] >= 33 && at[1] <= 126;
}

/* In records without prot and flags, the name is at their offset. prot cannot be used to decide: some writers store
   file modes in it. */
static uint64_t probe_mmap2(const uint8_t *bytes, size_t size, const struct pfr_context *c) {
    return size >= 66 && !(load_u16(bytes + 4, c->swap) & MISC_BUILD_ID) && starts_path(bytes + 64);
}

/* With a pid, byte 32 is the length of the build-id or 0. Without a pid, bytes 28 to 31 are padding and the name begins
   at byte 32. */
static bool lacks_pid(const uint8_t *entry, size_t size, bool swap) {
    return size >= 34 && !(load_u16(entry + 4, swap) & MISC_BUILD_ID_SIZE) && load_u32(entry + 28, false) == 0 &&
           starts_path(entry + 32);
}

/* One entry in the old form decides for all entries, because the names of others may be ambiguous. */
static uint64_t probe_build_ids(const uint8_t *bytes, size_t size, const struct pfr_context *c) {
    while (size >= 32) {
        const size_t entry = load_u16(bytes + 6, c->swap);
        if (entry < 32 || entry > size)
            return 0;
        if (lacks_pid(bytes, entry, c->swap))
            return 1;
        bytes += entry;
        size -= entry;
    }
    return 0;
}

/* Sets *rest to the bytes after the entries if prog_name has `name` bytes; false if the entries do not fit. */
static bool metadata_rest(const uint8_t *bytes, size_t size, bool swap, size_t name, uint64_t *rest) {
    const size_t fixed = 16 + name;
    if (size < fixed)
        return false;
    const uint64_t entries = load_u64(bytes + 8 + name, swap);
    if (entries > (size - fixed) / 320)
        return false;
    *rest = size - fixed - 320 * entries;
    return true;
}

/* The length of prog_name is not stored. Of the lengths that kernels use, returns the one with which the counted
   entries fit and the fewest bytes follow them; 0 if more than LONGEST_TAIL bytes would follow. */
static uint64_t probe_bpf_metadata(const uint8_t *bytes, size_t size, const struct pfr_context *c) {
    static const uint16_t names[] = {16, 128, 256, 512};
    uint64_t best = 0, least = LONGEST_TAIL + 1, rest;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (metadata_rest(bytes, size, c->swap, names[i], &rest) && rest < least) {
            least = rest;
            best = names[i];
        }
    }
    return best;
}

/* perf writes a count of 8 bytes, then entries of 16 bytes; simpleperf writes only the entries. The length decides. */
static uint64_t probe_auxtrace_index(const uint8_t *bytes, size_t size, const struct pfr_context *c) {
    (void)bytes, (void)c;
    return size > 0 && size % 16 == 0;
}

static probe *const probes[LAYOUTS] = {
    [L_mmap2] = probe_mmap2,
    [L_build_id_entry] = probe_build_ids,
    [L_feature_build_id] = probe_build_ids,
    [L_feature_auxtrace] = probe_auxtrace_index,
    [L_bpf_metadata] = probe_bpf_metadata,
};

uint64_t variant_of(unsigned layout_number, const uint8_t *bytes, size_t size, const struct pfr_context *c) {
    return layout_number < LAYOUTS && probes[layout_number] ? probes[layout_number](bytes, size, c) : 0;
}
