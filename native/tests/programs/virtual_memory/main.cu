// An array that grows where it stands, moves to other addresses with its contents, and what the driver refuses.
#include <cstdio>
#include <cuda.h>

__global__ void fill(int *p, int from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = from + i;
}

__global__ void sum(const int *p, int at, int n, unsigned long long *total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, (unsigned long long)p[at + i]);
}

static void check(const char *what, CUresult error)
{
    const char *text = nullptr;
    if (error) cuGetErrorString(error, &text), printf("%s: %s\n", what, text);
}

int main()
{
    CUdevice device;
    int is_there = 0;
    size_t granule = 0;
    // The runtime initialises the driver.
    check("too early", cuCtxGetDevice(&device));
    cudaSetDevice(0);
    check("device", cuCtxGetDevice(&device));
    cuDeviceGetAttribute(&is_there, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    check("granularity", cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    printf("%d, %zu\n", is_there, granule);

    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handles[2];
    CUdeviceptr first, second;
    const int count = granule / sizeof(int);
    check("reserve", cuMemAddressReserve(&first, 8 * granule, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        check("create", cuMemCreate(&handles[i], granule, &prop, 0));
        check("map", cuMemMap(first + i * granule, granule, 0, handles[i], 0));
        check("access", cuMemSetAccess(first + i * granule, granule, &access, 1));
        fill<<<count / 256, 256>>>((int *)(first + i * granule), i * count, count);
    }
    int across[4];
    check("copy", cuMemcpyDtoH(across, first + granule - 2 * sizeof(int), sizeof across));
    printf("%d %d %d %d\n", across[0] - count, across[1] - count, across[2] - count, across[3] - count);

    check("unmap", cuMemUnmap(first, 2 * granule));
    check("reserve", cuMemAddressReserve(&second, 2 * granule, 4 * granule, 0, 0));
    printf("aligned: %d\n", second % (4 * granule) == 0);
    for (int i = 0; i < 2; i++) check("map", cuMemMap(second + i * granule, granule, 0, handles[1 - i], 0));
    check("access", cuMemSetAccess(second, 2 * granule, &access, 1));
    unsigned long long *total, host;
    cudaMalloc(&total, sizeof *total);
    cudaMemset(total, 0, sizeof *total);
    sum<<<1, 64>>>((const int *)second, count - 32, 64, total);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    printf("sum %llu\n", host - 32ull * (2 * count - 32));

    CUmemAllocationProp found = {};
    check("properties", cuMemGetAllocationPropertiesFromHandle(&found, handles[0]));
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, (void *)second);
    printf("type %d, pointer of type %d\n", found.type, attributes.type);

    CUdeviceptr none;
    CUmemGenericAllocationHandle no_handle;
    check("reserve a byte", cuMemAddressReserve(&none, 1, 0, 0, 0));
    check("create a byte", cuMemCreate(&no_handle, 1, &prop, 0));
    check("map over something", cuMemMap(second, granule, 0, handles[0], 0));
    check("map elsewhere", cuMemMap(second + 2 * granule, granule, 0, handles[0], 0));
    check("unmap a half", cuMemUnmap(second, granule / 2));
    check("free what is mapped", cuMemAddressFree(second, 2 * granule));
    for (auto handle : handles) check("release", cuMemRelease(handle));
    check("release again", cuMemRelease(handles[0]));
    check("unmap", cuMemUnmap(second, 2 * granule));
    check("free", cuMemAddressFree(first, 8 * granule));
    check("free", cuMemAddressFree(second, 2 * granule));
    cudaFree(total);
}
