/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the function names of an XRay trace: see xray_script.h. */
#include "view/xray/xray_script.h"

const struct function_name *xray_script_name(struct xray_script *s, const struct xray_event *event) {
    const struct function_name *name;
    const pfr_status st = function_names_find(&s->names, event->function, &name, s->err);
    xray_script_fail(s, st);
    return st == PFR_OK ? name : NULL;
}
