/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_JIT_DUMP_H
#define PFR_SYMBOL_JIT_DUMP_H
/*
 * What a just-in-time compiler says of its code while it runs: jit-PID.dump (jitdump, specification version 2, whose
 * header says 1), in the byte order of its writer. A header of 40 bytes, then records, each with its length and time:
 *
 *     LOAD              code with this name stands at this address now; the code follows
 *     MOVE              the code with this number went to another address
 *     DEBUG_INFO        lines of the code that is loaded next
 *     UNWINDING_INFO    .eh_frame and .eh_frame_hdr of the code that is loaded next
 *     CLOSE             the end
 *
 * Read in place: a piece of code is known by where its bytes stand in the dump, so that what is mapped at an address is
 * a part of that file, as with any other file, and stays the same when it is moved. The bytes themselves are passed
 * over. The dump may grow meanwhile: what is not whole yet is read later.
 *
 *     jit_dump_open(&object, memory, room, &dump);
 *     dump->changes[i]: at .time, code number .code came to .address; jit_dump_code: what is at an offset
 */
#include "base/tables/intern.h"
#include "symbol/table/symbol_source.h"

#define JIT_DUMP_BYTES_MOST ((uint64_t)1 << 34) /* of one file; what is behind is not read */

struct jit_code {
    uint64_t offset, size;   /* its bytes, in the dump */
    uint64_t address;        /* where it was loaded */
    uint32_t name;           /* in `names` */
    uint32_t line, nr_lines; /* the first of its lines, and how many */
    uint32_t frames_size;    /* of its .eh_frame; 0: none */
    const uint8_t *frames;   /* that, whose address is the next multiple of 8 behind the code */
};

#define JIT_GONE UINT32_MAX

struct jit_change {
    uint64_t time, address, size;
    uint32_t code; /* JIT_GONE: what was there is there no longer */
};

struct jit_line {
    uint32_t from; /* bytes from the start of the code */
    uint32_t line;
    uint32_t file; /* in `names` */
};

struct jit_reading; /* what is only needed on the way */

struct jit_dump {
    struct memory *memory;
    struct intern_table names; /* of functions and files */
    struct arena frames;
    struct jit_code *codes;     /* by offset */
    struct jit_change *changes; /* as they came, which is the order of time */
    struct jit_line *lines;
    size_t nr_codes, codes_room, nr_changes, changes_room, nr_lines, lines_room;
    uint32_t nearest_line; /* the least `from` of all lines; UINT32_MAX: there are none */
    uint32_t pid;
    uint16_t machine;    /* as ELF numbers them */
    uint64_t name_bytes; /* of functions and files, as often as they are told */
    uint64_t taken;      /* bytes of memory, estimated; at `room` reading ends */
    uint64_t room;
    bool swap;
    bool by_cpu_clock;        /* times are the cpu's time stamps, not those of CLOCK_MONOTONIC */
    uint64_t damaged;         /* records that contradict themselves, and were left out; */
    uint64_t damaged_at;      /* where the first of them is */
    enum symbol_result ended; /* FOUND: may go on; why not: DAMAGED, LIMIT, NO_MEMORY, IO */
    struct jit_reading *reading;
};

/* Whether a map of a file that is called so tells where a dump is: "jit-", digits, ".dump". */
bool jit_dump_is_named(const char *path, size_t length);

/* Opens and reads what is there. `object` is a path, with symfs; the file must be regular, no link, and belong to
   `owner`, to root or to us. FOUND; NOT_ELF: it does not begin as a dump does; and what opening a file gives. Reading
   ends with LIMIT at the first record after `room` bytes of memory are taken, maps of its code included; what was read
   before is kept. */
enum symbol_result jit_dump_open(const struct symbol_object *object, struct memory *memory, uint64_t room,
                                 struct jit_dump **dump);
void jit_dump_close(struct jit_dump *dump);

/* What was written meanwhile. What ends it is in dump->ended; what was read before stays. */
void jit_dump_read_on(struct jit_dump *dump);

/* Nothing more will be read: closes the file. */
void jit_dump_let_go(struct jit_dump *dump);

/* The code whose bytes this offset is in; NULL: none. */
const struct jit_code *jit_dump_code(const struct jit_dump *dump, uint64_t offset);

/* The line of a byte of the code; NULL: not told. */
const struct jit_line *jit_dump_line(const struct jit_dump *dump, uint64_t offset);

/* Names by offset, as the other sources of this folder give them; the dump must outlive the handle. */
enum symbol_result jit_dump_symbols(const struct jit_dump *dump, struct memory *memory, struct symbol_handle **handle);

extern const struct symbol_source jit_dump_symbol_source; /* its handles are those of jit_dump_symbols */

#endif
