/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_PRINTER_H
#define PFR_MODEL_TRACEPOINT_PRINTER_H
/*
 * libtraceevent, as far as it is used: formats of one recording go in, text of records comes out. Nothing is checked
 * here: what is given is either understood by tracepoint_grammar.h, or this runs in a process of its own
 * (tracepoint_child.h). Its memory is the library's own.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record, and what the library may read behind it: places and lengths in records have 16 bits. */
#define TRACE_DATA_MOST 65535u
#define TRACE_DATA_BEHIND (4u * 65536u)

struct trace_printer;

/* What all formats of a recording share: the head of the tracing data. */
struct trace_machine {
    bool big_endian;
    uint8_t long_size;
    uint32_t page_size;
};

/* Text for an address (%ps, %pS, ...): the name and, in *start, where it begins; *module: NULL or a name. NULL: no
   name. The texts live until the next call. */
typedef const char *trace_name_fn(void *context, uint64_t address, uint64_t *start, const char **module);

/* NULL: out of memory. */
struct trace_printer *trace_printer_new(const struct trace_machine *machine);
void trace_printer_free(struct trace_printer *printer);

void trace_printer_name(struct trace_printer *printer, trace_name_fn *name, void *context);

/* A text that an address stands for (printk formats); `text` is NUL-terminated. */
void trace_printer_string(struct trace_printer *printer, uint64_t address, const char *text);

/* One format. False: out of memory, or one that cannot be used at all. *whole: the print format was understood. */
bool trace_printer_add(struct trace_printer *printer, const char *text, size_t length, const char *system, bool *whole);

/* The text of a record of that format, with the common fields in front; NUL-terminated, of the printer, until the next
   call. `data` has TRACE_DATA_BEHIND bytes of 0 behind it. NULL: no such format. */
const char *trace_printer_text(struct trace_printer *printer, const uint8_t *data, size_t length, uint32_t cpu,
                               size_t *text_length);

/* The same of one of its fields, or with NULL of all as `name=value`; NULL: there is none of the name. */
const char *trace_printer_field(struct trace_printer *printer, const uint8_t *data, size_t length, const char *name,
                                size_t *text_length);

#endif
