/* An agent that does nothing, as fast as can be: what is left is our own time.

   Prints the first and the last line of a turn in Claude Code's wire format and ends. The last one
   says when main() began and when that line was written, in nanoseconds since 1970.

   BENCH_WAIT_MS    milliseconds to rest between the two
   BENCH_SIGNAL     end no turn by itself; at each SIGUSR1 print the first line again, at SIGUSR2 one
                    that tells of a tool in use, as long as such lines are, at SIGHUP end the turn  */

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void begin(void)
{
    printf("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"bench\",\"model\":\"none\","
           "\"mcp_servers\":[{\"name\":\"quarterdeck\",\"status\":\"connected\"}]}\n");
    fflush(stdout);
}

static void work(void)
{
    static int count;
    static char padding[3000];
    unsigned i;

    for (i = 0; i < sizeof padding - 1; i++)
        padding[i] = 'a' + i % 26;
    printf("{\"type\":\"assistant\",\"session_id\":\"bench\",\"message\":{\"role\":\"assistant\",\"content\":"
           "[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":"
           "{\"command\":\"step %d %s\"}}]}}\n", ++count, padding);
    fflush(stdout);
}

int main(void)
{
    long long started = now();
    const char *wait = getenv("BENCH_WAIT_MS");
    sigset_t told;
    int number = 0;

    sigemptyset(&told);
    sigaddset(&told, SIGUSR1);
    sigaddset(&told, SIGUSR2);
    sigaddset(&told, SIGHUP);
    sigprocmask(SIG_BLOCK, &told, NULL);
    begin();
    while (getenv("BENCH_SIGNAL") && number != SIGHUP)
        if (!sigwait(&told, &number) && number != SIGHUP)
            (number == SIGUSR1 ? begin : work)();
    if (wait)
        usleep((useconds_t)atoi(wait) * 1000);
    printf("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,"
           "\"total_cost_usd\":0,\"session_id\":\"bench\",\"result\":\"started %lld done %lld\"}\n",
           started, now());
    fflush(stdout);
    return 0;
}
