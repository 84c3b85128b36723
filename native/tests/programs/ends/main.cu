// The ways a process can end: each leaves its own exit code, and none hangs or hides what the program did.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void triple(int *p)
{
    p[threadIdx.x] = threadIdx.x * 3;
}

static void endless(int *p)
{
    for (;;) {
        triple<<<1, 32>>>(p);
        cudaDeviceSynchronize();
    }
}

int main(int, char **argv)
{
    int *p;
    cudaMalloc(&p, 32 * sizeof(int));
    triple<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    const char *how = argv[1];
    auto is = [how](const char *name) { return strcmp(how, name) == 0; };
    if (is("signal")) raise(SIGSEGV);
    if (is("terminate")) kill(getpid(), SIGTERM), pause();
    if (is("abort")) abort();
    if (is("exception")) throw std::runtime_error("nobody catches it");
    if (is("exit in a thread")) std::thread([] { exit(4); }).join();
    if (is("exit beside a launch")) {
        std::thread(endless, p).detach();
        usleep(50000);
        exit(5);
    }
    if (is("_exit")) _exit(7);
    if (is("quick_exit")) quick_exit(6);
    if (is("reset at exit")) {
        atexit([] { printf("reset: %d\n", cudaDeviceReset()); });
        return 2;
    }
    if (is("fork")) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            triple<<<1, 32>>>(p);
            int last;
            cudaMemcpy(&last, p + 31, sizeof(int), cudaMemcpyDeviceToHost);
            return last;
        }
        int status;
        waitpid(child, &status, 0);
        printf("the child ended with %d\n", WEXITSTATUS(status));
    }
}
