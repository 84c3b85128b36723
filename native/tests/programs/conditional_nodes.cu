// Graphs that kernels steer: an if with its else, a loop inside of an if, a switch, a loop that is captured, and what is refused.
#include <cstdio>

__global__ void decide(const unsigned *value, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, *value); }
__global__ void say(int what) { printf("  body %d\n", what); }
__global__ void count_down(unsigned *value, cudaGraphConditionalHandle handle)
{
    printf("  %u left\n", *value);
    cudaGraphSetConditional(handle, --*value);
}

static cudaGraphNode_t kernel(cudaGraph_t graph, const cudaGraphNode_t *after, void *function, void **args)
{
    cudaGraphNode_t node;
    cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
    params.kernel.func = function;
    params.kernel.gridDim = params.kernel.blockDim = dim3(1, 1, 1);
    params.kernel.kernelParams = args;
    if (cudaGraphAddNode(&node, graph, after, after ? 1 : 0, &params)) printf("no kernel node\n");
    return node;
}

static cudaGraph_t *conditional(cudaGraph_t graph, const cudaGraphNode_t *after, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNode_t node;
    cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    cudaError_t error = cudaGraphAddNode(&node, graph, after, after ? 1 : 0, &params);
    if (error) printf("%s\n", cudaGetErrorString(error));
    return error ? nullptr : params.conditional.phGraph_out;
}

static void launch(cudaGraphExec_t exec, unsigned *value, unsigned first)
{
    printf("%u:\n", first);
    cudaMemcpy(value, &first, sizeof first, cudaMemcpyHostToDevice);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
}

int main()
{
    unsigned *value;
    cudaMalloc(&value, sizeof *value);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle chosen, going_on;
    int numbers[] = {0, 1, 2};
    void *bodies[][1] = {{&numbers[0]}, {&numbers[1]}, {&numbers[2]}};

    printf("if, else, and a loop in the if\n");
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&chosen, graph);
    cudaGraphConditionalHandleCreate(&going_on, graph, 1, cudaGraphCondAssignDefault);
    void *deciding[] = {&value, &chosen}, *counting[] = {&value, &going_on};
    cudaGraphNode_t first = kernel(graph, nullptr, (void *)decide, deciding);
    cudaGraph_t *both = conditional(graph, &first, chosen, cudaGraphCondTypeIf, 2);
    cudaGraph_t *loop = conditional(both[0], nullptr, going_on, cudaGraphCondTypeWhile, 1);
    kernel(loop[0], nullptr, (void *)count_down, counting);
    kernel(both[1], nullptr, (void *)say, bodies[1]);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    launch(exec, value, 0);
    launch(exec, value, 3);
    launch(exec, value, 1);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);

    printf("switch\n");
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&chosen, graph);
    first = kernel(graph, nullptr, (void *)decide, deciding);
    cudaGraph_t *three = conditional(graph, &first, chosen, cudaGraphCondTypeSwitch, 3);
    for (int i = 0; i < 3; i++) kernel(three[i], nullptr, (void *)say, bodies[i]);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    for (unsigned i = 0; i < 4; i++) launch(exec, value, i);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);

    printf("captured\n");
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&going_on, graph, 1, cudaGraphCondAssignDefault);
    loop = conditional(graph, nullptr, going_on, cudaGraphCondTypeWhile, 1);
    cudaStreamBeginCaptureToGraph(stream, loop[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal);
    say<<<1, 1, 0, stream>>>(7);
    count_down<<<1, 1, 0, stream>>>(value, going_on);
    cudaStreamEndCapture(stream, nullptr);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    launch(exec, value, 2);
    cudaGraphExecDestroy(exec);

    printf("refused\n");
    conditional(graph, nullptr, going_on, cudaGraphCondTypeWhile, 2);
    conditional(graph, nullptr, 4711, cudaGraphCondTypeIf, 1);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(value);
}
