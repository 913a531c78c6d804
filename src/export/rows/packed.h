/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PACKED_H
#define PFR_EXPORT_PACKED_H
/*
 * An output file, compressed if its name ends in ".gz" or ".zst". It gets its name only when it is complete
 * (whole_file.h).
 *
 *     struct packed_file file;
 *     packed_open(&file, path, true, memory, &err);
 *     ... out_text(file.out, "...") ...
 *     packed_close(&file, is_whole, &err);
 */
#include "base/io/gzip_output.h"
#include "base/io/whole_file.h"
#include "base/io/zstd_output.h"

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD };

struct packed_file {
    struct whole_file file;
    struct output plain;
    enum packing packing;
    union {
        struct gzip_output gzip;
        struct zstd_output zstd;
    };
    struct output *out; /* write here */
};

/* Returns the compression that the suffix of the name requests; PACKED_NOT for other suffixes and for NULL. */
enum packing packing_of(const char *path);
/* The length of a name without ".gz" or ".zst". */
size_t unpacked_length(const char *path);

/* Pass packs = false if the format is compressed already. A result < 0 fills *err, and nothing needs to be closed. */
pfr_status packed_open(struct packed_file *file, const char *path, bool packs, struct memory *memory, pfr_error *err);
pfr_status packed_close(struct packed_file *file, bool is_whole, pfr_error *err);

#endif
