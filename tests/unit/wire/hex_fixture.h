/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_HEX_FIXTURE_H
#define PFR_TESTS_HEX_FIXTURE_H
/* One file of tests/fixtures/hex, parsed: its README says what the lines mean. */
#include "wire/layout.h"

enum { HEX_BYTES = 65536, HEX_EXPECTS = 256, HEX_LINE = 512 };

struct hex_fixture {
    char name[64];
    char kind[16]; /* record, feature, attr, file, layout */
    uint64_t feature;
    char layout[64];     /* of kind layout */
    bool big, low_first; /* big-endian integers; and bits as little-endian writers allocate them */
    uint64_t sample_id_all, nr_cpus;
    struct pfr_context context; /* the words of ctx */
    uint8_t bytes[HEX_BYTES];
    size_t length;
    unsigned expects;
    char field[HEX_EXPECTS][HEX_LINE], value[HEX_EXPECTS][HEX_LINE];
};

/* False: the file cannot be read or is not as the README says. */
bool load_hex_fixture(struct hex_fixture *fixture, const char *folder, const char *file);

#endif
