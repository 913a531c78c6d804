/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are compressed according to their name: see packed.h. */
#include "export/rows/packed.h"

#include "base/memory/fail.h"

static bool ends_with(const char *path, const char *end) {
    const size_t length = strlen(path), least = strlen(end);
    return length > least && strcmp(path + length - least, end) == 0;
}

enum packing packing_of(const char *path) {
    if (!path)
        return PACKED_NOT;
    return ends_with(path, ".gz") ? PACKED_GZIP : ends_with(path, ".zst") ? PACKED_ZSTD : PACKED_NOT;
}

size_t unpacked_length(const char *path) {
    static const size_t lengths[] = {
        [PACKED_NOT] = 0, [PACKED_GZIP] = sizeof ".gz" - 1, [PACKED_ZSTD] = sizeof ".zst" - 1};
    return strlen(path) - lengths[packing_of(path)];
}

pfr_status packed_open(struct packed_file *f, const char *path, bool packs, struct memory *memory, pfr_error *err) {
    f->packing = packs ? packing_of(path) : PACKED_NOT;
    f->out = &f->plain;
    PFR_TRY(whole_file_open(&f->file, path, memory, &f->plain, err));
    pfr_status st = PFR_OK;
    if (f->packing == PACKED_GZIP) {
        st = gzip_output_open(&f->gzip, &f->plain, memory, err);
        f->out = &f->gzip.out;
    } else if (f->packing == PACKED_ZSTD) {
        st = zstd_output_open(&f->zstd, &f->plain, memory, err);
        f->out = &f->zstd.out;
    }
    if (st < 0)
        whole_file_close(&f->file, &f->plain, false, NULL);
    return st;
}

pfr_status packed_close(struct packed_file *f, bool is_whole, pfr_error *err) {
    pfr_status st = PFR_OK;
    if (f->packing == PACKED_GZIP)
        st = gzip_output_close(&f->gzip, err);
    else if (f->packing == PACKED_ZSTD)
        st = zstd_output_close(&f->zstd, err);
    const pfr_status closed = whole_file_close(&f->file, &f->plain, is_whole && st >= 0, st < 0 ? NULL : err);
    return st < 0 ? st : closed;
}
