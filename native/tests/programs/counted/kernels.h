void twice(float *to, const float *from, int n);
void large_ones(const float *a, int *count, int n);
