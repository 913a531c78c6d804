/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_XRAY_SCRIPT_H
#define PFR_VIEW_XRAY_SCRIPT_H
/*
 * The script of an XRay trace: prints one call, exit or event at a time, in time order.
 *
 *     xray_script.c          checks options; the loop; notes on facts that the text omits
 *     xray_script_filter.c   selects events
 *     xray_script_fields.c   selects their fields
 *     xray_script_text.c     prints text and JSON lines
 *     xray_script_yaml.c     prints YAML like llvm-xray convert
 *     xray_script_map.c      prints a map like llvm-xray extract
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
    TRACE_FIELD_SYM = 32,   /* name of the function */
    TRACE_FIELD_DSO = 64,   /* object of the function */
    TRACE_FIELD_TRACE = 128 /* arguments of calls, payloads of events */
};
#define TRACE_FIELDS_ALL 255u
#define TRACE_FIELDS_USUAL (TRACE_FIELDS_ALL & ~(unsigned)TRACE_FIELD_DSO) /* default fields of text */

/* How events are printed. Printers return no errors; they store them in s->failed. */
struct xray_script_form {
    void (*begin)(struct xray_script *s);
    void (*event)(struct xray_script *s, const struct xray_event *event); /* a selected event */
    void (*end)(struct xray_script *s);
    void (*see)(struct xray_script *s,
                const struct xray_event *event); /* every event, also those not selected; may be NULL */
    void (*free)(struct xray_script *s);         /* also after a failure; may be NULL */
};

struct xray_script {
    const pfr_script_options *options;
    pfr_reader *reader;
    struct memory *memory; /* belongs to the reader */
    pfr_output *to;
    struct output *out;
    const struct xray_script_form *form;
    struct function_names names;
    struct xray_order *order;
    unsigned fields; /* enum xray_field */
    struct sample_filter filter;
    struct u64_map wanted;   /* function -> whether --symbols and --dsos select it */
    struct u64_map shown;    /* functions that the map form has already printed */
    struct xray_clock clock; /* frequency 0: unknown */
    bool in_ticks;           /* printed times are ticks */
    uint64_t clock_zero;     /* ns (or ticks) of the origin of printed times */
    bool has_zero;           /* clock_zero is known */
    struct yaml_state *yaml; /* state of the YAML form */
    uint64_t cut_payloads;   /* number of payloads that the form truncates */
    pfr_status failed;
    pfr_error *err;
};

extern const struct xray_script_form xray_text_form, xray_json_form, xray_yaml_form, xray_map_form;

/* The name of a call's function; NULL: the error is in s->failed. */
const struct function_name *xray_script_name(struct xray_script *s, const struct xray_event *event);

/* xray_script_fields.c: the fields that the lists of --fields select. `lists` is NULL or ends with NULL. PFR_ERR_USAGE:
   XRay traces have no such field. */
pfr_status xray_fields_read(const char *const *lists, unsigned *fields, pfr_error *err);

/* xray_script_filter.c: reads the options that select events; call it when s->order is open. */
pfr_status xray_filter_make(struct xray_script *s, pfr_error *err);
void xray_filter_free(struct xray_script *s);
bool xray_filter_wants(struct xray_script *s, const struct xray_event *event);

/* xray_script.c: pfr_script_print for a reader whose recording is an XRay trace. */
pfr_status xray_script_print(pfr_reader *reader, const pfr_script_options *options, pfr_output *out, pfr_error *err);

static inline bool xray_is_call(const struct xray_event *event) {
    return event->kind <= TRACE_ENTER_ARGUMENT;
}

static inline void xray_script_fail(struct xray_script *s, pfr_status status) {
    if (s->failed >= 0 && status < 0)
        s->failed = status;
}

#endif
