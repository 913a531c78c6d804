/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_VARIANT_H
#define PFR_WIRE_VARIANT_H
/*
 * Probes for layouts that are not determined by an id or a mask, but by the content or length of the bytes. The result
 * is stored in WORD_VARIANT before layout_read. Its meaning depends on the layout:
 *
 *     mmap2                            bit 0: Linux 3.12 to 3.15, without prot and flags
 *     build_id_entry, feature_build_id bit 0: before Linux 2.6.36, without pid
 *     feature_auxtrace                 bit 0: simpleperf's, without a count
 *     bpf_metadata                     bytes of prog_name, the writer's KSYM_NAME_LEN
 */
#include "wire/layout.h"

/*
 * The value of WORD_VARIANT for these bytes: a whole record with its 8-byte header (its tail may be among the bytes),
 * a whole feature payload, or one build_id_entry. 0 where the layout has no probe or the probe finds nothing.
 */
uint64_t variant_of(unsigned layout_number, const uint8_t *bytes, size_t size, const struct pfr_context *c);

#endif
