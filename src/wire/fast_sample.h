/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_FAST_SAMPLE_H
#define PFR_WIRE_FAST_SAMPLE_H
/*
 * Straight-line readers of the layouts of perf_sample.def and perf_state.def: the compiler makes them from the same
 * tables, and they fill the same structs as layout_read. false: the bytes do not fit; call layout_read, which names the
 * field.
 */
#include "wire/layout.h"

#include <perfray/record_structs.h>

#define LAYOUT(id, name, doc)                                                                                          \
    bool fast_##name(const struct pfr_context *c, struct cursor *in, struct pfr_rec_##name *r);
#define F(...)
#define END
#include "wire/perf_sample.def"
#include "wire/perf_state.def"
#undef LAYOUT
#undef F
#undef END

/* As fast_sample, for a struct that fast_sample filled before with the same context and that has not been changed
   since. Members absent in the context are still zero. They are not cleared again, which saves most of the stores. */
bool fast_sample_again(const struct pfr_context *c, struct cursor *in, struct pfr_rec_sample *r);

#endif
