/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_XRAY_SCRIPT_H
#define PFR_VIEW_XRAY_SCRIPT_H
/*
 * The script of a trace: one call, exit or event at a time in the order of time.
 *
 *     xray_script.c          what may be asked; the loop; what the text leaves out
 *     xray_script_filter.c   which events are printed
 *     xray_script_fields.c   which of their fields
 *     xray_script_text.c     for people; JSON lines
 *     xray_script_yaml.c     as llvm-xray converts a trace
 *     xray_script_map.c      as llvm-xray extracts a map
 */
#include "base/text/public_output.h"
#include "file/xray/xray_clock.h"
#include "model/names/function_names.h"
#include "model/calls/xray_order.h"
#include "query/sample_filter.h"

#include <perfray/script.h>

struct xray_script;

enum xray_field {
    TRACE_FIELD_PID = 1,
    TRACE_FIELD_TID = 2,
    TRACE_FIELD_CPU = 4,
    TRACE_FIELD_TIME = 8,
    TRACE_FIELD_EVENT = 16,
    TRACE_FIELD_SYM = 32,   /* the function */
    TRACE_FIELD_DSO = 64,   /* its object */
    TRACE_FIELD_TRACE = 128 /* arguments, and what events hold */
};
#define TRACE_FIELDS_ALL 255u
#define TRACE_FIELDS_USUAL (TRACE_FIELDS_ALL & ~(unsigned)TRACE_FIELD_DSO) /* of text */

/* How events are printed. Printers do not fail; what goes wrong sticks in s->failed. */
struct xray_script_form {
    void (*begin)(struct xray_script *s);
    void (*event)(struct xray_script *s, const struct xray_event *event); /* one that is wanted */
    void (*end)(struct xray_script *s);
    void (*see)(struct xray_script *s, const struct xray_event *event); /* every event; NULL: not interested */
    void (*free)(struct xray_script *s);                                /* also after a failure; may be NULL */
};

struct xray_script {
    const pfr_script_options *options;
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    pfr_output *to;
    struct output *out;
    const struct xray_script_form *form;
    struct function_names names;
    struct xray_order *order;
    unsigned fields; /* enum xray_field */
    struct sample_filter filter;
    struct u64_map wanted;   /* function -> whether --symbols and --dsos let it pass */
    struct u64_map shown;    /* functions that a map has already */
    struct xray_clock clock; /* frequency 0: not known */
    bool in_ticks;           /* printed times are ticks */
    uint64_t clock_zero;     /* ns, or ticks, that printed times count from */
    bool has_zero;           /* it is known */
    struct yaml_state *yaml; /* of that form */
    uint64_t cut_payloads;   /* that the form does not show whole */
    pfr_status failed;
    pfr_error *err;
};

extern const struct xray_script_form xray_text_form, xray_json_form, xray_yaml_form, xray_map_form;

/* The name of a call's function; NULL: s->failed. */
const struct function_name *xray_script_name(struct xray_script *s, const struct xray_event *event);

/* xray_script_fields.c: what lists of --fields leave, NULL or ended by NULL. PFR_ERR_USAGE: a trace has no such field.
 */
pfr_status xray_fields_read(const char *const *lists, unsigned *fields, pfr_error *err);

/* xray_script_filter.c: reads what options ask for, once s->order is open. */
pfr_status xray_filter_make(struct xray_script *s, pfr_error *err);
void xray_filter_free(struct xray_script *s);
bool xray_filter_wants(struct xray_script *s, const struct xray_event *event);

/* xray_script.c: the script of a reader whose recording is a trace; as pfr_script_print. */
pfr_status xray_script_print(pfr_reader *reader, const pfr_script_options *options, pfr_output *out, pfr_error *err);

static inline bool xray_is_call(const struct xray_event *event) {
    return event->kind <= TRACE_ENTER_ARGUMENT;
}

static inline void xray_script_fail(struct xray_script *s, pfr_status status) {
    if (s->failed >= 0 && status < 0)
        s->failed = status;
}

#endif
