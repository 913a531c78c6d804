/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TRACING_TRACING_FINISH_IN_PLACE_H
#define PFR_TRACING_TRACING_FINISH_IN_PLACE_H
/*
 * A large trace is finished where it lies: to copy it would take its size once more of the disk, and time. Nothing is
 * moved; the control block says RTF_SETTLED, and the file ends behind the last slot that was used.
 *
 * Whoever is killed at it leaves a whole trace, since each step does: an empty buffer behind the last slot, the control
 * block in one write within a page, the cut. Nobody else may have the file mapped then, or the cut would be his SIGBUS:
 * a lease (fcntl(2)) is had only while nobody else has it open, and a mapping holds it open. Where there is none to be
 * had the trace is copied.
 */
#include "wire/recorder_pack.h"

/* Whether it is large, and has next to nothing but records in its slots. */
bool tracing_may_settle(const struct rtf_control *control, const struct rtf_use *use);

/* Whether somebody can write into the file, which is open here for reading alone. Where the system does not tell:
   false. */
bool tracing_is_written(int fd);

/* The file is open here once, for reading and writing. false: not done, and it is as valid as before. */
bool tracing_settle(int fd, const struct rtf_pack *pack, const struct rtf_use *use);

#endif
