/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_PRINTER_H
#define PFR_MODEL_TRACEPOINT_PRINTER_H
/*
 * The parts of libtraceevent that are used: formats of one recording are added, and texts of records are returned.
 * Nothing is checked here: either tracepoint_grammar.h has accepted the format, or this code runs in a separate process
 * (tracepoint_child.h). The library allocates its own memory.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum size of a record, and bytes after the record that the library may read. Offsets and lengths in records have
   16 bits. */
#define TRACE_DATA_MOST 65535u
#define TRACE_DATA_BEHIND (4u * 65536u)

struct tracepoint_printer;

/* Properties common to all formats of a recording, from the header of the tracing data. */
struct tracepoint_machine {
    bool big_endian;
    uint8_t long_size;
    uint32_t page_size;
};

/* Returns the name of an address (%ps, %pS, ...), and in *start where it begins; *module is NULL or a name. NULL: no
   name. The texts must be valid until the next call. */
typedef const char *tracepoint_name_fn(void *context, uint64_t address, uint64_t *start, const char **module);

/* NULL: out of memory. */
struct tracepoint_printer *tracepoint_printer_new(const struct tracepoint_machine *machine);
void tracepoint_printer_free(struct tracepoint_printer *printer);

void tracepoint_printer_name(struct tracepoint_printer *printer, tracepoint_name_fn *name, void *context);

/* Sets the text at an address, as listed with the printk formats; `text` is NUL-terminated. */
void tracepoint_printer_string(struct tracepoint_printer *printer, uint64_t address, const char *text);

/* Adds a format. False: out of memory, or an unusable format. *whole: the print format was parsed completely. */
bool tracepoint_printer_add(struct tracepoint_printer *printer, const char *text, size_t length, const char *system,
                            bool *whole);

/* The text of a record of that format, after its common fields; NUL-terminated, in the printer, valid until the next
   call. `data` must be followed by TRACE_DATA_BEHIND bytes of 0. NULL: no such format. */
const char *tracepoint_printer_text(struct tracepoint_printer *printer, const uint8_t *data, size_t length,
                                    uint32_t cpu, size_t *text_length);

/* The text of one field; if the name is NULL, of all fields as `name=value`. NULL: no such field. */
const char *tracepoint_printer_field(struct tracepoint_printer *printer, const uint8_t *data, size_t length,
                                     const char *name, size_t *text_length);

#endif
