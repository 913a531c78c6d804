/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TRACING_TRACING_FINISH_IN_PLACE_H
#define PFR_TRACING_TRACING_FINISH_IN_PLACE_H
/*
 * Finishes a large trace in place, because a copy would need time and as much disk space again. No data are moved; the
 * control block is set to RTF_SETTLED, and the file is truncated after the last used slot.
 *
 * The trace is valid after each step, so it stays valid if the process is killed. The steps are: write an empty buffer
 * after the last slot, write the control block (one write within a page), truncate. No other process may have the file
 * mapped during the truncation, or it could get SIGBUS. A lease (fcntl(2)) is granted only if no other process has the
 * file open or mapped. Without a lease the trace is copied.
 */
#include "wire/recorder_pack.h"

/* Whether the trace is large and its slots contain almost only records. */
bool tracing_may_settle(const struct rtf_control *control, const struct rtf_use *use);

/* Whether another process has the file open for writing; this process has opened it read-only. Returns false if the
 * system cannot tell. */
bool tracing_is_written(int fd);

/*
 * `fd` must be the only open descriptor of the file in this process, open for reading and writing. Returns false if the
 * trace could not be finished; the trace is then as valid as before.
 */
bool tracing_settle(int fd, const struct rtf_pack *pack, const struct rtf_use *use);

#endif
