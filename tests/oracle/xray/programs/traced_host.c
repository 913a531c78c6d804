/* SPDX-License-Identifier: Apache-2.0 */
/* A program that calls a shared object, which calls it back. */
#include "said.h"

long in_the_plug_in(long n);

TRACED long call_back(long n) {
    say("+call_back");
    const long result = n * 2;
    say("-call_back");
    return result;
}

TRACED long ask(long n) {
    say("+ask");
    const long result = in_the_plug_in(n) + call_back(n);
    say("-ask");
    return result;
}

UNSEEN static void *program(void *unused) {
    long sum = 0;
    for (long i = 0; i < 10; i++)
        sum += ask(i);
    return sum ? unused : NULL;
}

UNSEEN int main(void) {
    return traced(program);
}
