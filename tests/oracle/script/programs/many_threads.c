/* SPDX-License-Identifier: Apache-2.0 */
/* Runs COUNT threads at once, each with its own name. Usage: `threads COUNT`. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

static volatile unsigned long counter;

static void *work(void *given) {
    char name[16];
    snprintf(name, sizeof name, "worker %d", *(int *)given);
    prctl(PR_SET_NAME, name);
    for (unsigned long i = 0; i < 1500000; i++)
        counter += i;
    return NULL;
}

int main(int count, char **words) {
    enum { MOST = 1000 };
    static pthread_t threads[MOST];
    static int numbers[MOST];
    int wanted = count > 1 ? atoi(words[1]) : 200, made = 0;
    while (made < wanted && made < MOST) {
        numbers[made] = made;
        if (pthread_create(&threads[made], NULL, work, &numbers[made]))
            break;
        made++;
    }
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    return made == wanted ? 0 : 1;
}
