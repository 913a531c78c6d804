/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object with traced functions that call back into the program. Runtimes before LLVM 20 trace only the
 * program. */
#include "said.h"

long call_back(long n);

TRACED long in_the_plug_in(long n) {
    return call_back(n) + 1;
}
