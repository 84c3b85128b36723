/* What the helper headers of NVIDIA's cuda-samples have for host code, besides what `helper.k` has for both front ends. These are
   stand-ins: a program that brings those headers with -I gets its own. */
#ifndef DSLC_HELPER_MORE_H
#define DSLC_HELPER_MORE_H

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, size, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(result) (result == NULL)
#define FSCANF fscanf
#define SPRINTF sprintf
#endif

/* Microseconds that have passed: a kernel runs on several threads, whose time `clock` would add up. */
inline long __dslc_microseconds() {
    using namespace std::chrono;
    return (long)duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

inline const char *_cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
template <typename T> inline typename std::enable_if<!std::is_same<T, cudaError_t>::value, const char *>::type _cudaGetErrorEnum(T) { return "<unknown>"; }
template <typename T> void check(T result, char const *const function, const char *const file, int const line) {
    if (!result) return;
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, (int)result, _cudaGetErrorEnum(result), function);
    exit(EXIT_FAILURE);
}
inline void printLastCudaError(const char *message) {
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) fprintf(stderr, "getLastCudaError() CUDA error : %s : (%d) %s.\n", message, (int)error, cudaGetErrorString(error));
}
inline int ftoi(float value) { return value >= 0 ? (int)(value + 0.5f) : (int)(value - 0.5f); }

/* Cores of a multiprocessor, from the programming guide's table of arithmetic throughput. */
inline int _ConvertSMVer2Cores(int major, int minor) {
    switch (10 * major + minor) {
    case 30: case 32: case 35: case 37: return 192;
    case 50: case 52: case 53: case 61: case 62: case 86: case 87: case 89: case 90: case 100: case 120: return 128;
    default: return 64;
    }
}
inline const char *_ConvertSMVer2ArchName(int major, int minor) {
    static const char *names[] = {"Kepler", "", "Maxwell", "Pascal", "Volta", "Ampere", "Hopper"};
    if (major == 7 && minor == 5) return "Turing";
    if (major == 8 && minor == 9) return "Ada";
    return major >= 3 && major <= 9 ? names[major == 3 ? 0 : major - 3] : "Graphics Device";
}
inline int gpuDeviceInit(int device) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        fprintf(stderr, "gpuDeviceInit() CUDA error: no devices supporting CUDA.\n");
        exit(EXIT_FAILURE);
    }
    if (device < 0) device = 0;
    if (device >= count) return -device;
    cudaSetDevice(device);
    return device;
}
inline int findIntegratedGPU() {
    fprintf(stderr, "CUDA error: No GPU found that has compute capability 2.0 and is integrated.\n");
    exit(EXIT_FAILURE);
}
inline bool checkCudaCapabilities(int major, int minor) {
    int has_major = 0, has_minor = 0;
    cudaDeviceGetAttribute(&has_major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&has_minor, cudaDevAttrComputeCapabilityMinor, 0);
    bool is_enough = has_major > major || (has_major == major && has_minor >= minor);
    if (!is_enough) printf("  No GPU device was found that can support CUDA compute capability %d.%d.\n", major, minor);
    return is_enough;
}

inline int stringRemoveDelimiter(char delimiter, const char *text) {
    int at = 0;
    while (text[at] == delimiter) at++;
    return at >= (int)strlen(text) - 1 ? 0 : at;
}
inline int getFileExtension(char *name, char **extension) {
    char *dot = strrchr(name, '.');
    *extension = dot ? dot + 1 : name;
    return (int)strlen(name);
}
/* Looks for a file here, then in `data` beside here and in the folders above, then beside the program. */
inline char *sdkFindFilePath(const char *name, const char *program) {
    std::string beside = program ? program : "";
    size_t slash = beside.rfind('/');
    beside = slash == std::string::npos ? "" : beside.substr(0, slash + 1);
    for (const std::string &start : {std::string(), beside})
        for (const char *up : {"", "../", "../../", "../../../"})
            for (const char *folder : {"", "data/", "Common/data/", "common/data/"}) {
                std::string path = start + up + folder + name;
                if (FILE *file = fopen(path.c_str(), "rb")) {
                    fclose(file);
                    return strdup(path.c_str());
                }
            }
    return NULL;
}

/* Images: P5 and P6 with 8 bits a channel. */
namespace __dslc_image {
inline bool load(const char *path, unsigned char **data, unsigned *width, unsigned *height, unsigned *channels) {
    std::ifstream file(path, std::ios::binary);
    auto word = [&] {
        std::string word;
        while (file >> word && word[0] == '#') std::getline(file, word);
        return word;
    };
    std::string kind = word();
    *channels = kind == "P5" ? 1 : kind == "P6" ? 3 : 0;
    unsigned w = (unsigned)atoi(word().c_str()), h = (unsigned)atoi(word().c_str());
    word();
    file.get();
    if (!file || *channels == 0) {
        fprintf(stderr, "__LoadPPM() : File is not a PPM or PGM image: %s\n", path);
        return false;
    }
    if (*data && (*width != w || *height != h)) {
        fprintf(stderr, "__LoadPPM() : Invalid image dimensions.\n");
        return false;
    }
    *width = w;
    *height = h;
    size_t bytes = (size_t)w * h * *channels;
    if (!*data) *data = (unsigned char *)malloc(bytes);
    file.read((char *)*data, (std::streamsize)bytes);
    return (bool)file;
}
inline bool save(const char *path, const unsigned char *data, unsigned width, unsigned height, unsigned channels) {
    std::ofstream file(path, std::ios::binary);
    file << (channels == 1 ? "P5\n" : "P6\n") << width << "\n" << height << "\n255\n";
    file.write((const char *)data, (std::streamsize)((size_t)width * height * channels));
    return (bool)file;
}
inline unsigned char of(unsigned char value) { return value; }
inline unsigned char of(float value) { return (unsigned char)(value * 255.0f); }
inline void to(unsigned char from, unsigned char *value) { *value = from; }
inline void to(unsigned char from, float *value) { *value = (float)from / 255.0f; }
} // namespace __dslc_image

inline bool __loadPPM(const char *path, unsigned char **data, unsigned int *width, unsigned int *height, unsigned int *channels) { return __dslc_image::load(path, data, width, height, channels); }
inline bool __savePPM(const char *path, unsigned char *data, unsigned int width, unsigned int height, unsigned int channels) { return __dslc_image::save(path, data, width, height, channels); }
template <class T> inline bool sdkLoadPGM(const char *path, T **data, unsigned int *width, unsigned int *height) {
    unsigned char *bytes = NULL;
    unsigned channels = 0;
    if (!__dslc_image::load(path, &bytes, width, height, &channels)) return false;
    size_t size = (size_t)*width * *height * channels;
    if (!*data) *data = (T *)malloc(sizeof(T) * size);
    for (size_t i = 0; i < size; i++) __dslc_image::to(bytes[i], *data + i);
    free(bytes);
    return true;
}
template <class T> inline bool sdkSavePGM(const char *path, T *data, unsigned int width, unsigned int height) {
    std::vector<unsigned char> bytes((size_t)width * height);
    for (size_t i = 0; i < bytes.size(); i++) bytes[i] = __dslc_image::of(data[i]);
    return __dslc_image::save(path, bytes.data(), width, height, 1);
}
template <class T> inline bool sdkLoadPPM4(const char *path, T **data, unsigned int *width, unsigned int *height) {
    unsigned char *bytes = NULL;
    unsigned channels = 0;
    if (!__dslc_image::load(path, &bytes, width, height, &channels) || channels != 3) return false;
    size_t pixels = (size_t)*width * *height;
    *data = (T *)malloc(sizeof(T) * 4 * pixels);
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 4; c++) (*data)[4 * i + c] = c < 3 ? bytes[3 * i + c] : 0;
    free(bytes);
    return true;
}
inline bool sdkLoadPPM4ub(const char *path, unsigned char **data, unsigned int *width, unsigned int *height) { return sdkLoadPPM4(path, data, width, height); }
inline bool sdkSavePPM4ub(const char *path, unsigned char *data, unsigned int width, unsigned int height) {
    std::vector<unsigned char> bytes;
    for (size_t i = 0; i < (size_t)width * height; i++) bytes.insert(bytes.end(), data + 4 * i, data + 4 * i + 3);
    return __dslc_image::save(path, bytes.data(), width, height, 3);
}
inline bool sdkSavePPMub(const char *path, unsigned char *data, unsigned int width, unsigned int height) { return __dslc_image::save(path, data, width, height, 3); }

/* Files of numbers as text, and of bytes. */
template <class T> inline bool sdkReadFile(const char *path, T **data, unsigned int *count, bool) {
    std::ifstream file(path);
    std::vector<T> all;
    T value;
    while (file >> value) all.push_back(value);
    if (all.empty()) return false;
    if (!*data) *data = (T *)malloc(sizeof(T) * all.size());
    memcpy(*data, all.data(), sizeof(T) * all.size());
    *count = (unsigned)all.size();
    return true;
}
template <class T, class S> inline bool sdkWriteFile(const char *path, const T *data, unsigned int count, const S, bool, bool append = false) {
    std::ofstream file(path, append ? std::ios::app : std::ios::out);
    for (unsigned i = 0; i < count; i++) file << data[i] << ' ';
    file << std::endl;
    return (bool)file;
}
inline void sdkDumpBin(void *data, unsigned int bytes, const char *path) {
    if (FILE *file = fopen(path, "wb")) {
        fwrite(data, bytes, 1, file);
        fclose(file);
    }
}

#endif
