/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_HEX_FIXTURE_H
#define PFR_TESTS_HEX_FIXTURE_H
/* A parsed file of tests/fixtures/hex; the README there explains the lines. */
#include "wire/layout.h"

enum { HEX_BYTES = 65536, HEX_EXPECTS = 256, HEX_LINE = 512 };

struct hex_fixture {
    char name[64];
    char kind[16]; /* record, feature, attr, file, layout */
    uint64_t feature;
    char layout[64];     /* for the kind layout */
    bool big, low_first; /* big-endian integers; bit fields as little-endian writers allocate them */
    uint64_t sample_id_all, nr_cpus;
    struct pfr_context context; /* the words of the ctx line */
    uint8_t bytes[HEX_BYTES];
    size_t length;
    unsigned expects;
    char field[HEX_EXPECTS][HEX_LINE], value[HEX_EXPECTS][HEX_LINE];
};

/* Returns false if the file cannot be read or does not follow the README. */
bool load_hex_fixture(struct hex_fixture *fixture, const char *folder, const char *file);

#endif
