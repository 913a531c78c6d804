/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object with functions of its own, which call back. Runtimes before LLVM 20 trace only what is in the
 * program. */
#include "said.h"

long call_back(long n);

TRACED long in_the_plug_in(long n) {
    return call_back(n) + 1;
}
