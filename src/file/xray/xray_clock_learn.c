/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clock pairs of a flight-recorder trace before its records are read. */
#include "file/xray/xray.h"
#include "file/xray/xray_calls.h"

#define CALLS_AT_ONCE 256u

pfr_status xray_clock_learn(pfr_reader *r, pfr_error *err) {
    struct xray_call calls[CALLS_AT_ONCE];
    pfr_record rec;
    pfr_status st;
    if (!r->trace || r->header.format != PFR_XRAY_FDR || r->header.cycle_frequency == 0 || r->trace->clock.learned)
        return PFR_OK;
    PFR_TRY(pfr_rewind(r, err));
    while ((st = pfr_next(r, &rec, NULL)) >= 0 && st != PFR_END)
        while (xray_take_calls(r, calls, CALLS_AT_ONCE) > 0)
            ;
    r->trace->clock.learned = true;
    return pfr_rewind(r, err);
}
