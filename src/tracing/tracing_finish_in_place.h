/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TRACING_TRACING_FINISH_IN_PLACE_H
#define PFR_TRACING_TRACING_FINISH_IN_PLACE_H
/*
 * Finishes a large trace in place: a copy would need its size again on disk, and time. No data is moved; the control
 * block is set to RTF_SETTLED, and the file is truncated after the last used slot.
 *
 * The trace stays valid if the process is killed, since it is valid after each step: an empty buffer after the last
 * slot, the control block in one write within a page, the truncation. No other process may have the file mapped then,
 * or the truncation would cause its SIGBUS. A lease (fcntl(2)) is granted only if no other process has the file open,
 * and a mapping keeps it open. Without a lease the trace is copied.
 */
#include "wire/recorder_pack.h"

/* Whether the trace is large and its slots contain almost only records. */
bool tracing_may_settle(const struct rtf_control *control, const struct rtf_use *use);

/* Whether another process can write to the file, which is open read-only here. false if the system cannot tell. */
bool tracing_is_written(int fd);

/*
 * The file is open once in this process, for reading and writing. false: not done, and the trace is as valid as
 * before.
 */
bool tracing_settle(int fd, const struct rtf_pack *pack, const struct rtf_use *use);

#endif
