// All shortest paths of a graph (Floyd and Warshall), an array of two dimensions.
#include <cstdio>
#include <cstdlib>

const int n = 64;
static int dist[n][n];

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    unsigned state = 5;
    long long total = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                state = state * 1664525u + 1013904223u;
                dist[i][j] = i == j ? 0 : 1 + (state >> 20) % 1000;
            }
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    if (dist[i][k] + dist[k][j] < dist[i][j]) dist[i][j] = dist[i][k] + dist[k][j];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) total += dist[i][j];
    }
    printf("%lld\n", total);
    return 0;
}
