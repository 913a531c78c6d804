/* SPDX-License-Identifier: Apache-2.0 */
/* See tracepoint_printer.h. */
#include "model/tracepoint/tracepoint_printer.h"

#include <event-parse.h>
#include <stdlib.h>
#include <trace-seq.h>

struct tracepoint_printer {
    struct tep_handle *tep;
    struct trace_seq text;
    tracepoint_name_fn *name;
    void *context;
};

struct tracepoint_printer *tracepoint_printer_new(const struct tracepoint_machine *machine) {
    struct tracepoint_printer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->tep = tep_alloc();
    if (!p->tep) {
        free(p);
        return NULL;
    }
    trace_seq_init(&p->text);
    tep_set_local_bigendian(p->tep, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_file_bigendian(p->tep, machine->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_long_size(p->tep, machine->long_size == 4 ? 4 : 8);
    tep_set_page_size(p->tep, (int)(machine->page_size & 0xffffff));
    return p;
}

void tracepoint_printer_free(struct tracepoint_printer *p) {
    if (!p)
        return;
    trace_seq_destroy(&p->text);
    tep_free(p->tep);
    free(p);
}

static char *find_name(void *context, unsigned long long *address, char **module) {
    struct tracepoint_printer *p = context;
    uint64_t start = *address;
    const char *in = NULL, *name = p->name(p->context, *address, &start, &in);
    *module = (char *)(uintptr_t)in;
    *address = start;
    return (char *)(uintptr_t)name;
}

void tracepoint_printer_name(struct tracepoint_printer *p, tracepoint_name_fn *name, void *context) {
    p->name = name;
    p->context = context;
    if (name)
        tep_set_function_resolver(p->tep, find_name, p);
    else
        tep_reset_function_resolver(p->tep);
}

void tracepoint_printer_string(struct tracepoint_printer *p, uint64_t address, const char *text) {
    tep_register_print_string(p->tep, text, address);
}

bool tracepoint_printer_add(struct tracepoint_printer *p, const char *text, size_t length, const char *system,
                            bool *whole) {
    struct tep_event *event = NULL;
    *whole = false;
    const int before = tep_get_events_count(p->tep);
    if (tep_parse_event(p->tep, text, length, system) != 0 && tep_get_events_count(p->tep) == before)
        return false;
    event = tep_get_event(p->tep, tep_get_events_count(p->tep) - 1);
    *whole = event && !(event->flags & (int)TEP_EVENT_FL_FAILED);
    return event != NULL;
}

/* Prints a field. After the first value that is not printable, the library treats a text field as numbers for the rest
   of the recording. The flags are therefore restored: the output must not depend on earlier values. */
static void print_field(struct trace_seq *text, const struct tep_record *record, struct tep_format_field *field) {
    const unsigned long flags = field->flags;
    tep_print_field(text, record->data, field);
    field->flags = flags;
}

static void print_fields(struct trace_seq *text, const struct tep_record *record, const struct tep_event *event) {
    for (struct tep_format_field *field = event->format.fields; field; field = field->next) {
        trace_seq_printf(text, " %s=", field->name);
        print_field(text, record, field);
    }
}

const char *tracepoint_printer_text(struct tracepoint_printer *p, const uint8_t *data, size_t length, uint32_t cpu,
                                    size_t *text_length) {
    struct tep_record record = {.cpu = (int)cpu, .size = (int)length, .data = (void *)(uintptr_t)data};
    const struct tep_event *event = tep_find_event_by_record(p->tep, &record);
    if (!event)
        return NULL;
    trace_seq_reset(&p->text);
    if (event->flags & (int)TEP_EVENT_FL_FAILED) { /* as the library prints it */
        trace_seq_puts(&p->text, "[FAILED TO PARSE]");
        print_fields(&p->text, &record, event);
    } else {
        tep_print_event(p->tep, &p->text, &record, "%s", TEP_PRINT_INFO);
    }
    trace_seq_terminate(&p->text);
    *text_length = p->text.len;
    return p->text.state == TRACE_SEQ__GOOD ? p->text.buffer : NULL;
}

const char *tracepoint_printer_field(struct tracepoint_printer *p, const uint8_t *data, size_t length, const char *name,
                                     size_t *text_length) {
    struct tep_record record = {.size = (int)length, .data = (void *)(uintptr_t)data};
    struct tep_event *event = tep_find_event_by_record(p->tep, &record);
    struct tep_format_field *field = event && name ? tep_find_any_field(event, name) : NULL;
    if (!event || (name && !field))
        return NULL;
    trace_seq_reset(&p->text);
    if (field)
        print_field(&p->text, &record, field);
    else
        print_fields(&p->text, &record, event);
    trace_seq_terminate(&p->text);
    *text_length = p->text.len;
    return p->text.state == TRACE_SEQ__GOOD ? p->text.buffer : NULL;
}
