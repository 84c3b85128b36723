/* Launches with attributes: `cudaLaunchKernelEx`. A launch that needs what dslc does not have fails; hints change nothing. */
#ifndef DSLC_LAUNCH_CONFIG_H
#define DSLC_LAUNCH_CONFIG_H

typedef enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributeProgrammaticEvent = 7,
    cudaLaunchAttributePriority = 8,
    cudaLaunchAttributeMemSyncDomainMap = 9,
    cudaLaunchAttributeMemSyncDomain = 10,
    cudaLaunchAttributePreferredClusterDimension = 11,
    cudaLaunchAttributeLaunchCompletionEvent = 12,
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14
} cudaLaunchAttributeID;
typedef union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative;
    struct { unsigned int x, y, z; } clusterDim;
    struct { unsigned int x, y, z; } preferredClusterDim;
    int programmaticStreamSerializationAllowed;
    int priority;
    unsigned int sharedMemCarveout;
    struct { cudaEvent_t event; int flags; int triggerAtBlockStart; } programmaticEvent;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    char pad[8 - sizeof(cudaLaunchAttributeID)];
    cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned int numAttrs;
} cudaLaunchConfig_t;

/* Functions of the driver by name: none is there. */
typedef enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess = 0, cudaDriverEntryPointSymbolNotFound = 1, cudaDriverEntryPointVersionNotSufficent = 2
} cudaDriverEntryPointQueryResult;
enum { cudaEnableDefault = 0, cudaEnableLegacyStream = 1, cudaEnablePerThreadDefaultStream = 2 };

#ifdef __cplusplus
inline cudaError_t cudaGetDriverEntryPoint(const char *, void **function, unsigned long long, cudaDriverEntryPointQueryResult *result = 0) {
    *function = 0;
    if (result) *result = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
inline cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned int, unsigned long long flags, cudaDriverEntryPointQueryResult *result = 0) {
    return cudaGetDriverEntryPoint(name, function, flags, result);
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args) {
    bool is_cooperative = false;
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute &one = config->attrs[i];
        if (one.id == cudaLaunchAttributeCooperative) is_cooperative = one.val.cooperative != 0;
        if (one.id == cudaLaunchAttributeClusterDimension && one.val.clusterDim.x * one.val.clusterDim.y * one.val.clusterDim.z > 1)
            return cudaErrorNotSupported;
    }
    return is_cooperative ? cudaLaunchCooperativeKernel(kernel, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream)
                          : cudaLaunchKernel(kernel, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream);
}
template <class... Params, class... Args> inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Params...), Args &&...args) {
    return [&](Params... converted) {
        void *all[] = {(void *)&converted..., nullptr};
        return cudaLaunchKernelExC(config, (const void *)kernel, all);
    }(static_cast<Args &&>(args)...);
}
#endif

#endif
