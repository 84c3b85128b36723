// Graphs that a program builds, asks about, copies and changes.
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                                        \
    if (cudaError_t error = (call)) printf("line %d: %s\n", __LINE__, cudaGetErrorName(error))

struct Pair { float by; short shift; };
__constant__ int table[2];

__global__ void scale(float *x, Pair pair, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] = x[threadIdx.x] * pair.by + pair.shift + table[0];
}

static int calls;
static void count(void *by) { calls += *(int *)by; }

int main()
{
    const int n = 32;
    float host[n], *x;
    CHECK(cudaMalloc(&x, sizeof host));
    cudaGraph_t graph, child, clone;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&child, 0));
    cudaGraphNode_t set, copy, kernel, hosts, empty, inner, table_node;

    int numbers[2] = {5, 0}, by = 1;
    int size = n;
    Pair pair = {2, 1};
    void *args[] = {&x, &pair, &size};
    cudaKernelNodeParams launch = {(void *)scale, dim3(1), dim3(32), 0, args, nullptr};
    CHECK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch));
    cudaMemsetParams fill = {x, 0, 0x40400000, 4, n, 1};
    CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
    // Added later, but done first.
    CHECK(cudaGraphAddDependencies(graph, &set, &kernel, 1));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&table_node, graph, nullptr, 0, table, numbers, sizeof numbers, 0, cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddDependencies(graph, &table_node, &kernel, 1));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, x, sizeof host, cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {count, &by};
    CHECK(cudaGraphAddHostNode(&hosts, child, nullptr, 0, &call));
    CHECK(cudaGraphAddChildGraphNode(&inner, graph, &copy, 1, child));
    CHECK(cudaGraphAddEmptyNode(&empty, graph, &inner, 1));

    size_t nodes = 0, edges = 0, roots = 0, before = 0, behind = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    std::vector<cudaGraphNode_t> all(nodes);
    CHECK(cudaGraphGetNodes(graph, all.data(), &nodes));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(cudaGraphNodeGetDependencies(kernel, nullptr, &before));
    CHECK(cudaGraphNodeGetDependentNodes(kernel, nullptr, &behind));
    printf("%zu nodes, %zu edges, %zu roots, %zu before, %zu behind; types", nodes, edges, roots, before, behind);
    for (cudaGraphNode_t node : all) {
        cudaGraphNodeType type;
        CHECK(cudaGraphNodeGetType(node, &type));
        printf(" %d", type);
    }
    printf("\n");

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    printf("3 * 2 + 1 + 5 = %g, calls %d\n", host[31], calls);

    cudaKernelNodeParams known = {};
    CHECK(cudaGraphKernelNodeGetParams(kernel, &known));
    ((Pair *)known.kernelParams[1])->by = 10;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &known));
    fill.value = 0x3f800000;
    CHECK(cudaGraphExecMemsetNodeSetParams(exec, set, &fill));
    CHECK(cudaGraphLaunch(exec, 0));
    printf("1 * 10 + 1 + 5 = %g\n", host[31]);

    CHECK(cudaGraphNodeSetEnabled(exec, kernel, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    printf("1 = %g\n", host[31]);

    CHECK(cudaGraphClone(&clone, graph));
    cudaGraphNode_t twin;
    CHECK(cudaGraphNodeFindInClone(&twin, kernel, clone));
    pair.shift = -7;
    CHECK(cudaGraphKernelNodeSetParams(twin, &launch));
    cudaGraphExecUpdateResultInfo result;
    CHECK(cudaGraphNodeSetEnabled(exec, kernel, 1));
    CHECK(cudaGraphExecUpdate(exec, clone, &result));
    CHECK(cudaGraphLaunch(exec, 0));
    printf("3 * 2 - 7 + 5 = %g\n", host[31]);

    CHECK(cudaGraphDestroyNode(empty));
    printf("another shape: %s, result %d\n", cudaGetErrorName(cudaGraphExecUpdate(exec, graph, &result)), result.result);
    CHECK(cudaGraphAddDependencies(graph, &copy, &set, 1));
    cudaGraphExec_t none;
    printf("a circle: %s\n", cudaGetErrorName(cudaGraphInstantiate(&none, graph, 0)));
    CHECK(cudaGraphRemoveDependencies(graph, &copy, &set, 1));
    CHECK(cudaGraphInstantiate(&none, graph, 0));

    cudaStream_t a, b;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(x, 0, sizeof host, a));
    CHECK(cudaEventRecord(fork, a));
    CHECK(cudaStreamWaitEvent(b, fork, 0));
    scale<<<1, 32, 0, b>>>(x, pair, n);
    scale<<<1, 32, 0, a>>>(x, pair, n);
    CHECK(cudaEventRecord(join, b));
    CHECK(cudaStreamWaitEvent(a, join, 0));
    CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, a));
    cudaGraph_t captured;
    CHECK(cudaStreamEndCapture(a, &captured));
    CHECK(cudaGraphGetEdges(captured, nullptr, nullptr, &edges));
    CHECK(cudaGraphGetRootNodes(captured, nullptr, &roots));
    printf("captured: %zu edges, %zu root\n", edges, roots);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(captured));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(clone));
}
