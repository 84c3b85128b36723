// __managed__ variables, symbols in namespaces and of a file's own, structures by value.
#include <cstdio>
struct Body { float x; double mass; char tag[3]; short group; };
namespace physics { __constant__ Body sun; __device__ int steps; }
namespace { __device__ float scratch[4]; }
__device__ __managed__ int total = 40;
__managed__ Body shared_body = {1.5f, 2.5, {'a', 'b', 'c'}, 7};
__global__ void step(Body body, bool forward, unsigned char speed) {
    atomicAdd(&total, forward ? speed : -1);
    if (threadIdx.x == 0) {
        shared_body.mass += body.mass + physics::sun.mass;
        shared_body.tag[0] = body.tag[2];
        physics::steps = body.group;
        scratch[2] = body.x;
    }
}
int main() {
    total += 2;
    Body sun = {0, 100.0, {'s', 'u', 'n'}, 1}, earth = {3.25f, 1.0, {'x', 'y', 'z'}, -9};
    cudaMemcpyToSymbol(physics::sun, &sun, sizeof(Body));
    step<<<1, 4>>>(earth, true, 200);
    cudaDeviceSynchronize();
    int steps;
    float back[4];
    cudaMemcpyFromSymbol(&steps, physics::steps, sizeof steps);
    cudaMemcpyFromSymbol(back, scratch, sizeof back);
    printf("%d %g %c%c %d %g\n", total, shared_body.mass, shared_body.tag[0], shared_body.tag[1], steps, back[2]);
    return 0;
}
