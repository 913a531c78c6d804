/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_ANY_LAYOUT_H
#define PFR_WIRE_ANY_LAYOUT_H
/* Room for one record or part of whatever layout: grows with the tables by itself. */
#include "wire/layout.h"

#include <perfray/record_structs.h>

union any_layout {
#define LAYOUT(id, name, doc) struct pfr_rec_##name as_##name;
#define F(...)
#define END
#include "wire/layouts.def"
};

#endif
