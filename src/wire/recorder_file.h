/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_RECORDER_FILE_H
#define PFR_WIRE_RECORDER_FILE_H
/*
 * How the runtime (src/runtime) lays out the trace that it writes, which is an FDR trace of version 5 at every moment:
 *
 *     0             file header
 *     32            the control block: a buffer whose one event is a struct rtf_control, and a word for each slot
 *     slots_at      slots of slot_size bytes: buffers one behind the other, then zeros
 *     the last 16   a BufferExtents of 0, since llvm-xray takes no zeros at the end
 *
 * A note is a custom event that begins with RTF_MAGIC; it stands directly behind the preamble of its buffer, RTF_NOTE
 * bytes from the buffer's begin. Readers that know nothing of notes pass over them. Two kinds tell what is called what:
 *
 *     functions     struct rtf_function for the ids from `first` on; address 0: not told (yet)
 *     objects       struct rtf_object for the numbers from `first` on; kind 0: not told (yet)
 *
 * While the trace is written control says which slots hold them; when it is finished (RTF_FINISHED) they follow the
 * control block, one buffer behind the other. A large trace is finished where it lies (RTF_SETTLED): the slots stay,
 * but for those behind the last that was used. A copy without slots (RTF_COPIED) has its lists in any of its buffers.
 * All is in the byte order of the machine. Both sides use this header.
 */
#include <stdint.h>

#define RTF_MAGIC "perfray-rt 1\0\0\0"
#define RTF_MAGIC_SIZE 16u
#define RTF_HEADER 32u
#define RTF_EXTENTS 16u
#define RTF_PREAMBLE 80u /* BufferExtents, NewBuffer, WallClockTime, Pid, NewCPUId */
#define RTF_NOTE 96u     /* from the begin of a buffer to the payload of its first event */
#define RTF_ENTRIES 32u  /* from there to the entries: struct rtf_note */
#define RTF_CONTROL_AT (RTF_HEADER + RTF_NOTE)
#define RTF_IDS_MOST 0x0fffffffu

enum rtf_kind { RTF_RUNNING = 1, RTF_FINISHED, RTF_FUNCTIONS, RTF_OBJECTS, RTF_SETTLED, RTF_COPIED };

struct rtf_note {
    char magic[RTF_MAGIC_SIZE];
    uint32_t kind, first;
    uint64_t size; /* of the buffer, its BufferExtents counted */
};

struct rtf_function {
    uint64_t address; /* where it lies, or would where its object is loaded as told; 1 for scopes */
    uint32_t object;  /* its number, from 1; 0: none is known */
    uint32_t spare;
};

enum rtf_object_kind { RTF_NO_OBJECT, RTF_MAPPED, RTF_SCOPE };

/* Something that functions are of: an object that was mapped, or a place in the program that was given a name. */
struct rtf_object {
    uint32_t kind, pid;
    uint64_t base, start, end; /* base: what is added to the object's own addresses */
    uint64_t from, until;      /* ticks; until 0: to the end */
    uint8_t build_id_size, build_id[31];
    char path[432]; /* or the name; NUL-terminated */
};

/* Why calls are not in the trace. */
enum rtf_loss { RTF_BUSY, RTF_FULL, RTF_TABLE, RTF_TOO_LARGE, RTF_SLED, RTF_LOSSES };

/* Entries of a list in one slot. What is left over makes the same note fit into a buffer of version 1 that is as large.
 */
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
    uint64_t start_tsc, start_ns; /* the trace's clock and CLOCK_MONOTONIC when it was begun */
    uint64_t leader_start;        /* in /proc/PID/stat */
    uint32_t leader;              /* while this process lives, others that are given the file join in */
    uint32_t keep_last, is_tsc, full;
    uint64_t next_slot, slots_taken;
    uint32_t next_function, next_object;
    uint64_t lost[RTF_LOSSES];
    uint64_t spares[RTF_SPARES]; /* slots with room left: used << 32 | number + 1 */
    uint32_t function_slots[RTF_FUNCTION_SLOTS], object_slots[RTF_OBJECT_SLOTS]; /* number + 1 */
    uint32_t spaces;    /* bit 0: processes of several namespaces write, whose numbers are not told apart; bit 1:
                           gettid(2) was refused, those threads have numbers below 0; above
                           RTF_DEPTH_AT: calls within so many others were left out, as asked */
    uint32_t threshold; /* 1 + ns: calls that took less were taken back, by some process at least; 0: not told */
};

_Static_assert(sizeof(struct rtf_note) == RTF_ENTRIES, "entries begin behind the note");
_Static_assert(sizeof(struct rtf_function) == 16, "as laid out in files");
_Static_assert(sizeof(struct rtf_object) == 512, "as laid out in files");
_Static_assert(sizeof(RTF_MAGIC) == RTF_MAGIC_SIZE, "the magic fills its place");

#endif
