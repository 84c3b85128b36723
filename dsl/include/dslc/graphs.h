/* Graphs: their types and functions, included by cuda_runtime_api.h. */
#ifndef DSLC_GRAPHS_H
#define DSLC_GRAPHS_H

typedef enum cudaGraphNodeType {
    cudaGraphNodeTypeKernel = 0, cudaGraphNodeTypeMemcpy = 1, cudaGraphNodeTypeMemset = 2, cudaGraphNodeTypeHost = 3,
    cudaGraphNodeTypeGraph = 4, cudaGraphNodeTypeEmpty = 5, cudaGraphNodeTypeWaitEvent = 6, cudaGraphNodeTypeEventRecord = 7,
    cudaGraphNodeTypeExtSemaphoreSignal = 8, cudaGraphNodeTypeExtSemaphoreWait = 9, cudaGraphNodeTypeMemAlloc = 10,
    cudaGraphNodeTypeMemFree = 11, cudaGraphNodeTypeConditional = 13, cudaGraphNodeTypeCount
} cudaGraphNodeType;
typedef enum cudaGraphInstantiateFlags {
    cudaGraphInstantiateFlagAutoFreeOnLaunch = 1, cudaGraphInstantiateFlagUpload = 2, cudaGraphInstantiateFlagDeviceLaunch = 4,
    cudaGraphInstantiateFlagUseNodePriority = 8
} cudaGraphInstantiateFlags;
typedef enum cudaGraphExecUpdateResult {
    cudaGraphExecUpdateSuccess = 0, cudaGraphExecUpdateError = 1, cudaGraphExecUpdateErrorTopologyChanged = 2,
    cudaGraphExecUpdateErrorNodeTypeChanged = 3, cudaGraphExecUpdateErrorFunctionChanged = 4,
    cudaGraphExecUpdateErrorParametersChanged = 5, cudaGraphExecUpdateErrorNotSupported = 6,
    cudaGraphExecUpdateErrorUnsupportedFunctionChange = 7, cudaGraphExecUpdateErrorAttributesChanged = 8
} cudaGraphExecUpdateResult;
typedef struct cudaGraphExecUpdateResultInfo {
    enum cudaGraphExecUpdateResult result;
    cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
typedef enum cudaGraphInstantiateResult { cudaGraphInstantiateSuccess = 0, cudaGraphInstantiateError = 1 } cudaGraphInstantiateResult;
typedef struct cudaGraphInstantiateParams {
    unsigned long long flags;
    cudaStream_t uploadStream;
    cudaGraphNode_t errNode_out;
    enum cudaGraphInstantiateResult result_out;
} cudaGraphInstantiateParams;
typedef enum cudaStreamUpdateCaptureDependenciesFlags {
    cudaStreamAddCaptureDependencies = 0, cudaStreamSetCaptureDependencies = 1
} cudaStreamUpdateCaptureDependenciesFlags;
typedef struct cudaGraphEdgeData { unsigned char from_port, to_port, type, reserved[5]; } cudaGraphEdgeData;
typedef unsigned long long cudaGraphConditionalHandle;
enum cudaGraphConditionalHandleFlags { cudaGraphCondAssignDefault = 1 };
typedef enum cudaGraphConditionalNodeType {
    cudaGraphCondTypeIf = 0, cudaGraphCondTypeWhile = 1, cudaGraphCondTypeSwitch = 2
} cudaGraphConditionalNodeType;
typedef struct cudaConditionalNodeParams {
    cudaGraphConditionalHandle handle;
    enum cudaGraphConditionalNodeType type;
    unsigned int size;
    cudaGraph_t *phGraph_out;
} cudaConditionalNodeParams;
typedef struct cudaMemAllocNodeParams {
    cudaMemPoolProps poolProps;
    const cudaMemAccessDesc *accessDescs;
    size_t accessDescCount, bytesize;
    void *dptr;
} cudaMemAllocNodeParams;
typedef cudaMemAllocNodeParams cudaMemAllocNodeParamsV2;
typedef struct cudaMemFreeNodeParams { void *dptr; } cudaMemFreeNodeParams;
typedef cudaKernelNodeParams cudaKernelNodeParamsV2;
typedef cudaMemsetParams cudaMemsetParamsV2;
typedef cudaHostNodeParams cudaHostNodeParamsV2;
typedef struct cudaMemcpyNodeParams {
    int flags, reserved[3];
    struct cudaMemcpy3DParms copyParams;
} cudaMemcpyNodeParams;
typedef struct cudaChildGraphNodeParams { cudaGraph_t graph; } cudaChildGraphNodeParams;
typedef struct cudaEventWaitNodeParams { cudaEvent_t event; } cudaEventWaitNodeParams;
typedef struct cudaEventRecordNodeParams { cudaEvent_t event; } cudaEventRecordNodeParams;
/* Any kind of node: what it is, and what that kind says. */
typedef struct cudaGraphNodeParams {
    enum cudaGraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        cudaKernelNodeParamsV2 kernel;
        cudaMemcpyNodeParams memcpy;
        cudaMemsetParamsV2 memset;
        cudaHostNodeParamsV2 host;
        cudaChildGraphNodeParams graph;
        cudaEventWaitNodeParams eventWait;
        cudaEventRecordNodeParams eventRecord;
        cudaMemAllocNodeParamsV2 alloc;
        cudaMemFreeNodeParams free;
        cudaConditionalNodeParams conditional;
    };
    long long reserved2;
} cudaGraphNodeParams;
typedef enum cudaGraphMemAttributeType {
    cudaGraphMemAttrUsedMemCurrent = 0, cudaGraphMemAttrUsedMemHigh = 1, cudaGraphMemAttrReservedMemCurrent = 2,
    cudaGraphMemAttrReservedMemHigh = 3
} cudaGraphMemAttributeType;

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id DSLC_DEFAULT(0), cudaGraph_t *graph DSLC_DEFAULT(0), const cudaGraphNode_t **after DSLC_DEFAULT(0), size_t *count DSLC_DEFAULT(0));
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *after, size_t count, unsigned int flags DSLC_DEFAULT(0));
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone);
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags DSLC_DEFAULT(0));
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result);
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int is_enabled);
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *is_enabled);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
/* A kind of node: to add one, to ask what it is, to change it in a graph and in an executable one. */
#define DSLC_NODES(Name, Params)                                                                                                     \
    cudaError_t cudaGraphAdd##Name##Node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const Params *params); \
    cudaError_t cudaGraph##Name##NodeGetParams(cudaGraphNode_t node, Params *params);                                                \
    cudaError_t cudaGraph##Name##NodeSetParams(cudaGraphNode_t node, const Params *params);                                          \
    cudaError_t cudaGraphExec##Name##NodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const Params *params);
DSLC_NODES(Kernel, cudaKernelNodeParams)
DSLC_NODES(Memcpy, cudaMemcpy3DParms)
DSLC_NODES(Memset, cudaMemsetParams)
DSLC_NODES(Host, cudaHostNodeParams)
#undef DSLC_NODES
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaGraph_t child);
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph);
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child);
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaEvent_t event);
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaEvent_t event);
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaMemAllocNodeParams *params);
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *pointer);
cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value);
cudaError_t cudaDeviceGraphMemTrim(int device);
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned int value DSLC_DEFAULT(0), unsigned int flags DSLC_DEFAULT(0));
cudaError_t __dslcGraphAddConditional(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, unsigned long long handle, unsigned int type, unsigned int size, cudaGraph_t **graphs);
static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaGraphNodeParams *params)
{
    switch (params->type) {
    case cudaGraphNodeTypeKernel: return cudaGraphAddKernelNode(node, graph, after, count, &params->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphAddMemcpyNode(node, graph, after, count, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphAddMemsetNode(node, graph, after, count, &params->memset);
    case cudaGraphNodeTypeHost: return cudaGraphAddHostNode(node, graph, after, count, &params->host);
    case cudaGraphNodeTypeGraph: return cudaGraphAddChildGraphNode(node, graph, after, count, params->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeWaitEvent: return cudaGraphAddEventWaitNode(node, graph, after, count, params->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return cudaGraphAddEventRecordNode(node, graph, after, count, params->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return cudaGraphAddMemAllocNode(node, graph, after, count, &params->alloc);
    case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(node, graph, after, count, params->free.dptr);
    case cudaGraphNodeTypeConditional: return __dslcGraphAddConditional(node, graph, after, count, params->conditional.handle, params->conditional.type, params->conditional.size, &params->conditional.phGraph_out);
    default: return cudaErrorNotSupported;
    }
}
static inline cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *params)
{
    switch (params->type) {
    case cudaGraphNodeTypeKernel: return cudaGraphKernelNodeSetParams(node, &params->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphMemcpyNodeSetParams(node, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphMemsetNodeSetParams(node, &params->memset);
    case cudaGraphNodeTypeHost: return cudaGraphHostNodeSetParams(node, &params->host);
    default: return cudaErrorNotSupported;
    }
}
static inline cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams *params)
{
    switch (params->type) {
    case cudaGraphNodeTypeKernel: return cudaGraphExecKernelNodeSetParams(exec, node, &params->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphExecMemsetNodeSetParams(exec, node, &params->memset);
    case cudaGraphNodeTypeHost: return cudaGraphExecHostNodeSetParams(exec, node, &params->host);
    default: return cudaErrorNotSupported;
    }
}
static inline cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params)
{
    cudaError_t error = cudaGraphInstantiateWithFlags(exec, graph, params->flags);
    params->errNode_out = 0;
    params->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
}
#ifdef __cplusplus
}
#endif
#endif
