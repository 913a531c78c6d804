/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_ANY_LAYOUT_H
#define PFR_WIRE_ANY_LAYOUT_H
/* A union of the structs of all layouts: room for any decoded record or part. The tables generate its members. */
#include "wire/layout.h"

#include <perfray/record_structs.h>

union any_layout {
#define LAYOUT(id, name, doc) struct pfr_rec_##name as_##name;
#define F(...)
#define END
#include "wire/layouts.def"
};

#endif
