/* SPDX-License-Identifier: Apache-2.0 */
/* Eight threads and the thread that creates them, with deep and wide recursion. */
#include "said.h"

TRACED static long fib(long n) {
    say("+fib");
    const long result = n < 2 ? n : fib(n - 1) + fib(n - 2);
    say("-fib");
    return result;
}

TRACED static long even(long n);

TRACED static long odd(long n) {
    say("+odd");
    const long result = n == 0 ? 0 : even(n - 1);
    say("-odd");
    return result;
}

TRACED static long even(long n) {
    say("+even");
    const long result = n == 0 ? 1 : odd(n - 1);
    say("-even");
    return result;
}

TRACED void *work(void *number) {
    say("+work");
    long sum = 0;
    for (long i = 0; i < 20; i++)
        sum += fib(5 + (long)number % 3) + even(i * 2);
    say("-work");
    return (void *)sum;
}

UNSEEN static void *program(void *unused) {
    pthread_t threads[8];
    for (long i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    work(unused);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return NULL;
}

UNSEEN int main(void) {
    return traced(program);
}
