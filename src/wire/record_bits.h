/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_RECORD_BITS_H
#define PFR_WIRE_RECORD_BITS_H
/*
 * Packed words of records and attrs (linux/perf_event.h): code outside src/wire does not shift or mask them with
 * numbers (tests/tree/check_layers.py). Words that are divided into members, such as branch flags and data_src, are
 * layouts of their own, which also handle the bit order.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/cursor.h"

/* bit numbers of perf_event_attr.sample_type */
enum {
    SAMPLE_BIT_TID = 1,
    SAMPLE_BIT_TIME = 2,
    SAMPLE_BIT_ID = 6,
    SAMPLE_BIT_CPU = 7,
    SAMPLE_BIT_IDENTIFIER = 16,
};

/* bit numbers of perf_event_attr.read_format and branch_sample_type */
enum {
    READ_BIT_TIME_ENABLED = 0,
    READ_BIT_TIME_RUNNING = 1,
    READ_BIT_ID = 2,
    READ_BIT_GROUP = 3,
    READ_BIT_LOST = 4,
    BRANCH_BIT_CALL_STACK = 11,
};

/* bit numbers of perf_event_header.misc, also used in wire/quipper.def; the meaning of bits from 12 on depends on the
   record type */
enum {
    MISC_BIT_13 = 13,        /* MMAP: data; COMM: exec; SWITCH: out */
    MISC_BIT_14 = 14,        /* MMAP2: build-id; SWITCH: preempted */
    MISC_BIT_ID_LENGTH = 15, /* HEADER_BUILD_ID: the build-id's length is stored */
    MISC_BIT_MAP_ID = 14,
};

/* bit numbers of PERF_RECORD_AUX flags, and of PROT_ and MAP_ flags of mmap(2), which records store */
enum { AUX_BIT_TRUNCATED, AUX_BIT_OVERWRITE, AUX_BIT_PARTIAL };
enum { PROT_BIT_READ, PROT_BIT_WRITE, PROT_BIT_EXEC };
enum { MAP_BIT_SHARED };

static inline bool has_bit(uint64_t word, unsigned bit) {
    return word >> bit & 1;
}

/* PERF_RECORD_MISC_CPUMODE_MASK */
static inline unsigned cpumode_of(unsigned misc) {
    return misc & 7;
}

/* cpumode_of for the bytes of a record in the file. */
static inline unsigned cpumode_at(const uint8_t *record, bool swap) {
    return cpumode_of(load_u16(record + 4, swap));
}

/* union perf_sample_weight: the weight itself, the instruction latency, and the cycles of a pipeline stage or to
   retirement. */
static inline uint32_t weight_itself(uint64_t weight_struct) {
    return (uint32_t)weight_struct;
}

static inline uint32_t weight_second(uint64_t weight_struct) {
    return (uint16_t)(weight_struct >> 32);
}

static inline uint32_t weight_third(uint64_t weight_struct) {
    return (uint16_t)(weight_struct >> 48);
}

#endif
