/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_RECORDER_FILE_H
#define PFR_WIRE_RECORDER_FILE_H
/*
 * The layout of the trace that the runtime (src/runtime) writes. At every moment it is a valid FDR trace of version 5
 * (or 3 or 4 if requested):
 *
 *    0              file header
 *    32             the control block: a buffer whose only event has a struct rtf_control, then a word per slot
 *    slots_at       slots of slot_size bytes: consecutive buffers, then zeros
 *    the last 16    a BufferExtents of 0, since llvm-xray accepts no zeros at the end
 *
 * A note is a custom event that begins with RTF_MAGIC; it immediately follows the preamble of its buffer, RTF_NOTE
 * bytes from the start of the buffer. Readers that do not know notes skip them. Two kinds of notes are lists of names:
 *
 *    functions    struct rtf_function for the ids from `first` on; address 0: not reported (yet)
 *    objects      struct rtf_object for the numbers from `first` on; kind 0: not reported (yet)
 *
 * While the trace is written, the control block lists the slots that contain these lists. In a finished trace
 * (RTF_FINISHED) the lists follow the control block, as consecutive buffers. A large trace is finished in place
 * (RTF_SETTLED): the slots remain, except those after the last used one. A copy without slots (RTF_COPIED) has its
 * lists in any of its buffers. Everything is in the byte order of the machine. The runtime and the reader both use this
 * header.
 */
#include <stdint.h>

#define RTF_MAGIC "perfray-rt 1\0\0\0"
#define RTF_MAGIC_SIZE 16u
#define RTF_HEADER 32u
#define RTF_EXTENTS 16u
#define RTF_PREAMBLE 80u /* BufferExtents, NewBuffer, WallClockTime, Pid, NewCPUId */
#define RTF_NOTE 96u     /* from the start of a buffer to the payload of its first event */
#define RTF_ENTRIES 32u  /* from the start of the payload to the entries: struct rtf_note */
#define RTF_CONTROL_AT (RTF_HEADER + RTF_NOTE)
#define RTF_IDS_MOST 0x0fffffffu

enum rtf_kind { RTF_RUNNING = 1, RTF_FINISHED, RTF_FUNCTIONS, RTF_OBJECTS, RTF_SETTLED, RTF_COPIED };

struct rtf_note {
    char magic[RTF_MAGIC_SIZE];
    uint32_t kind, first;
    uint64_t size; /* bytes of the buffer, including its BufferExtents */
};

struct rtf_function {
    uint64_t address; /* the function's address with its object loaded at the reported base; 1: a scope */
    uint32_t object;  /* number of the object, from 1; 0: unknown */
    uint32_t spare;
};

enum rtf_object_kind { RTF_NO_OBJECT, RTF_MAPPED, RTF_SCOPE };

/* The container of functions: a mapped object, or a named scope in the program. */
struct rtf_object {
    uint32_t kind, pid;
    uint64_t base, start, end; /* base is added to the addresses in the object file */
    uint64_t from, until;      /* range of ticks in which it is mapped; until 0: to the end of the trace */
    uint8_t build_id_size, build_id[31];
    char path[432]; /* path, or name of the scope; NUL-terminated */
};

/* Reasons for calls missing from the trace. */
enum rtf_loss { RTF_BUSY, RTF_FULL, RTF_TABLE, RTF_TOO_LARGE, RTF_SLED, RTF_LOSSES };

/* The number of list entries that fit in a slot. The spare bytes let the same note fit into a version 1 buffer of the
   same size. */
static inline uint64_t rtf_entries_in(uint64_t slot_size, uint64_t entry) {
    return (slot_size - RTF_NOTE - RTF_ENTRIES - RTF_EXTENTS) / entry;
}

#define RTF_SPACES 1u
#define RTF_NO_TIDS 2u
#define RTF_DEPTH_AT 8u
#define RTF_SPARES 32u
#define RTF_FUNCTION_SLOTS 512u
#define RTF_OBJECT_SLOTS 64u

struct rtf_control {
    struct rtf_note note; /* kind: running, finished or settled */
    uint64_t slot_size, nr_slots, slots_at;
    uint64_t start_tsc, start_ns; /* the trace's clock and CLOCK_MONOTONIC at its start */
    uint64_t leader_start;        /* start time of `leader`, as in /proc/PID/stat */
    uint32_t leader;              /* while this process lives, other processes that are given the file write to the same
                                     trace */
    uint32_t keep_last, is_tsc, full;
    uint64_t next_slot, slots_taken;
    uint32_t next_function, next_object;
    uint64_t lost[RTF_LOSSES];
    uint64_t spares[RTF_SPARES]; /* slots with free room: used << 32 | number + 1 */
    uint32_t function_slots[RTF_FUNCTION_SLOTS], object_slots[RTF_OBJECT_SLOTS]; /* number + 1 */
    uint32_t spaces;    /* bit 0: processes of several PID namespaces write, whose numbers may collide; bit 1: gettid(2)
                           was refused, and those threads have numbers below 0; from bit RTF_DEPTH_AT: the requested
                           depth limit; calls nested deeper were left out */
    uint32_t threshold; /* 1 + ns: at least one process removed calls shorter than this; 0: not reported */
};

_Static_assert(sizeof(struct rtf_note) == RTF_ENTRIES, "entries begin behind the note");
_Static_assert(sizeof(struct rtf_function) == 16, "as laid out in files");
_Static_assert(sizeof(struct rtf_object) == 512, "as laid out in files");
_Static_assert(sizeof(RTF_MAGIC) == RTF_MAGIC_SIZE, "the magic fills its place");

#endif
