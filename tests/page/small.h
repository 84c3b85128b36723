// One element of a row.
__device__ float pick(const float *row, int at) { return row[at]; }
