// What a program's own functions do when the runtime calls them: they call it again, end the process, throw, and handle signals.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int *p) { atomicAdd(p, 1); }
static int *counter;

static void CUDART_CB calls_again(void *) { add<<<1, 32>>>(counter); }
static void CUDART_CB throws(void *) { throw std::runtime_error("from a callback"); }
static void CUDART_CB ends(void *) { exit(9); }
static void handler(int signal) { printf("signal %d\n", signal); }
static jmp_buf before;
static void jumps(int) { longjmp(before, 1); }

template <typename F> static void in_child(const char *name, F f)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        f();
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%s: %s %d\n", name, WIFEXITED(status) ? "ended with" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

int main()
{
    cudaMallocManaged(&counter, sizeof(int));
    cudaLaunchHostFunc(0, calls_again, nullptr);
    cudaDeviceSynchronize();
    printf("%d\n", *counter);
    try {
        add<<<1, 32>>>(counter);
        throw std::runtime_error("between calls");
    } catch (const std::exception &error) {
        cudaDeviceSynchronize();
        printf("%s, %d\n", error.what(), *counter);
    }
    in_child("throws", [] { cudaLaunchHostFunc(0, throws, nullptr); });
    in_child("ends", [] { cudaLaunchHostFunc(0, ends, nullptr); });
    signal(SIGUSR1, handler);
    signal(SIGSEGV, jumps);
    raise(SIGUSR1);
    int *device;
    cudaMalloc(&device, 4096);
    if (setjmp(before) == 0) *(volatile int *)16 = 1;
    else printf("a handler of the program's own\n");
    add<<<1, 32>>>(counter);
    cudaDeviceSynchronize();
    printf("%d\n", *counter);
    signal(SIGSEGV, SIG_DFL);
    in_child("a bad access", [] { *(volatile int *)16 = 1; });
    cudaFree(counter);
    cudaFree(device);
}
