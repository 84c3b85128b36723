// Quicksort with a partition, an exchange and an insertion sort as functions of their own.
#include <cstdio>
#include <cstdlib>

static unsigned state = 12345;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

static void exchange(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}

static int partition(int *v, int low, int high) {
    exchange(&v[(low + high) / 2], &v[high]);
    int pivot = v[high], at = low;
    for (int i = low; i < high; i++)
        if (v[i] < pivot) exchange(&v[i], &v[at++]);
    exchange(&v[at], &v[high]);
    return at;
}

static void insertion(int *v, int low, int high) {
    for (int i = low + 1; i <= high; i++) {
        int x = v[i], j = i;
        while (j > low && v[j - 1] > x) {
            v[j] = v[j - 1];
            j--;
        }
        v[j] = x;
    }
}

static void sort(int *v, int low, int high) {
    while (high - low > 12) {
        int at = partition(v, low, high);
        sort(v, low, at - 1);
        low = at + 1;
    }
    insertion(v, low, high);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 30000;
    int *v = (int *)malloc(n * sizeof(int));
    long long total = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++) v[i] = (int)(next() >> 4);
        sort(v, 0, n - 1);
        for (int i = 1; i < n; i++)
            if (v[i - 1] > v[i]) return 1;
        total += v[1000] ^ v[n / 2];
    }
    printf("%lld\n", total);
    free(v);
    return 0;
}
