/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_JIT_DUMP_H
#define PFR_SYMBOL_JIT_DUMP_H
/*
 * The code of a just-in-time compiler, which the compiler records while running: jit-PID.dump (jitdump, specification
 * version 2; the version in the header is 1), in the byte order of its writer. The file is a header of 40 bytes,
 * followed by records, each with its length and time:
 *
 *  LOAD              code with this name is at this address from now on; its bytes follow
 *  MOVE              the code with this number has moved to another address
 *  DEBUG_INFO        lines of the code that is loaded next
 *  UNWINDING_INFO    .eh_frame and .eh_frame_hdr of the code that is loaded next
 *  CLOSE             the end
 *
 * Code is identified by the offset of its bytes in the dump. So the code counts as a mapping of a part of that file,
 * like the code of any other file, even after the code has moved. The bytes themselves are skipped. The dump may still
 * grow: incomplete records are read later.
 *
 *  jit_dump_open(&object, memory, room, &dump);
 *  dump->changes[i]: at .time, code number .code was placed at .address; jit_dump_code: the code at an offset
 */
#include "base/tables/intern.h"
#include "symbol/table/symbol_source.h"

#define JIT_DUMP_BYTES_MOST ((uint64_t)1 << 34) /* maximum bytes that are read of one file */

struct jit_code {
    uint64_t offset, size;   /* offset and size of the code's bytes in the dump */
    uint64_t address;        /* address at which it was loaded */
    uint32_t name;           /* index in `names` */
    uint32_t line, nr_lines; /* index of the code's first line, and number of lines */
    uint32_t frames_size;    /* bytes of the code's .eh_frame; 0: no .eh_frame */
    const uint8_t *frames;   /* the code's .eh_frame; its address is the next multiple of 8 after the code */
};

#define JIT_GONE UINT32_MAX

struct jit_change {
    uint64_t time, address, size;
    uint32_t code; /* JIT_GONE: the range is empty from now on */
};

struct jit_line {
    uint32_t from; /* offset from the start of the code */
    uint32_t line;
    uint32_t file; /* index in `names` */
};

struct jit_reading; /* state that is needed only while reading */

struct jit_dump {
    struct memory *memory;
    struct intern_table names; /* names of functions and files */
    struct arena frames;
    struct jit_code *codes;     /* sorted by offset */
    struct jit_change *changes; /* in file order, which is time order */
    struct jit_line *lines;
    size_t nr_codes, codes_room, nr_changes, changes_room, nr_lines, lines_room;
    uint32_t nearest_line; /* lowest `from` of all lines; UINT32_MAX: no lines */
    uint32_t pid;
    uint16_t machine;    /* e_machine */
    uint64_t name_bytes; /* bytes of the names of functions and files, counted at each occurrence */
    uint64_t taken;      /* estimated bytes of memory; reading ends when it reaches `room` */
    uint64_t room;
    bool swap;
    bool by_cpu_clock;   /* times are from the CPU's time stamp counter, not CLOCK_MONOTONIC */
    uint64_t damaged;    /* records that contradict themselves and were skipped */
    uint64_t damaged_at; /* offset of the first damaged record */
    enum symbol_result
        ended; /* FOUND: reading may continue; DAMAGED, LIMIT, NO_MEMORY, IO: reading ended for this reason */
    struct jit_reading *reading;
};

/* Whether a mapped file of this name is a dump: "jit-", digits, ".dump". */
bool jit_dump_is_named(const char *path, size_t length);

/*
 * Opens a dump and reads its records. `object` has path and symfs. The file must be a regular file and not a link, and
 * must belong to `owner`, to root or to this user. FOUND; NOT_ELF: the file does not begin like a dump; or a result of
 * opening a file. Reading ends with LIMIT at the first record after `room` bytes of memory were used, including maps of
 * the code; earlier records are kept.
 */
enum symbol_result jit_dump_open(const struct symbol_object *object, struct memory *memory, uint64_t room,
                                 struct jit_dump **dump);
void jit_dump_close(struct jit_dump *dump);

/* Reads records that were written since the last call. dump->ended tells why reading ended; earlier records are
   kept. */
void jit_dump_read_on(struct jit_dump *dump);

/* Closes the file; nothing more will be read. */
void jit_dump_let_go(struct jit_dump *dump);

/* Returns the code that contains this offset, or NULL. */
const struct jit_code *jit_dump_code(const struct jit_dump *dump, uint64_t offset);

/* Returns the source line of the code at this offset; NULL: unknown. */
const struct jit_line *jit_dump_line(const struct jit_dump *dump, uint64_t offset);

/* Makes a handle to look up names by offset, like the handles of other sources; the dump must outlive it. */
enum symbol_result jit_dump_symbols(const struct jit_dump *dump, struct memory *memory, struct symbol_handle **handle);

extern const struct symbol_source jit_dump_symbol_source; /* jit_dump_symbols makes its handles */

#endif
