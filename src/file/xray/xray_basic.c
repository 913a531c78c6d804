/* SPDX-License-Identifier: Apache-2.0 */
/* Basic logs: records of one size, each with its own time, thread and cpu. So an invalid record costs only itself. */
#include "file/xray/xray_basic.h"
#include "file/xray/fdr_records.h"
#include "file/xray/xray_next.h"
#include "wire/any_layout.h"

enum { BASIC_FUNCTION = 32, BASIC_ARGUMENT };

void basic_learn(pfr_reader *r) {
    r->trace->basic = (struct basic_places){.action = xray_field_place(r, L_basic_function, "action"),
                                            .function = xray_field_place(r, L_basic_function, "function"),
                                            .tsc = xray_field_place(r, L_basic_function, "tsc"),
                                            .tid = xray_field_place(r, L_basic_function, "tid"),
                                            .cpu = xray_field_place(r, L_basic_function, "cpu")};
    if (r->trace->version >= 3)
        r->trace->basic.pid = xray_field_place(r, L_basic_function, "pid");
}

static pfr_status no_record(pfr_reader *r, const char *what, unsigned number, pfr_error *err) {
    r->trace->call.any = false;
    return xray_hole(r, &r->damage.quality.bad_records, r->cursor.at + BASIC_RECORD, err, "record",
                     "%s %u, which no version has", what, number);
}

static pfr_status on_function(pfr_reader *r, pfr_record *rec, const uint8_t *bytes,
                              const struct pfr_rec_basic_function *call, pfr_error *err) {
    struct xray_trace *t = r->trace;
    if (call->action > PFR_TRACE_ENTER_ARGUMENT)
        return no_record(r, "a record of action", call->action, err);
    t->call = (struct basic_call){true, call->function, call->tid, call->pid};
    t->point = (pfr_trace_point){.tsc = call->tsc,
                                 .tid = (int32_t)call->tid,
                                 .pid = (int32_t)call->pid,
                                 .cpu = call->cpu,
                                 .timed = true,
                                 .has_tid = true,
                                 .has_pid = t->version >= 3};
    xray_give(r, rec, BASIC_FUNCTION, bytes, BASIC_RECORD);
    return PFR_OK;
}

static pfr_status on_argument(pfr_reader *r, pfr_record *rec, const uint8_t *bytes,
                              const struct pfr_rec_basic_argument *argument, pfr_error *err) {
    struct xray_trace *t = r->trace;
    const struct basic_call *call = &t->call;
    const bool fits =
        call->any && call->function == argument->function && call->tid == argument->tid && call->pid == argument->pid;
    if (!fits && !t->reported) {
        t->reported = true;
        return xray_hole(r, &r->damage.quality.bad_order, r->cursor.at, err, "basic_argument",
                         "an argument of function %d, but the previous record is of another function",
                         (int)argument->function);
    }
    t->reported = false;
    xray_give(r, rec, BASIC_ARGUMENT, bytes, BASIC_RECORD);
    return PFR_OK;
}

pfr_status basic_next(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    union any_layout body;
    const uint8_t *bytes;
    size_t have;
    PFR_TRY(xray_window(r, BASIC_RECORD, &bytes, &have, err));
    if (have == 0)
        return xray_end(r, err);
    if (have < BASIC_RECORD)
        return xray_cut(r, have, BASIC_RECORD - have, err, "the last record is cut short");
    const uint16_t kind = load_u16(bytes, r->context.swap);
    struct cursor in = cursor_on(bytes, BASIC_RECORD, r->cursor.at, r->context.swap);
    if (kind > 1)
        return no_record(r, "a record of kind", kind, err);
    PFR_TRY(layout_read(layout_at(kind ? L_basic_argument : L_basic_function), &r->context, &in, &body, err));
    return kind ? on_argument(r, rec, bytes, &body.as_basic_argument, err)
                : on_function(r, rec, bytes, &body.as_basic_function, err);
}
