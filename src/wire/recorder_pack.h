/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_RECORDER_PACK_H
#define PFR_WIRE_RECORDER_PACK_H
/*
 * Packs a trace. The runtime maps a trace as slots, with unused space between them; the packed trace consists only of
 * buffers: header, control block, notes, calls (wire/recorder_file.h). The oldest slot comes first.
 * The runtime uses this code for snapshots, and so does the code that finishes a trace. It allocates no memory and does
 * not access files.
 */
#include "wire/recorder_file.h"

#include <stdbool.h>
#include <stddef.h>

struct rtf_pack {
    /* Reads bytes of the packed trace; false: a read failed. */
    bool (*read)(void *context, uint64_t at, void *to, size_t size);
    bool (*write)(void *context, const void *bytes, size_t size);
    void *context;
    uint64_t size; /* size of the trace to pack */
    uint8_t *room; /* buffer for copying */
    size_t room_size;
    uint64_t frequency;         /* ticks per second for the header; 0: keep the header's */
    struct rtf_control control; /* filled by rtf_pack_check */
};

enum rtf_packed { RTF_PACKED, RTF_NOT_OURS, RTF_NO_READ, RTF_NO_WRITE };

/* Whether this is a trace left by the runtime, with consistent sizes; fills control. */
enum rtf_packed rtf_pack_check(struct rtf_pack *pack);

/* The parts of a trace that are in use. */
struct rtf_use {
    uint64_t slots;   /* number of used slots; later slots are empty */
    uint64_t bytes;   /* bytes of calls and notes in these slots */
    uint64_t records; /* bytes of calls and events without notes */
};
enum rtf_packed rtf_pack_measure(struct rtf_pack *pack, struct rtf_use *use);
enum rtf_packed rtf_pack_run(struct rtf_pack *pack);

#endif
