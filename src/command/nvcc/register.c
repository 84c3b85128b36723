/* Registers the kernels and variables of all objects of a program with libdslcrt. */
#include <stddef.h>
#include <stdint.h>

/* What clang 20 and later write of each kernel and variable of a relocatable object. */
struct entry {
    uint64_t reserved;
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    char *name;
    uint64_t size, data;
    void *auxiliary;
};

extern struct entry __start_llvm_offload_entries[] __attribute__((weak, visibility("hidden")));
extern struct entry __stop_llvm_offload_entries[] __attribute__((weak, visibility("hidden")));

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
int __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);

__asm__(".section .nv_fatbin,\"a\"\n.balign 16\n.globl __dslc_image\n.hidden __dslc_image\n__dslc_image:\n.incbin \"@IMAGE@\"\n.previous\n");
/* A later link sees by this that the device code is linked. */
__asm__(".section .dslc_linked,\"\"\n.byte 1\n.previous\n");
extern const char __dslc_image[];
static struct { int magic, version; const void *data; void *unused; } wrapper = {0x466243b1, 1, __dslc_image, 0};

__attribute__((constructor)) static void register_all(void) {
    void **handle = __cudaRegisterFatBinary(&wrapper);
    for (struct entry *one = __start_llvm_offload_entries; one < __stop_llvm_offload_entries; one++) {
        if (one->size == 0) {
            __cudaRegisterFunction(handle, one->address, one->name, one->name, -1, 0, 0, 0, 0, 0);
        } else {
            __cudaRegisterVar(handle, one->address, one->name, one->name, 0, one->size, 0, 0);
        }
    }
    __cudaRegisterFatBinaryEnd(handle);
}
