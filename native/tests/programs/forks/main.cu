#include <atomic>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

__global__ void add(int *p, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] += by;
}
__global__ void collide(int *p) { p[0] = threadIdx.x; }

/* Blocks enough for several CPU threads. */
const int blocks = 64, count = blocks * 64;

static int work(int *p, int by)
{
    static int host[count];
    add<<<blocks, 64>>>(p, by);
    cudaError_t error = cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    return error ? -(int)error : host[count - 1];
}

static int *zeros()
{
    int *p;
    cudaMalloc(&p, count * sizeof(int));
    cudaMemset(p, 0, count * sizeof(int));
    return p;
}

template <typename F> static void in_child(const char *name, F f)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) exit(f());
    int status;
    waitpid(child, &status, 0);
    printf("%s: %s %d\n", name, WIFEXITED(status) ? "ended with" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

int main(int, char **argv)
{
    auto is = [argv](const char *how) { return !strcmp(argv[1], how); };
    if (is("before"))
        for (int i = 0; i < 3; i++) in_child("child", [=] { return work(zeros(), i); });
    if (is("after")) {
        int *p = zeros();
        printf("parent %d\n", work(p, 1));
        in_child("child", [=] { return work(p, 10); });
        printf("parent %d\n", work(p, 1));
        in_child("child without work", [] { return 5; });
    }
    if (is("threads")) {
        std::atomic<bool> is_over{false};
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; i++) threads.emplace_back([&] { for (int *p = zeros(); !is_over;) work(p, 1); });
        for (int i = 0; i < 5; i++) in_child("child", [] { return work(zeros(), 7); });
        is_over = true;
        for (auto &thread : threads) thread.join();
        fflush(stdout);
        _exit(0);
    }
    if (is("race")) in_child("child", [] { return collide<<<1, 64>>>(zeros()), 0; });
    if (is("exec")) {
        work(zeros(), 1);
        in_child("child", [argv] { return execl(argv[0], argv[0], "before", nullptr); });
    }
}
